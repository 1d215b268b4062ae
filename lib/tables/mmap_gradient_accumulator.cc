#include "tables/mmap_gradient_accumulator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked_math.h"
#include "base/float_rows.h"
#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "hwy/contrib/sort/vqsort.h"
#include "io/checksum.h"

namespace octavo {
namespace {

// The file begins with a page that says what it is; the blocks follow, then the accumulated rows, each from a new page.
constexpr std::uint64_t kPageBytes = 4096;
struct GradientHeader {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'G', 'R', 'A', 'D'};
  std::uint64_t version = 3;
  std::uint64_t dim = 0;
  std::uint64_t block_floats = 0;
  std::uint64_t accumulated_rows = 0;
  std::uint64_t checksum = 0;  // of the whole page with zeros here; version 2 has none
};

using HeaderPage = std::array<std::byte, kPageBytes>;

// Returns the page that begins with `header`; the rest is zeros.
HeaderPage PageOf(GradientHeader header) {
  HeaderPage page{};
  header.checksum = 0;
  std::memcpy(page.data(), &header, sizeof(header));
  if (header.version > 2) header.checksum = Checksum64(page);
  std::memcpy(page.data(), &header, sizeof(header));
  return page;
}

// The step in which pages of the mapping are made present.
constexpr std::uint64_t kPopulateBytes = std::uint64_t{1} << 20;

// Rows per task: enough work to outweigh the cost of starting it.
constexpr std::size_t kRowsPerTask = 64;
// Rows lie anywhere in memory, so those of the next few nodes are prefetched while one is worked on.
constexpr std::size_t kRowsAhead = 4;
// If a row has many gradients, only the first ones are prefetched: more would evict what is needed sooner.
constexpr std::uint32_t kGradientsAhead = 8;

std::optional<std::uint64_t> WholePages(std::optional<std::uint64_t> floats) {
  const auto bytes = floats ? CheckedMultiply(*floats, sizeof(float)) : std::nullopt;
  if (!bytes || *bytes > std::numeric_limits<std::uint64_t>::max() - kPageBytes) return std::nullopt;
  return RoundUp(*bytes, kPageBytes);
}

// Begins to bring what the update of segment i + kRowsAhead reads; where gradients are products, sums are there
// already.
void PrefetchAhead(const GradientsByNode& by_node, std::size_t i, std::size_t dim, const MmapManager& embeddings,
                   const MmapManager& state) {
  if (i + kRowsAhead >= by_node.segments().size()) return;
  const GradientsByNode::Segment& ahead = by_node.segments()[i + kRowsAhead];
  embeddings.PrefetchRow(ahead.node);
  state.PrefetchRow(ahead.node);
  if (by_node.has_products()) return;
  const std::uint32_t end = std::min(ahead.end, ahead.begin + kGradientsAhead);
  for (std::uint32_t at = ahead.begin; at < end; ++at) PrefetchFloats(by_node.gradient(at), dim);
}

}  // namespace

// ---- The order of gradients.

// Adds place `at` of the order, a gradient of `node`, to the segments. `at` ascends from call to call.
void GradientsByNode::AddToSegments(std::uint32_t at, NodeId node) {
  if (segments_.empty() || node != segments_.back().node) segments_.push_back({.node = node, .begin = at, .end = at});
  segments_.back().end = at + 1;
}

// Node and place in one word: sorting these is an order of magnitude faster than sorting pairs. No two keys are equal.
// That matters here and in Arrivals: there is one result, and nothing after the last key is written
// (walk/pair_counter.cc).
void GradientsByNode::SortTogether(unsigned index_bits) {
  for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = (Value(listed_[i].node) << index_bits) | i;
  hwy::Sorter()(keys_.data(), keys_.size(), hwy::SortAscending());
  const std::uint64_t mask = (std::uint64_t{1} << index_bits) - 1;
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    order_[i] = static_cast<std::uint32_t>(keys_[i] & mask);
    AddToSegments(i, static_cast<NodeId>(keys_[i] >> index_bits));
  }
}

// For ids so large that a word has no room for the place: with a million gradients those from 2^44 on. No import
// refuses such a graph.
void GradientsByNode::SortApart() {
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return listed_[a].node < listed_[b].node; });
  for (std::uint32_t i = 0; i < order_.size(); ++i) AddToSegments(i, listed_[order_[i]].node);
}

