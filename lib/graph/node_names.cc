#include "graph/node_names.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/file_mapping.h"

namespace octavo {
namespace {

// A mapped file that stays open. The mapping ends before the file is closed.
struct MappedFile {
  static absl::StatusOr<MappedFile> Open(const std::filesystem::path& path) {
    MappedFile mapped;
    ASSIGN_OR_RETURN(mapped.file, File::OpenRead(path));
    ASSIGN_OR_RETURN(mapped.mapping, FileMapping::Open(mapped.file));
    return mapped;
  }

  std::span<const std::byte> bytes() const { return mapping.bytes(); }
  void Drop(std::uint64_t begin, std::uint64_t end) const {
    mapping.LetGo(begin, end);
    if (begin < end) file.DropBehind(begin, end - begin);
  }

  File file;
  FileMapping mapping;
};

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kNamesAtOnce = std::uint64_t{64} << 10;

std::span<const std::uint64_t> ElementsOf(const MappedFile& file, const ArrayHeader& header) {
  // The elements are aligned: the mapping is page-aligned and the header has 64 bytes.
  return {reinterpret_cast<const std::uint64_t*>(file.bytes().data() + sizeof(ArrayHeader)), header.count};
}

// Returns the position of `hash` in `hashes`, which are strictly ascending and evenly spread. Interpolation search
// takes log log n steps on such hashes. After 16 steps bisection takes over, so that damaged files cost at most log n.
std::optional<std::size_t> FindHash(std::span<const std::uint64_t> hashes, std::uint64_t hash) {
  std::size_t low = 0;
  std::size_t high = hashes.size();  // the answer is in [low, high)
  for (int step = 0; low < high; ++step) {
    const std::uint64_t first = hashes[low];
    const std::uint64_t last = hashes[high - 1];
    if (hash < first || hash > last) return std::nullopt;
    std::size_t middle = low + (high - low) / 2;
    if (step < 16 && first < last) {
      const unsigned __int128 scaled = static_cast<unsigned __int128>(hash - first) * (high - 1 - low);
      middle = low + static_cast<std::size_t>(scaled / (last - first));
    }
    if (hashes[middle] == hash) return middle;
    if (hashes[middle] < hash) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

}  // namespace

struct NodeNames::Mapping {
  MappedFile hash_file;
  MappedFile name_file;
  MappedFile offset_file;
  ArrayHeader hash_header;
  ArrayHeader offset_header;
  std::span<const std::uint64_t> hashes;
  std::span<const std::uint64_t> offsets;
  bool drop_behind = false;
  GraphPaths paths{std::filesystem::path()};
  // A node whose name does not match its hash. Relaxed: it is only compared with kNone and reported.
  std::atomic<std::uint64_t> damaged = kNone;

  // Returns the byte offset of offset `number` in its file.
  std::uint64_t OffsetPlace(std::uint64_t number) const { return sizeof(ArrayHeader) + number * sizeof(offsets[0]); }
};

NodeNames::NodeNames(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
NodeNames::~NodeNames() = default;

absl::StatusOr<std::unique_ptr<NodeNames>> NodeNames::Open(const GraphPaths& paths) {
  auto mapping = std::make_unique<Mapping>();
  Mapping& m = *mapping;
  m.paths = paths;
  ASSIGN_OR_RETURN(m.hash_file, MappedFile::Open(paths.NodeHashes()));
  ASSIGN_OR_RETURN(m.name_file, MappedFile::Open(paths.NodeNames()));
  ASSIGN_OR_RETURN(m.offset_file, MappedFile::Open(paths.NodeOffsets()));
  ASSIGN_OR_RETURN(m.hash_header, DecodeArrayHeader(m.hash_file.bytes(), ArrayKind::kNodeHashes,
                                                    m.hash_file.bytes().size(), paths.NodeHashes().string()));
  ASSIGN_OR_RETURN(m.offset_header, DecodeArrayHeader(m.offset_file.bytes(), ArrayKind::kNodeOffsets,
                                                      m.offset_file.bytes().size(), paths.NodeOffsets().string()));
  m.hashes = ElementsOf(m.hash_file, m.hash_header);
  m.offsets = ElementsOf(m.offset_file, m.offset_header);
  if (m.offsets.size() != m.hashes.size() + 1) {
    return CorruptError(fmt::format("{}: {} offsets; expected {}, one more than there are hashes",
                                    paths.NodeOffsets().string(), m.offsets.size(), m.hashes.size() + 1));
  }
  if (m.offsets.front() != 0 || m.offsets.back() != m.name_file.bytes().size()) {
    return CorruptError(fmt::format("{}: {} bytes; expected {}, the last number of {}", paths.NodeNames().string(),
                                    m.name_file.bytes().size(), m.offsets.back(), paths.NodeOffsets().string()));
  }
  return std::unique_ptr<NodeNames>(new NodeNames(std::move(mapping)));
}

std::uint64_t NodeNames::size() const { return mapping_->hashes.size(); }
std::uint64_t NodeNames::hash_seed() const { return mapping_->hash_header.hash_seed; }
const ArrayHeader& NodeNames::hash_header() const { return mapping_->hash_header; }
const ArrayHeader& NodeNames::offset_header() const { return mapping_->offset_header; }

std::string_view NodeNames::Name(NodeId id) const {
  const std::uint64_t begin = mapping_->offsets[Value(id)];
  const std::uint64_t end = mapping_->offsets[Value(id) + 1];
  const auto bytes = mapping_->name_file.bytes();
  // Every name has at least its line end.
  const bool inside = begin < end && end <= bytes.size();
  const std::string_view line =
      inside ? std::string_view(reinterpret_cast<const char*>(bytes.data()) + begin, end - begin) : std::string_view();
  const std::string_view name = line.substr(0, line.size() - (inside ? 1 : 0));
  if (!inside || line.back() != '\n' || HashName(name, hash_seed()) != mapping_->hashes[Value(id)]) {
    mapping_->damaged.store(Value(id), std::memory_order_relaxed);
  }
  return name;
}

absl::Status NodeNames::status() const {
  const Mapping& m = *mapping_;
  const std::uint64_t node = m.damaged.load(std::memory_order_relaxed);
  if (node == kNone) return absl::OkStatus();
  return CorruptError(
      fmt::format("{}: line {} (bytes {} to {}, as nodes.offsets says): found a name that does not match its hash; "
                  "expected the one "
                  "with {:016x}, as nodes.hash says; octavo verify {} shows which file is damaged",
                  m.paths.NodeNames().string(), node + 1, m.offsets[node], m.offsets[node + 1], m.hashes[node],
                  m.paths.folder().string()));
}

absl::Status NodeNames::CheckAll(const std::function<bool()>& stop) const {
  for (std::uint64_t first = 0; first < size(); first += kNamesAtOnce) {
    if (stop && stop()) return absl::CancelledError("interrupted");
    const std::uint64_t count = std::min(kNamesAtOnce, size() - first);
    WillRead(first, count);
    for (std::uint64_t node = first; node < first + count; ++node) Name(NodeId{node});
    Forget(first, count);
    RETURN_IF_ERROR(status());
  }
  return absl::OkStatus();
}

void NodeNames::WillRead(std::uint64_t first, std::uint64_t count) const {
  const Mapping& m = *mapping_;
  if (count == 0) return;
  m.offset_file.mapping.WillRead(m.OffsetPlace(first), m.OffsetPlace(first + count + 1));
  m.hash_file.mapping.WillRead(m.OffsetPlace(first), m.OffsetPlace(first + count));
  m.name_file.mapping.WillRead(m.offsets[first], m.offsets[first + count]);
}

void NodeNames::DropBehind() { mapping_->drop_behind = true; }

void NodeNames::Forget(std::uint64_t first, std::uint64_t count) const {
  const Mapping& m = *mapping_;
  if (!m.drop_behind || count == 0) return;
  m.name_file.Drop(m.offsets[first], m.offsets[first + count]);
  m.offset_file.Drop(m.OffsetPlace(first), m.OffsetPlace(first + count + 1));
  // A lookup by hash touches a few pages anywhere in the file and compares one name.
  m.hash_file.Drop(0, m.hash_file.bytes().size());
}

std::optional<NodeId> NodeNames::Find(std::string_view name) const {
  const std::optional<std::size_t> found = FindHash(mapping_->hashes, HashName(name, hash_seed()));
  if (!found || Name(NodeId{*found}) != name) return std::nullopt;
  return NodeId{*found};
}

}  // namespace octavo
