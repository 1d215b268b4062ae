#include "import/name_spill.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "io/file.h"
#include "parse/record_parser.h"

namespace octavo {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNameBuffer = std::size_t{1} << 20;
constexpr std::size_t kHeadBytes = 12;
// Bytes between two calls of the tick: a few milliseconds of work.
constexpr std::uint64_t kTickBytes = std::uint64_t{1} << 20;
constexpr std::uint32_t kLengthMask = (std::uint32_t{1} << 24) - 1;
static_assert(kMaxNameBytes <= kLengthMask && kHeadBytes + kMaxNameBytes <= kMinNameBuffer);

// How many names ahead an entry, and then a text, is prefetched: the time of one or two cache misses.
constexpr std::size_t kEntryAhead = 16;
constexpr std::size_t kTextAhead = 8;
// Parts of the order that one task sorts.
constexpr std::size_t kOrderGrain = 16;

struct HashedId {
  std::uint64_t hash;
  std::uint32_t id;
};

// The names that were seen, in ascending order of `hashes`.
std::vector<HashedId> OrderNames(const NameMarks& marks, std::span<const std::uint64_t> hashes) {
  // Divided by the leading bits of the hashes; then each part is sorted by one thread.
  constexpr int kBits = 10;
  const auto part_of = [](std::uint64_t hash) { return static_cast<std::size_t>(hash >> (64 - kBits)); };
  std::vector<std::size_t> end((std::size_t{1} << kBits) + 1);
  for (std::uint32_t id = 0; id < marks.size(); ++id) {
    if (marks.Seen(id)) ++end[part_of(hashes[id]) + 1];
  }
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<HashedId> order(end.back());
  for (std::uint32_t id = 0; id < marks.size(); ++id) {
    if (marks.Seen(id)) order[end[part_of(hashes[id])]++] = {hashes[id], id};
  }
  ParallelRanges(0, end.size() - 1, kOrderGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) {
      const std::size_t begin = part == 0 ? 0 : end[part - 1];
      std::ranges::sort(std::span(order).subspan(begin, end[part] - begin), {}, &HashedId::hash);
    }
  });
  return order;
}

absl::Status AppendName(const SpilledName& name, SpillWriter& out) {
  const std::uint32_t length_and_marks =
      static_cast<std::uint32_t>(name.text.size()) | static_cast<std::uint32_t>(name.marks) << 24;
  RETURN_IF_ERROR(out.Append(AsBytes(name.hash)));
  RETURN_IF_ERROR(out.Append(AsBytes(length_and_marks)));
  return out.Append(std::as_bytes(std::span<const char>(name.text)));
}

// Reads one extent.
class NameReader {
 public:
  NameReader(const SpillFile& file, SpillExtent extent, std::size_t buffer_bytes)
      : reader_(file, extent, buffer_bytes) {}

  // Moves to the next name; returns false at the end of the extent.
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
  // Size of the current name in the file.
  std::size_t bytes() const { return bytes_; }

 private:
  SpillReader reader_;
  SpilledName name_;
  std::size_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<SpillExtent> SpillNames(const NameTable& names, const NameMarks& marks,
                                       std::span<const std::uint64_t> hashes, SpillFile& file) {
  const std::vector<HashedId> order = OrderNames(marks, hashes);
  SpillWriter out(file, kWriteBytes);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + kEntryAhead < order.size()) names.FetchEntry(order[i + kEntryAhead].id);
    if (i + kTextAhead < order.size()) names.FetchText(order[i + kTextAhead].id);
    const HashedId& hashed = order[i];
    RETURN_IF_ERROR(AppendName({hashed.hash, marks.Of(hashed.id), names.Text(hashed.id)}, out));
  }
  return out.Finish();
}

absl::StatusOr<bool> MergeNames(const SpillFile& file, std::span<const SpillExtent> extents, std::uint64_t buffer_bytes,
                                const std::function<absl::Status(const SpilledName&)>& visit, const MergeTick& tick) {
  const std::size_t each =
      std::clamp<std::size_t>(buffer_bytes / std::max<std::size_t>(1, extents.size()), kMinNameBuffer, kMaxNameBuffer);
  std::vector<std::unique_ptr<NameReader>> heap;
  const auto later = [](const auto& a, const auto& b) { return a->name().hash > b->name().hash; };
  // A heap of the extents by their current hash. Equal names from several extents are adjacent and merged into one with
  // all their marks.
  for (const SpillExtent& extent : extents) {
    auto reader = std::make_unique<NameReader>(file, extent, each);
    ASSIGN_OR_RETURN(const bool any, reader->Next());
    if (any) heap.push_back(std::move(reader));
  }
  std::make_heap(heap.begin(), heap.end(), later);
  std::string text;
  SpilledName merged;  // its text is `text`
  bool has_merged = false;
  std::uint64_t read = 0;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    NameReader& extent = *heap.back();
    read += extent.bytes();
    if (read >= kTickBytes && tick) RETURN_IF_ERROR(tick(std::exchange(read, 0)));
    // Two names with the same hash: the seed is unusable.
    if (has_merged && extent.name().hash == merged.hash) {
      if (extent.name().text != text) return false;
      merged.marks |= extent.name().marks;
    } else {
      merged.text = text;
      if (has_merged) RETURN_IF_ERROR(visit(merged));
      text.assign(extent.name().text);
      merged = extent.name();
      has_merged = true;
    }
    ASSIGN_OR_RETURN(const bool more, extent.Next());
    if (more) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
  merged.text = text;
  if (has_merged) RETURN_IF_ERROR(visit(merged));
  if (tick) RETURN_IF_ERROR(tick(read));
  return true;
}

absl::StatusOr<std::optional<SpillExtent>> MergeNamesToExtent(SpillFile& file, std::span<const SpillExtent> extents,
                                                              std::uint64_t buffer_bytes, const MergeTick& tick) {
  SpillWriter out(file, kWriteBytes);
  const auto append = [&](const SpilledName& name) { return AppendName(name, out); };
  ASSIGN_OR_RETURN(const bool unique, MergeNames(file, extents, buffer_bytes, append, tick));
  if (!unique) return std::optional<SpillExtent>();
  ASSIGN_OR_RETURN(const SpillExtent extent, out.Finish());
  return std::optional<SpillExtent>(extent);
}

MergeLimits NameMergeLimits(std::uint64_t buffer_bytes) {
  const std::size_t extents = std::max<std::size_t>(2, buffer_bytes / kMinNameBuffer);
  return {.most = extents, .fan_in = extents};
}

}  // namespace octavo