void GradientsByNode::Order() {
  order_.resize(listed_.size());
  keys_.resize(listed_.size());
  segments_.clear();
  std::uint64_t nodes = 0;  // the bits of them all
  for (const RowGradient& gradient : listed_) nodes |= Value(gradient.node);
  const auto index_bits = static_cast<unsigned>(std::bit_width(listed_.size()));
  if (static_cast<unsigned>(std::bit_width(nodes)) + index_bits <= 64) {
    SortTogether(index_bits);
  } else {
    SortApart();
  }
}

std::span<const std::uint64_t> GradientsByNode::Arrivals(std::size_t first, std::size_t last) {
  const std::uint32_t begin = segments_[first].begin;
  const std::span<std::uint64_t> arrivals = std::span(keys_).subspan(begin, segments_[last - 1].end - begin);
  for (std::size_t i = first; i < last; ++i) {
    for (std::uint32_t at = segments_[i].begin; at < segments_[i].end; ++at) {
      const std::uint64_t is_first = at == segments_[i].begin ? kFirstArrival : 0;
      arrivals[at - begin] = std::uint64_t{order_[at]} << 32 | is_first | (i - first);
    }
  }
  hwy::Sorter()(arrivals.data(), arrivals.size(), hwy::SortAscending());
  return arrivals;
}

absl::Status GradientsByNode::CheckRows(const MmapManager& embeddings, const MmapManager& state) const {
  // Nodes of one partition are adjacent, so checking the first one is enough.
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    RETURN_IF_ERROR(embeddings.CheckRow(segment->node));
    RETURN_IF_ERROR(state.CheckRow(segment->node));
    const NodeId end = std::min(embeddings.EndOf(embeddings.PartitionOf(segment->node)),
                                state.EndOf(state.PartitionOf(segment->node)));
    segment = std::partition_point(segment, segments_.end(), [end](const Segment& other) { return other.node < end; });
  }
  return absl::OkStatus();
}

// ---- The file.

std::optional<std::uint64_t> MmapGradientAccumulator::FileBytes(std::size_t dim, const GradientCapacity& capacity) {
  const auto blocks = WholePages(capacity.block_floats);
  const auto accumulated = WholePages(CheckedMultiply(dim, capacity.accumulated_rows));
  const auto rows = blocks && accumulated ? CheckedAdd(*blocks, *accumulated) : std::nullopt;
  return rows ? CheckedAdd(*rows, kPageBytes) : std::nullopt;
}

absl::Status MmapGradientAccumulator::CheckFile(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  if (size == 0) return absl::OkStatus();
  HeaderPage page;
  RETURN_IF_ERROR(file.ReadAt(0, page));
  GradientHeader header;
  std::memcpy(&header, page.data(), sizeof(header));
  const bool known = header.magic == GradientHeader().magic && (header.version == 2 || header.version == 3);
  if (!known || page != PageOf(header)) {
    return CorruptError(fmt::format("{}: header: damaged; expected that of a file of gradients", path.string()));
  }
  const auto bytes = FileBytes(header.dim, {header.block_floats, header.accumulated_rows});
  if (bytes == size || size == kPageBytes) return absl::OkStatus();
  return CorruptError(fmt::format("{}: header: does not belong to a file of {} bytes; expected the header of one",
                                  path.string(), size));
}

absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> MmapGradientAccumulator::Create(
    const std::filesystem::path& path, std::size_t dim, const GradientCapacity& capacity) {
  const auto bytes = FileBytes(dim, capacity);
  if (!bytes || capacity.accumulated_rows >= std::numeric_limits<std::uint32_t>::max()) {
    return UsageError(fmt::format("{}: {} floats of gradients and {} rows of {} are too many", path.string(),
                                  capacity.block_floats, capacity.accumulated_rows, dim));
  }
  GradientHeader header;
  header.dim = dim;
  header.block_floats = capacity.block_floats;
  header.accumulated_rows = capacity.accumulated_rows;
  ASSIGN_OR_RETURN(File file, File::Create(path));
  // The header first: CheckFile sees either no byte or a whole header. Synced, as a power cut could leave zeros of it.
  absl::Status status = file.WriteAt(0, PageOf(header));
  if (status.ok()) status = file.Sync();
  if (status.ok()) status = file.Allocate(*bytes);
  if (!status.ok()) {
    static_cast<void>(RemoveFile(path));  // some file systems keep the allocated part
    return status;
  }
  // Private: pages that are written become copies of this process, so gradients never reach the file. The file has no
  // holes: the first store to a page reads it, and on some file systems (tmpfs) reading a hole allocates space, which
  // on a full disk would raise SIGBUS.
  void* mapping = ::mmap(nullptr, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.descriptor(), 0);
  if (mapping == MAP_FAILED) return ErrnoError(fmt::format("{}: map {} bytes", path.string(), *bytes), errno);
  return std::unique_ptr<MmapGradientAccumulator>(
      new MmapGradientAccumulator(std::move(file), static_cast<std::byte*>(mapping), *bytes, dim, capacity));
}

