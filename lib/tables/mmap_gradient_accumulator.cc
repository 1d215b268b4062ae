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
#include "oneapi/tbb/parallel_sort.h"

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
// Rows lie anywhere in memory: those of a few nodes ahead are on their way while one is worked on.
constexpr std::size_t kRowsAhead = 4;

absl::Status CheckRows(NodeId node, const MmapManager& embeddings, const MmapManager& state) {
  RETURN_IF_ERROR(embeddings.CheckRow(node));
  return state.CheckRow(node);
}

absl::Status CheckRounding(const MmapManager& embeddings, const std::optional<RowRounding>& rounding) {
  if (embeddings.element() == NpyElement::kFloat32 || rounding) return absl::OkStatus();
  return absl::InvalidArgumentError("rows of bf16 are updated with a rounding; there is none");
}

// Memory for one row as floats where it is stored as something else.
std::vector<float> WideRow(const MmapManager& embeddings) {
  return std::vector<float>(embeddings.element() == NpyElement::kFloat32 ? 0 : embeddings.columns());
}

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

void MmapGradientAccumulator::SortByNode(std::span<const Contribution> contributions) {
  order_.resize(contributions.size());
  for (std::uint32_t i = 0; i < contributions.size(); ++i) order_[i] = {Value(contributions[i].node), i};
    // Keys are unique, so the order is the same however the sort is split over threads.
#ifdef OCTAVO_THREAD_SANITIZER
  std::sort(order_.begin(), order_.end());  // the sanitizer cannot see the hand-over inside TBB's sort
#else
  tbb::parallel_sort(order_.begin(), order_.end());
#endif
  segments_.clear();
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    if (i == 0 || order_[i].node != order_[i - 1].node) {
      segments_.push_back({.node = static_cast<NodeId>(order_[i].node), .begin = i, .end = i});
    }
    segments_.back().end = i + 1;
  }
}

absl::Status MmapGradientAccumulator::AssignRows() {
  std::uint64_t next = nodes_.size();
  auto known = nodes_.cbegin();
  for (Segment& segment : segments_) {
    known = std::lower_bound(known, nodes_.cend(), segment.node);
    segment.fresh = known == nodes_.cend() || *known != segment.node;
    segment.row =
        segment.fresh ? static_cast<std::uint32_t>(next++) : rows_[static_cast<std::size_t>(known - nodes_.cbegin())];
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
  nodes.reserve(nodes_.size() + segments_.size());
  rows.reserve(nodes_.size() + segments_.size());
  std::size_t known = 0;
  const auto take_known_while = [&](const auto& takes) {
    for (; known < nodes_.size() && takes(nodes_[known]); ++known) {
      nodes.push_back(nodes_[known]);
      rows.push_back(rows_[known]);
    }
  };
  for (const Segment& segment : segments_) {
    if (!segment.fresh) continue;
    take_known_while([&](NodeId node) { return node < segment.node; });
    nodes.push_back(segment.node);
    rows.push_back(segment.row);
  }
  take_known_while([](NodeId) { return true; });
  nodes_.swap(nodes);
  rows_.swap(rows);
}

absl::Status MmapGradientAccumulator::AccumulateBatch(std::span<const Contribution> contributions) {
  SortByNode(contributions);
  RETURN_IF_ERROR(AssignRows());
  ParallelRanges(0, segments_.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    for (const Segment& segment : std::span(segments_).subspan(first, last - first)) {
      float* sum = Row(segment.row);
      std::uint32_t at = segment.begin;
      if (segment.fresh) {
        std::memcpy(sum, contributions[order_[at++].index].gradient, dim_ * sizeof(float));
      }
      for (; at < segment.end; ++at) {
        const float* gradient = contributions[order_[at].index].gradient;
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
  RETURN_IF_ERROR(CheckRounding(embeddings, rounding));
  for (const NodeId node : nodes_) {
    RETURN_IF_ERROR(CheckRows(node, embeddings, state));
  }
  ParallelRanges(0, nodes_.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    std::vector<float> wide = WideRow(embeddings);
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

absl::Status MmapGradientAccumulator::ApplyBatch(std::span<const Contribution> contributions, RowUpdate update,
                                                 MmapManager& embeddings, MmapManager& state,
                                                 std::optional<RowRounding> rounding) {
  RETURN_IF_ERROR(CheckRounding(embeddings, rounding));
  SortByNode(contributions);
  for (const Segment& segment : segments_) RETURN_IF_ERROR(CheckRows(segment.node, embeddings, state));
  const auto gradient = [&](std::uint32_t at) { return contributions[order_[at].index].gradient; };
  ParallelRanges(0, segments_.size(), kRowsPerTask, [&](std::size_t first, std::size_t last) {
    std::vector<float> sum(dim_);
    std::vector<float> wide = WideRow(embeddings);
    for (std::size_t i = first; i < last; ++i) {
      if (i + kRowsAhead < last) {
        const Segment& ahead = segments_[i + kRowsAhead];
        embeddings.PrefetchRow(ahead.node);
        state.PrefetchRow(ahead.node);
        PrefetchFloats(gradient(ahead.begin), dim_);
      }
      const Segment& segment = segments_[i];
      const float* total = gradient(segment.begin);
      if (segment.end - segment.begin > 1) {
        std::memcpy(sum.data(), total, dim_ * sizeof(float));
        for (std::uint32_t at = segment.begin + 1; at < segment.end; ++at) {
          const float* one = gradient(at);
          for (std::size_t d = 0; d < dim_; ++d) sum[d] += one[d];
        }
        total = sum.data();
      }
      const WriterStripeLock lock(embeddings.LockFor(segment.node));
      embeddings.UpdateRow(segment.node, rounding.value_or(RowRounding()), wide, [&](std::span<float> row) {
        update({total, dim_}, row, state.MutableCompanionRow(segment.node));
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
