#include "import/name_spill.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
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
static_assert(kMaxNameBytes <= kLengthMask && kHeadBytes + kMaxNameBytes + sizeof(IdMapBlock) <= kMinNameBuffer);

// How many names ahead an entry, and then a text, is prefetched: the time of one or two cache misses.
constexpr std::size_t kEntryAhead = 16;
constexpr std::size_t kTextAhead = 8;
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

// An extent that is merged: its names, and where the ids that they get are written.
struct Source {
  Source(const SpillFile& file, SpillExtent extent, std::size_t buffer_bytes, SpillFile& id_file)
      : names(file, extent, buffer_bytes), ids(id_file) {}
  NameReader names;
  IdMapWriter ids;
};
struct Head {
  std::uint64_t hash;
  Source* source;
};

}  // namespace

absl::StatusOr<SpillExtent> SpillNames(const NameTable& names, const NameMarks& marks, const NameRanking& ranking,
                                       SpillFile& file) {
  const std::vector<std::uint32_t>& order = ranking.by_rank;
  SpillWriter out(file, kWriteBytes);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + kEntryAhead < order.size()) names.FetchEntry(order[i + kEntryAhead]);
    if (i + kTextAhead < order.size()) names.FetchText(order[i + kTextAhead]);
    RETURN_IF_ERROR(AppendName({ranking.hashes[i], marks.Of(order[i]), names.Text(order[i])}, out));
  }
  return out.Finish();
}

absl::StatusOr<std::optional<std::vector<StoredIdMap>>> MergeNames(const SpillFile& file,
                                                                   std::span<const SpillExtent> extents, SpillFile& ids,
                                                                   std::uint64_t buffer_bytes, const NameVisit& visit,
                                                                   const MergeTick& tick) {
  const std::size_t each =
      std::clamp<std::size_t>(buffer_bytes / std::max<std::size_t>(1, extents.size()), kMinNameBuffer, kMaxNameBuffer);
  std::vector<Source> sources;
  for (const SpillExtent& extent : extents) sources.emplace_back(file, extent, each - sizeof(IdMapBlock), ids);
  // A heap of the sources by their current hash.
  std::vector<Head> heap;
  const auto later = [](const Head& a, const Head& b) { return a.hash > b.hash; };
  for (Source& source : sources) {
    ASSIGN_OR_RETURN(const bool any, source.names.Next());
    if (any) heap.push_back({source.names.name().hash, &source});
  }
  std::make_heap(heap.begin(), heap.end(), later);
  std::vector<Source*> same;  // those that have the name
  std::uint64_t read = 0;
  while (!heap.empty()) {
    const std::uint64_t hash = heap.front().hash;
    for (; !heap.empty() && heap.front().hash == hash; heap.pop_back()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      same.push_back(heap.back().source);
    }
    SpilledName merged = same.front()->names.name();
    for (const Source* source : same) {
      // Two names with the same hash: the seed is unusable.
      if (source->names.name().text != merged.text) return std::optional<std::vector<StoredIdMap>>();
      merged.marks |= source->names.name().marks;
      read += source->names.bytes();
    }
    ASSIGN_OR_RETURN(const std::uint32_t id, visit(merged));
    for (Source* source : same) {
      RETURN_IF_ERROR(source->ids.Append(id, (merged.marks & NameMarks::kInTrain) != 0));
      ASSIGN_OR_RETURN(const bool more, source->names.Next());
      if (!more) continue;
      heap.push_back({source->names.name().hash, source});
      std::push_heap(heap.begin(), heap.end(), later);
    }
    same.clear();
    if (read >= kTickBytes && tick) RETURN_IF_ERROR(tick(std::exchange(read, 0)));
  }
  if (tick) RETURN_IF_ERROR(tick(read));
  std::vector<StoredIdMap> maps;
  for (Source& source : sources) {
    ASSIGN_OR_RETURN(StoredIdMap map, source.ids.Finish());
    maps.push_back(std::move(map));
  }
  return std::optional(std::move(maps));
}

absl::StatusOr<std::optional<MergedNames>> MergeNamesToExtent(SpillFile& file, std::span<const SpillExtent> extents,
                                                              SpillFile& ids, std::uint64_t buffer_bytes,
                                                              const MergeTick& tick) {
  SpillWriter out(file, kWriteBytes);
  std::uint32_t count = 0;
  const auto append = [&](const SpilledName& name) -> absl::StatusOr<std::uint32_t> {
    if (count == kNoId) return TooManyNames();
    RETURN_IF_ERROR(AppendName(name, out));
    return count++;
  };
  ASSIGN_OR_RETURN(auto maps, MergeNames(file, extents, ids, buffer_bytes, append, tick));
  if (!maps) return std::optional<MergedNames>();
  ASSIGN_OR_RETURN(const SpillExtent extent, out.Finish());
  return std::optional(MergedNames{extent, *std::move(maps)});
}

absl::Status TooManyNames() { return RuntimeError(fmt::format("more than {} different names; expected fewer", kNoId)); }

MergeLimits NameMergeLimits(std::uint64_t buffer_bytes) {
  const std::size_t extents = std::max<std::size_t>(2, buffer_bytes / kMinNameBuffer);
  return {.most = extents, .fan_in = extents};
}

}  // namespace octavo