MmapGradientAccumulator::MmapGradientAccumulator(File file, std::byte* mapping, std::uint64_t mapped_bytes,
                                                 std::size_t dim, const GradientCapacity& capacity)
    : file_(std::move(file)),
      mapping_(mapping),
      mapped_bytes_(mapped_bytes),
      range_(mapping, mapped_bytes, file_.path(), file_.descriptor(), 0),
      dim_(dim),
      capacity_(capacity) {
  const std::uint64_t blocks_end = kPageBytes + *WholePages(capacity.block_floats);
  block_region_ = {.begin = kPageBytes, .end = blocks_end, .populated = kPageBytes};
  accumulated_region_ = {.begin = blocks_end, .end = mapped_bytes, .populated = blocks_end};
}

MmapGradientAccumulator::~MmapGradientAccumulator() {
  range_ = MappedRange();
  ::munmap(mapping_, mapped_bytes_);
}

// The first store to a page reads it from the file, and if the disk has failed that raises SIGBUS. So the pages of the
// region's first `bytes` bytes are made present beforehand, where a failure is an error status. From then on they are
// private memory of this process. The file's pages are dropped from the page cache, where they would be a second copy.
// Each time from the start of the file: a drop that covers a part of a large page leaves that page.
absl::Status MmapGradientAccumulator::Populate(Region& region, std::uint64_t bytes) {
  while (region.populated - region.begin < bytes) {
    const std::uint64_t size = std::min(kPopulateBytes, region.end - region.populated);
    // Kernels before 5.14 do not know this advice; there the stores make the pages present.
    if (::madvise(mapping_ + region.populated, size, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
      const int error_number = errno == EFAULT ? EIO : errno;  // EFAULT means that a store would raise SIGBUS
      return ErrnoError(fmt::format("{}: map {} bytes", file_.path().string(), region.populated + size), error_number);
    }
    region.populated += size;
    file_.DropCache(0, region.populated);
  }
  return absl::OkStatus();
}

absl::Status MmapGradientAccumulator::BeginBatch(std::span<const std::uint64_t> floats) {
  batch_.Clear();
  blocks_.clear();
  auto* const first = reinterpret_cast<float*>(mapping_ + block_region_.begin);
  std::uint64_t used = 0;
  for (const std::uint64_t size : floats) {
    if (size > capacity_.block_floats - used) {
      return absl::ResourceExhaustedError(absl::string_view(
          fmt::format("{}: a batch of more gradients than {} floats", file_.path().string(), capacity_.block_floats)));
    }
    blocks_.emplace_back(first + used, size);
    used += size;
  }
  return Populate(block_region_, used * sizeof(float));
}

// ---- Sums over several batches.

float* MmapGradientAccumulator::AccumulatedRow(std::uint32_t row) const {
  return reinterpret_cast<float*>(mapping_ + accumulated_region_.begin) + std::size_t{row} * dim_;
}

absl::Status MmapGradientAccumulator::Accumulate() {
  const std::span<const GradientsByNode::Segment> segments = batch_.segments();
  std::vector<NodeId> nodes;
  nodes.reserve(segments.size());
  for (const GradientsByNode::Segment& segment : segments) nodes.push_back(segment.node);
  const std::span<const NodeRows::Place> places = accumulated_.Find(std::move(nodes));
  const std::uint64_t rows = accumulated_.rows_found();
  if (rows > capacity_.accumulated_rows) {
    return absl::ResourceExhaustedError(
        absl::string_view(fmt::format("{}: the batches of an update touch {} rows; room for {}", file_.path().string(),
                                      rows, capacity_.accumulated_rows)));
  }
  RETURN_IF_ERROR(Populate(accumulated_region_, rows * dim_ * sizeof(float)));
  ParallelRanges(0, segments.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      float* sum = AccumulatedRow(places[i].row);
      std::uint32_t at = segments[i].begin;
      if (places[i].fresh) std::memcpy(sum, batch_.gradient(at++), dim_ * sizeof(float));
      for (; at < segments[i].end; ++at) AddFloats(dim_, batch_.gradient(at), sum);
    }
  });
  accumulated_.Keep();
  return absl::OkStatus();
}

