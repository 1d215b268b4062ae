#include "graph/node_names.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/mapped_range.h"

namespace octavo {
namespace {

// A whole file, mapped read-only. An empty file has no mapping.
class MappedBytes {
 public:
  static absl::StatusOr<MappedBytes> Open(const std::filesystem::path& path) {
    ASSIGN_OR_RETURN(File file, File::OpenRead(path));
    ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
    if (size == 0) return MappedBytes();
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (data == MAP_FAILED) return ErrnoError(fmt::format("{}: mmap of {} bytes", path.string(), size), errno);
    // Look-ups are random: read-ahead would fetch a megabyte for every name.
    ::madvise(data, size, MADV_RANDOM);
    MappedRange range(data, size, path);
    return MappedBytes(std::move(file), data, size, std::move(range));
  }
  MappedBytes() = default;
  MappedBytes(MappedBytes&& other) noexcept
      : file_(std::move(other.file_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        range_(std::move(other.range_)) {}
  MappedBytes& operator=(MappedBytes&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(range_, other.range_);
    return *this;
  }
  ~MappedBytes() {
    range_ = MappedRange();
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

  // Both take [begin, end) of the bytes, cut to what there is, and are advice that cannot fail.
  void WillRead(std::uint64_t begin, std::uint64_t end) const { Advise(begin, end, MADV_WILLNEED); }
  void Drop(std::uint64_t begin, std::uint64_t end) const {
    // Pages that are mapped stay in the cache, so the mapping lets go of them first.
    Advise(begin, end, MADV_DONTNEED);
    end = std::min<std::uint64_t>(end, size_);
    if (begin < end) file_.DropBehind(begin, end - begin);
  }

 private:
  MappedBytes(File file, void* data, std::size_t size, MappedRange range)
      : file_(std::move(file)), data_(data), size_(size), range_(std::move(range)) {}
  void Advise(std::uint64_t begin, std::uint64_t end, int advice) const {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    begin = begin / page * page;
    end = std::min<std::uint64_t>(end, size_);
    if (begin < end) ::madvise(static_cast<std::byte*>(data_) + begin, end - begin, advice);
  }

  File file_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  MappedRange range_;
};

std::span<const std::uint64_t> ElementsOf(const MappedBytes& file, const ArrayHeader& header) {
  // The mapping is page-aligned and the header has 64 bytes, so the elements are aligned.
  return {reinterpret_cast<const std::uint64_t*>(file.bytes().data() + sizeof(ArrayHeader)), header.count};
}

// Returns the position of `hash` in `hashes`, which ascend strictly and are spread evenly. Interpolation takes
// log log n steps on such hashes; the middle takes over after 16 steps, so that damaged files cost log n and no more.
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
  MappedBytes hash_file;
  MappedBytes name_file;
  MappedBytes offset_file;
  ArrayHeader hash_header;
  ArrayHeader offset_header;
  std::span<const std::uint64_t> hashes;
  std::span<const std::uint64_t> offsets;
  bool drop_behind = false;

  // Returns where an offset stands in its file.
  std::uint64_t OffsetPlace(std::uint64_t number) const { return sizeof(ArrayHeader) + number * sizeof(offsets[0]); }
};

NodeNames::NodeNames(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
NodeNames::~NodeNames() = default;

absl::StatusOr<std::unique_ptr<NodeNames>> NodeNames::Open(const GraphPaths& paths) {
  auto mapping = std::make_unique<Mapping>();
  Mapping& m = *mapping;
  ASSIGN_OR_RETURN(m.hash_file, MappedBytes::Open(paths.NodeHashes()));
  ASSIGN_OR_RETURN(m.name_file, MappedBytes::Open(paths.NodeNames()));
  ASSIGN_OR_RETURN(m.offset_file, MappedBytes::Open(paths.NodeOffsets()));
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
  // Only damaged offsets fail this: every name has at least its line end.
  if (begin >= end || end > bytes.size()) return {};
  return {reinterpret_cast<const char*>(bytes.data()) + begin, end - begin - 1};
}

void NodeNames::WillRead(std::uint64_t first, std::uint64_t count) const {
  const Mapping& m = *mapping_;
  if (count == 0) return;
  m.offset_file.WillRead(m.OffsetPlace(first), m.OffsetPlace(first + count + 1));
  m.name_file.WillRead(m.offsets[first], m.offsets[first + count]);
}

void NodeNames::DropBehind() { mapping_->drop_behind = true; }

void NodeNames::Forget(std::uint64_t first, std::uint64_t count) const {
  const Mapping& m = *mapping_;
  if (!m.drop_behind || count == 0) return;
  m.name_file.Drop(m.offsets[first], m.offsets[first + count]);
  m.offset_file.Drop(m.OffsetPlace(first), m.OffsetPlace(first + count + 1));
  // A name is found by its hash and compared: a few pages a look-up, anywhere.
  m.hash_file.Drop(0, m.hash_file.bytes().size());
}

std::optional<NodeId> NodeNames::Find(std::string_view name) const {
  const std::optional<std::size_t> found = FindHash(mapping_->hashes, HashName(name, hash_seed()));
  if (!found || Name(NodeId{*found}) != name) return std::nullopt;
  return NodeId{*found};
}

}  // namespace octavo
