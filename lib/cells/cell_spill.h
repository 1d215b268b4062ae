// Edges of an import or a walk that do not fit in memory, in a temporary file: batch by batch, each batch ordered by
// cell. Later the edges of some cells are read from all batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cells/cell_edges.h"
#include "cells/edge_record.h"
#include "cells/spill_file.h"

namespace octavo {

// Cells that were read together. Each batch gives a run.
class CellGroup : public CellEdges {
 public:
  // Where the edges of each cell, from `first` on, end in each chunk: ends[chunk][cell - first].
  CellGroup(EdgeChunks chunks, std::vector<std::vector<std::uint64_t>> ends, std::uint32_t first,
            const PartitionLayout& partitions)
      : chunks_(std::move(chunks)), ends_(std::move(ends)), first_(first), partitions_(partitions) {}

  const PartitionLayout& partitions() const override { return partitions_; }
  std::uint64_t Size(std::uint32_t cell) const override;
  std::vector<std::span<EdgeRecord>> Runs(std::uint32_t cell) override;
  std::size_t most_runs() const override { return chunks_.size(); }
  // Frees nothing: the next group needs as much.
  void Release(std::uint32_t, std::uint32_t) override {}

 private:
  // The edges of `cell` in a chunk are [first, second).
  std::pair<std::uint64_t, std::uint64_t> RangeOf(std::size_t chunk, std::uint32_t cell) const;

  EdgeChunks chunks_;
  std::vector<std::vector<std::uint64_t>> ends_;
  std::uint32_t first_;
  PartitionLayout partitions_;
};

// Used by one thread: first any number of Append, then FinishWriting, then the reads, each edge once.
class CellSpill {
 public:
  // `stop`, which may be empty, is checked between steps. The edges go to `file`.
  CellSpill(std::unique_ptr<SpillFile> file, const PartitionLayout& partitions, std::function<bool()> stop);

  // Appends edges with final ids, except those that are dropped. Parallel. Holds each edge twice. The chunks stay as
  // they are.
  absl::Status Append(EdgeChunks& chunks);
  absl::Status FinishWriting() { return file_->FinishWriting(); }

  std::uint64_t edges() const;
  // The number of edges of each cell, [count * count], row-major.
  std::span<const std::uint64_t> cell_edges() const { return cell_edges_; }
  const PartitionLayout& partitions() const { return partitions_; }
  SpillFile& file() { return *file_; }

  // Reads the edges of the cells from the first that has not been read to `last`, exclusive. Parallel.
  absl::StatusOr<CellGroup> ReadCells(std::uint32_t last);
  // The memory of a group's ends for each cell.
  std::uint64_t IndexBytesOfCell() const { return batches_.size() * sizeof(std::uint64_t); }
  // Reads at most `most` edges of the first cell that has not been read. Returns none, and goes on to the next cell,
  // when all have been read.
  absl::StatusOr<std::vector<EdgeRecord>> ReadPiece(std::uint64_t most);

 private:
  // A batch is its edges, then, for each cell, the number of edges in the cells up to it: uint64.
  struct Batch {
    std::uint64_t begin = 0;
    std::uint64_t edges = 0;
    std::uint64_t read = 0;  // edges that have been read
  };

  // Where the edges of some cells, from `first` on, end in the batch.
  absl::Status ReadEnds(const Batch& batch, std::uint32_t first, std::span<std::uint64_t> ends) const;
  // Reads the next edges of the batch into `to`.
  absl::Status ReadEdges(Batch& batch, std::span<EdgeRecord> to) const;

  const std::unique_ptr<SpillFile> file_;
  const PartitionLayout partitions_;
  const std::function<bool()> stop_;
  std::vector<Batch> batches_;
  std::vector<std::uint64_t> cell_edges_;
  std::uint32_t next_ = 0;  // the first cell that has not been read
};

}  // namespace octavo
