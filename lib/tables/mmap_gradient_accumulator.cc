#include "tables/mmap_gradient_accumulator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// The file begins with a page that says what it is; the rows follow.
constexpr std::uint64_t kHeaderBytes = 4096;
struct GradientHeader {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'G', 'R', 'A', 'D'};
  std::uint64_t version = 1;
  std::uint64_t dim = 0;
  std::uint64_t max_rows = 0;
};

// How far the pages of the mapping are brought in at a time.
constexpr std::uint64_t kPopulateBytes = std::uint64_t{1} << 20;

// Rows handled by one task: enough work to outweigh handing it over.
constexpr std::size_t kRowsPerTask = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> MmapGradientAccumulator::Create(
    const std::filesystem::path& path, std::size_t dim, std::uint64_t max_rows) {
  const auto row_bytes = CheckedMultiply(dim, sizeof(float));
  const auto data_bytes = row_bytes ? CheckedMultiply(*row_bytes, max_rows) : std::nullopt;
  const auto bytes = data_bytes ? CheckedAdd(*data_bytes, kHeaderBytes) : std::nullopt;
  if (!bytes || max_rows >= std::numeric_limits<std::uint32_t>::max()) {
    return UsageError(fmt::format("{}: {} gradient rows of {} floats are too many", path.string(), max_rows, dim));
  }
  GradientHeader header;
  header.dim = dim;
  header.max_rows = max_rows;
  ASSIGN_OR_RETURN(File file, File::Create(path));
  absl::Status status = file.Allocate(*bytes);
  if (status.ok()) status = file.WriteAt(0, AsBytes(header));
  if (!status.ok()) {
    static_cast<void>(RemoveFile(path));  // some file systems keep the part that they got
    return status;
  }
  // Private: pages that are written become this process's own, so gradients never reach the file. It has no holes: the
  // first store to a page reads it, and to read a hole takes space on some file systems (tmpfs), where a full disk
  // would make that SIGBUS.
  void* mapping = ::mmap(nullptr, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.descriptor(), 0);
  if (mapping == MAP_FAILED) return ErrnoError(fmt::format("{}: map {} bytes", path.string(), *bytes), errno);
  return std::unique_ptr<MmapGradientAccumulator>(
      new MmapGradientAccumulator(std::move(file), static_cast<std::byte*>(mapping), *bytes, dim, max_rows));
}

MmapGradientAccumulator::MmapGradientAccumulator(File file, std::byte* mapping, std::uint64_t mapped_bytes,
                                                 std::size_t dim, std::uint64_t max_rows)
    : file_(std::move(file)),
      mapping_(mapping),
      mapped_bytes_(mapped_bytes),
      range_(mapping, mapped_bytes, file_.path()),
      dim_(dim),
      max_rows_(max_rows) {}

MmapGradientAccumulator::~MmapGradientAccumulator() {
  range_ = MappedRange();
  ::munmap(mapping_, mapped_bytes_);
}

float* MmapGradientAccumulator::Row(std::uint32_t row) const {
  return reinterpret_cast<float*>(mapping_ + kHeaderBytes) + std::size_t{row} * dim_;
}

absl::Status MmapGradientAccumulator::Accumulate(NodeId node, std::span<const float> gradient) {
  if (gradient.size() != dim_) {
    return absl::InvalidArgumentError(absl::string_view(
        fmt::format("{}: a gradient of {} floats; expected {}", file_.path().string(), gradient.size(), dim_)));
  }
  const Contribution contribution{node, gradient.data()};
  return AccumulateBatch(std::span<const Contribution>(&contribution, 1));
}

absl::Status MmapGradientAccumulator::AssignRows() {
  std::uint64_t next = nodes_.size();
  auto known = nodes_.cbegin();
  segment_rows_.clear();
  for (const ContributionsByNode::Segment& segment : by_node_.segments()) {
    known = std::lower_bound(known, nodes_.cend(), segment.node);
    const bool fresh = known == nodes_.cend() || *known != segment.node;
    segment_rows_.push_back(
        {.row = fresh ? static_cast<std::uint32_t>(next++) : rows_[static_cast<std::size_t>(known - nodes_.cbegin())],
         .fresh = fresh});
  }
  if (next > max_rows_) {
    return absl::ResourceExhaustedError(absl::string_view(
        fmt::format("{}: a window touches {} rows; room for {}", file_.path().string(), next, max_rows_)));
  }
  return Populate(next);
}