// ---- Updates.

// The sum of a segment's gradients: the gradient itself where there is one, else in `sum`.
std::span<const float> MmapGradientAccumulator::SumOf(const GradientsByNode& by_node, std::size_t segment,
                                                      AlignedFloats& sum) const {
  const auto [node, begin, end] = by_node.segments()[segment];
  if (end - begin == 1) return {by_node.gradient(begin), dim_};
  sum.resize(dim_);
  std::memcpy(sum.data(), by_node.gradient(begin), dim_ * sizeof(float));
  for (std::uint32_t at = begin + 1; at < end; ++at) AddFloats(dim_, by_node.gradient(at), sum.data());
  return {sum.data(), dim_};
}

// The sums are there.
absl::Status MmapGradientAccumulator::ApplyAccumulated(RowUpdate update, MmapManager& embeddings, MmapManager& state,
                                                       const RowRounding& rounding) {
  const std::span<const NodeId> nodes = accumulated_.nodes();
  for (const NodeId node : nodes) {
    RETURN_IF_ERROR(embeddings.CheckRow(node));
    RETURN_IF_ERROR(state.CheckRow(node));
  }
  ParallelRanges(0, nodes.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    std::vector<float>& wide = workers_.local().wide;
    wide.resize(embeddings.columns());
    for (std::size_t i = first; i < last; ++i) {
      const std::span<const float> sum(AccumulatedRow(accumulated_.row(i)), dim_);
      embeddings.UpdateRowUnlocked(nodes[i], rounding, wide,
                                   [&](std::span<float> row) { update(sum, row, state.MutableStateRow(nodes[i])); });
    }
  });
  accumulated_.Clear();
  return absl::OkStatus();
}

// Sums a row and updates it while the sum is in the first-level cache. Of products, sums a range of rows while their
// factors are in the second-level cache, and then updates them.
absl::Status MmapGradientAccumulator::Apply(RowUpdate update, MmapManager& embeddings, MmapManager& state,
                                            const RowRounding& rounding) {
  if (!accumulated_.nodes().empty()) return ApplyAccumulated(update, embeddings, state, rounding);
  RETURN_IF_ERROR(batch_.CheckRows(embeddings, state));
  const std::span<const GradientsByNode::Segment> segments = batch_.segments();
  const bool products = batch_.has_products();
  const std::size_t each = products ? RowsOfRange(segments.size(), dim_) : kRowsPerTask;
  ParallelEach(0, (segments.size() + each - 1) / each, [&](std::size_t task) {
    const std::size_t first = task * each;
    const std::size_t last = std::min(first + each, segments.size());
    auto& [sums, wide] = workers_.local();
    wide.resize(embeddings.columns());
    if (products) SumArrivals(batch_.listed(), batch_.Arrivals(first, last), last - first, dim_, sums);
    for (std::size_t i = first; i < last; ++i) {
      PrefetchAhead(batch_, i, dim_, embeddings, state);
      const NodeId node = segments[i].node;
      const std::span<const float> sum =
          products ? std::span(sums).subspan((i - first) * ProductStride(dim_), dim_) : SumOf(batch_, i, sums);
      embeddings.UpdateRowUnlocked(node, rounding, wide,
                                   [&](std::span<float> row) { update(sum, row, state.MutableStateRow(node)); });
    }
  });
  return absl::OkStatus();
}

absl::Status MmapGradientAccumulator::UpdateUnderLocks(const GradientsByNode& chunk, RowUpdate update,
                                                       MmapManager& embeddings, MmapManager& state,
                                                       const RowRounding& rounding) {
  RETURN_IF_ERROR(chunk.CheckRows(embeddings, state));
  auto& [sums, wide] = workers_.local();
  wide.resize(embeddings.columns());
  for (std::size_t i = 0; i < chunk.segments().size(); ++i) {
    PrefetchAhead(chunk, i, dim_, embeddings, state);
    const NodeId node = chunk.segments()[i].node;
    const std::span<const float> sum = SumOf(chunk, i, sums);
    const WriterStripeLock lock(embeddings.LockFor(node));
    embeddings.UpdateRow(node, rounding, wide,
                         [&](std::span<float> row) { update(sum, row, state.MutableStateRow(node)); });
  }
  return absl::OkStatus();
}

}  // namespace octavo
