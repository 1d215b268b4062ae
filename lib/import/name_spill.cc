#include "import/name_spill.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "import/record_parser.h"
#include "io/file.h"
#include "oneapi/tbb/parallel_sort.h"

namespace octavo {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNameBuffer = std::size_t{1} << 20;
constexpr std::size_t kHeadBytes = 12;
constexpr std::uint32_t kLengthMask = (std::uint32_t{1} << 24) - 1;
static_assert(kMaxNameBytes <= kLengthMask && kHeadBytes + kMaxNameBytes <= kMinNameBuffer);

struct HashedId {
  std::uint64_t hash;
  std::uint32_t id;
};

void AppendTo(std::vector<std::byte>& buffer, std::span<const std::byte> bytes) {
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
}

// One run as it is read.
class NameRun {
 public:
  NameRun(const SpillFile& file, SpillExtent extent, std::size_t buffer_bytes) : reader_(file, extent, buffer_bytes) {}

  // Moves on to the next name; false at the end of the run.
  absl::StatusOr<bool> Next() {
    reader_.Consume(std::exchange(bytes_, 0));
    ASSIGN_OR_RETURN(const std::span<const std::byte> head, reader_.Peek(kHeadBytes));
    if (head.empty()) return false;
    std::uint32_t length_and_marks = 0;
    std::memcpy(&name_.hash, head.data(), sizeof(name_.hash));
    std::memcpy(&length_and_marks, head.data() + sizeof(name_.hash), sizeof(length_and_marks));
    const std::size_t length = length_and_marks & kLengthMask;
    name_.marks = static_cast<std::uint8_t>(length_and_marks >> 24);
    bytes_ = kHeadBytes + length;
    ASSIGN_OR_RETURN(const std::span<const std::byte> all, reader_.Peek(bytes_));
    name_.text = {reinterpret_cast<const char*>(all.data()) + kHeadBytes, length};
    return true;
  }
  const SpilledName& name() const { return name_; }

 private:
  SpillReader reader_;
  SpilledName name_;
  std::size_t bytes_ = 0;  // of the current name
};

}  // namespace

absl::StatusOr<SpillExtent> SpillNames(const NameTable& names, const NameMarks& marks,
                                       std::span<const std::uint64_t> hashes, SpillFile& file) {
  std::vector<HashedId> order;
  order.reserve(names.size());
  for (std::uint32_t id = 0; id < marks.size(); ++id) {
    if (marks.Seen(id)) order.push_back({hashes[id], id});
  }
  tbb::parallel_sort(order.begin(), order.end(), [](const HashedId& a, const HashedId& b) { return a.hash < b.hash; });
  SpillExtent extent{.begin = file.size(), .end = 0};
  std::vector<std::byte> buffer;
  buffer.reserve(kWriteBytes + kMinNameBuffer);
  for (const HashedId& hashed : order) {
    const std::string_view text = names.Text(hashed.id);
    const std::uint32_t length_and_marks =
        static_cast<std::uint32_t>(text.size()) | static_cast<std::uint32_t>(marks.Of(hashed.id)) << 24;
    AppendTo(buffer, AsBytes(hashed.hash));
    AppendTo(buffer, AsBytes(length_and_marks));
    AppendTo(buffer, std::as_bytes(std::span<const char>(text)));
    if (buffer.size() >= kWriteBytes) {
      RETURN_IF_ERROR(file.Append(buffer));
      buffer.clear();
    }
  }
  RETURN_IF_ERROR(file.Append(buffer));
  extent.end = file.size();
  return extent;
}

absl::StatusOr<bool> MergeNames(const SpillFile& file, std::span<const SpillExtent> runs, std::uint64_t buffer_bytes,
                                const std::function<absl::Status(const SpilledName&)>& visit) {
  const std::size_t each =
      std::clamp<std::size_t>(buffer_bytes / std::max<std::size_t>(1, runs.size()), kMinNameBuffer, kMaxNameBuffer);
  std::vector<std::unique_ptr<NameRun>> heap;
  const auto later = [](const auto& a, const auto& b) { return a->name().hash > b->name().hash; };
  for (const SpillExtent& run : runs) {
    auto reader = std::make_unique<NameRun>(file, run, each);
    ASSIGN_OR_RETURN(const bool any, reader->Next());
    if (any) heap.push_back(std::move(reader));
  }
  std::make_heap(heap.begin(), heap.end(), later);
  std::string text;
  SpilledName merged;  // its text is `text`
  bool has_merged = false;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    NameRun& run = *heap.back();
    if (has_merged && run.name().hash == merged.hash) {
      if (run.name().text != text) return false;
      merged.marks |= run.name().marks;
    } else {
      merged.text = text;
      if (has_merged) RETURN_IF_ERROR(visit(merged));
      text.assign(run.name().text);
      merged = run.name();
      has_merged = true;
    }
    ASSIGN_OR_RETURN(const bool more, run.Next());
    if (more) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
  merged.text = text;
  if (has_merged) RETURN_IF_ERROR(visit(merged));
  return true;
}

}  // namespace octavo
