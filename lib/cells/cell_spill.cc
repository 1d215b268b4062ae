#include "cells/cell_spill.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cells/cell_sorter.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

}  // namespace

CellSpill::CellSpill(std::unique_ptr<SpillFile> file, const PartitionLayout& partitions, std::function<bool()> stop)
    : file_(std::move(file)),
      partitions_(partitions),
      stop_(std::move(stop)),
      cell_edges_(std::size_t{partitions.count} * partitions.count) {}

absl::Status CellSpill::Append(EdgeChunks& chunks) {
  SortedEdges sorted = SortedEdges::CopyOf(chunks, partitions_);
  if (sorted.All().empty()) return absl::OkStatus();
  batches_.push_back({.begin = file_->size(), .edges = sorted.All().size()});
  for (auto rest = std::as_bytes(sorted.All()); !rest.empty();) {
    if (stop_ && stop_()) return absl::CancelledError("interrupted");
    const auto some = rest.first(std::min(rest.size(), kPieceBytes));
    RETURN_IF_ERROR(file_->Append(some));
    rest = rest.subspan(some.size());
  }
  std::vector<std::uint64_t> ends(cell_edges_.size());
  std::uint64_t end = 0;
  for (std::uint32_t cell = 0; cell < ends.size(); ++cell) {
    const std::uint64_t edges = sorted.Cell(cell).size();
    cell_edges_[cell] += edges;
    ends[cell] = end += edges;
  }
  return file_->Append(std::as_bytes(std::span<const std::uint64_t>(ends)));
}

std::uint64_t CellSpill::edges() const {
  return std::accumulate(cell_edges_.begin(), cell_edges_.end(), std::uint64_t{0});
}

absl::Status CellSpill::ReadEnds(const Batch& batch, std::uint32_t first, std::span<std::uint64_t> ends) const {
  return file_->ReadOnce(batch.begin + batch.edges * sizeof(EdgeRecord) + first * sizeof(std::uint64_t),
                         std::as_writable_bytes(ends));
}

absl::Status CellSpill::ReadEdges(Batch& batch, std::span<EdgeRecord> to) const {
  if (to.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(file_->ReadOnce(batch.begin + batch.read * sizeof(EdgeRecord), std::as_writable_bytes(to)));
  batch.read += to.size();
  return absl::OkStatus();
}

absl::StatusOr<CellGroup> CellSpill::ReadCells(std::uint32_t last) {
  EdgeChunks chunks(batches_.size());
  std::vector<std::vector<std::uint64_t>> ends(batches_.size());
  Mutex mutex;
  absl::Status status;  // the first error; under mutex
  ParallelEach(0, batches_.size(), [&](std::size_t i) {
    Batch& batch = batches_[i];
    const auto read = [&]() -> absl::Status {
      ends[i].resize(last - next_);
      RETURN_IF_ERROR(ReadEnds(batch, next_, ends[i]));
      const std::uint64_t before = batch.read;
      chunks[i].resize(ends[i].back() - before);
      for (std::uint64_t& end : ends[i]) end -= before;
      return ReadEdges(batch, chunks[i]);
    };
    absl::Status done = read();
    const MutexLock lock(mutex);
    if (status.ok()) status = std::move(done);
  });
  RETURN_IF_ERROR(status);
  return CellGroup(std::move(chunks), std::move(ends), std::exchange(next_, last), partitions_);
}

std::pair<std::uint64_t, std::uint64_t> CellGroup::RangeOf(std::size_t chunk, std::uint32_t cell) const {
  const std::size_t place = cell - first_;
  return {place == 0 ? 0 : ends_[chunk][place - 1], ends_[chunk][place]};
}

std::uint64_t CellGroup::Size(std::uint32_t cell) const {
  std::uint64_t size = 0;
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const auto [begin, end] = RangeOf(chunk, cell);
    size += end - begin;
  }
  return size;
}

std::vector<std::span<EdgeRecord>> CellGroup::Runs(std::uint32_t cell) {
  std::vector<std::span<EdgeRecord>> runs;
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const auto [begin, end] = RangeOf(chunk, cell);
    if (begin < end) runs.push_back(std::span(chunks_[chunk]).subspan(begin, end - begin));
  }
  return runs;
}

absl::StatusOr<std::vector<EdgeRecord>> CellSpill::ReadPiece(std::uint64_t most) {
  std::vector<EdgeRecord> piece;
  piece.reserve(std::min(most, cell_edges_[next_]));
  for (Batch& batch : batches_) {
    std::uint64_t end = 0;
    RETURN_IF_ERROR(ReadEnds(batch, next_, std::span(&end, 1)));
    const std::uint64_t some = std::min(end - batch.read, most - piece.size());
    piece.resize(piece.size() + some);
    RETURN_IF_ERROR(ReadEdges(batch, std::span(piece).last(some)));
    if (piece.size() == most) break;
  }
  if (piece.empty()) ++next_;
  return piece;
}

}  // namespace octavo