// The first store to a page reads it from the file, and a disk that has failed would make that SIGBUS. So the pages of
// the first `rows` rows are brought in before, where it is an error. From then on they are memory of this process.
absl::Status MmapGradientAccumulator::Populate(std::uint64_t rows) {
  const std::uint64_t wanted = kHeaderBytes + rows * dim_ * sizeof(float);
  if (wanted <= populated_bytes_) return absl::OkStatus();
  const std::uint64_t end = std::min(RoundUp(wanted, kPopulateBytes), mapped_bytes_);
  // Kernels before 5.14 do not know the advice; there the stores bring them.
  if (::madvise(mapping_ + populated_bytes_, end - populated_bytes_, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    const int error_number = errno == EFAULT ? EIO : errno;  // EFAULT says that a store would be SIGBUS
    return ErrnoError(fmt::format("{}: map {} bytes", file_.path().string(), end), error_number);
  }
  populated_bytes_ = RoundUp(end, kHeaderBytes);
  return absl::OkStatus();
}

void MmapGradientAccumulator::MergeTouched() {
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> rows;
  const std::span<const ContributionsByNode::Segment> segments = by_node_.segments();
  nodes.reserve(nodes_.size() + segments.size());
  rows.reserve(nodes_.size() + segments.size());
  std::size_t known = 0;
  const auto take_known_while = [&](const auto& takes) {
    for (; known < nodes_.size() && takes(nodes_[known]); ++known) {
      nodes.push_back(nodes_[known]);
      rows.push_back(rows_[known]);
    }
  };
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (!segment_rows_[i].fresh) continue;
    take_known_while([&](NodeId node) { return node < segments[i].node; });
    nodes.push_back(segments[i].node);
    rows.push_back(segment_rows_[i].row);
  }
  take_known_while([](NodeId) { return true; });
  nodes_.swap(nodes);
  rows_.swap(rows);
}

absl::Status MmapGradientAccumulator::AccumulateBatch(std::span<const Contribution> contributions) {
  by_node_.Order(contributions);
  RETURN_IF_ERROR(AssignRows());
  const std::span<const ContributionsByNode::Segment> segments = by_node_.segments();
  ParallelRanges(0, segments.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      float* sum = Row(segment_rows_[i].row);
      std::uint32_t at = segments[i].begin;
      if (segment_rows_[i].fresh) std::memcpy(sum, by_node_.gradient(at++), dim_ * sizeof(float));
      for (; at < segments[i].end; ++at) {
        const float* gradient = by_node_.gradient(at);
        for (std::size_t d = 0; d < dim_; ++d) sum[d] += gradient[d];
      }
    }
  });
  MergeTouched();
  return absl::OkStatus();
}

absl::StatusOr<std::span<const float>> MmapGradientAccumulator::Gradient(NodeId node) const {
  const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), node);
  if (found == nodes_.end() || *found != node) {
    return absl::NotFoundError(absl::string_view(fmt::format("node {} has no gradient in this window", Value(node))));
  }
  return std::span<const float>(Row(rows_[static_cast<std::size_t>(found - nodes_.begin())]), dim_);
}

absl::Status MmapGradientAccumulator::Apply(RowUpdate update, MmapManager& embeddings, MmapManager& state,
                                            std::optional<RowRounding> rounding) const {
  RETURN_IF_ERROR(embeddings.CheckRounding(rounding));
  for (const NodeId node : nodes_) {
    RETURN_IF_ERROR(embeddings.CheckRow(node));
    RETURN_IF_ERROR(state.CheckRow(node));
  }
  ParallelRanges(0, nodes_.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    std::vector<float> wide = embeddings.WideRow();
    for (std::size_t i = first; i < last; ++i) {
      const NodeId node = nodes_[i];
      const WriterStripeLock lock(embeddings.LockFor(node));
      embeddings.UpdateRow(node, rounding.value_or(RowRounding()), wide, [&](std::span<float> row) {
        update(std::span<const float>(Row(rows_[i]), dim_), row, state.MutableCompanionRow(node));
      });
    }
  });
  return absl::OkStatus();
}

void MmapGradientAccumulator::Zero() {
  nodes_.clear();
  rows_.clear();
}

}  // namespace octavo
