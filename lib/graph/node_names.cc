#include "graph/node_names.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "graph/mapped_array.h"
#include "io/checksum.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kNamesAtOnce = std::uint64_t{64} << 10;

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
  MappedArray hash_file;
  MappedFile name_file;
  MappedArray offset_file;
  std::span<const std::uint64_t> hashes;
  std::span<const std::uint64_t> offsets;
  bool drop_behind = false;
  GraphPaths paths{std::filesystem::path()};
  // A node whose name does not match its hash. Relaxed: it is only compared with kNone and reported.
  std::atomic<std::uint64_t> damaged = kNone;
};

NodeNames::NodeNames(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
NodeNames::~NodeNames() = default;

absl::StatusOr<std::unique_ptr<NodeNames>> NodeNames::Open(const GraphPaths& paths) {
  auto mapping = std::make_unique<Mapping>();
  Mapping& m = *mapping;
  m.paths = paths;
  ASSIGN_OR_RETURN(m.hash_file, MappedArray::Open(paths.NodeHashes(), ArrayKind::kNodeHashes));
  ASSIGN_OR_RETURN(m.name_file, MappedFile::Open(paths.NodeNames()));
  ASSIGN_OR_RETURN(m.offset_file, MappedArray::Open(paths.NodeOffsets(), ArrayKind::kNodeOffsets));
  m.hashes = m.hash_file.values();
  m.offsets = m.offset_file.values();
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
std::uint64_t NodeNames::hash_seed() const { return mapping_->hash_file.header.hash_seed; }
const ArrayHeader& NodeNames::hash_header() const { return mapping_->hash_file.header; }
const ArrayHeader& NodeNames::offset_header() const { return mapping_->offset_file.header; }

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

std::uint64_t NodeNames::Hash(NodeId id) const { return mapping_->hashes[Value(id)]; }

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
  m.offset_file.WillRead(first, count + 1);
  m.hash_file.WillRead(first, count);
  m.name_file.mapping.WillRead(m.offsets[first], m.offsets[first + count]);
}

void NodeNames::DropBehind() { mapping_->drop_behind = true; }

void NodeNames::Forget(std::uint64_t first, std::uint64_t count) const {
  const Mapping& m = *mapping_;
  if (!m.drop_behind || count == 0) return;
  m.name_file.Drop(m.offsets[first], m.offsets[first + count]);
  m.offset_file.Drop(first, count + 1);
  // A lookup by hash touches a few pages anywhere in the file and compares one name.
  m.hash_file.Drop(0, m.hashes.size());
}

std::optional<NodeId> NodeNames::Find(std::string_view name) const {
  const std::optional<std::size_t> found = FindHash(mapping_->hashes, HashName(name, hash_seed()));
  if (!found || Name(NodeId{*found}) != name) return std::nullopt;
  return NodeId{*found};
}

}  // namespace octavo
