// Edges of an import or a walk that do not fit in memory, in a temporary file: batch by batch, each batch ordered by
// cell. Later the edges of some cells are read from all batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cells/cell_sorter.h"
#include "cells/edge_record.h"
#include "cells/spill_file.h"

namespace octavo {

// Used by one thread: first any number of Append, then FinishWriting, then the reads, each edge once.
class CellSpill {
 public:
  // `stop`, which may be empty, is checked between steps. The edges go to `file`.
  CellSpill(std::unique_ptr<SpillFile> file, const PartitionLayout& partitions, std::function<bool()> stop);

  // Appends edges with final ids, except those that are dropped. Parallel. Holds each edge twice at its peak.
  absl::Status Append(EdgeChunks chunks);
  absl::Status FinishWriting() { return file_->FinishWriting(); }

  std::uint64_t edges() const;
  // The number of edges of each cell, [count * count], row-major.
  std::span<const std::uint64_t> cell_edges() const { return cell_edges_; }
  const PartitionLayout& partitions() const { return partitions_; }
  SpillFile& file() { return *file_; }

  // Reads the edges of the cells from the first that has not been read to `last`, exclusive; one chunk a batch.
  // Parallel.
  absl::StatusOr<EdgeChunks> ReadCells(std::uint32_t last);
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

  // Where the edges of `cell` end in the batch.
  absl::StatusOr<std::uint64_t> EndOf(const Batch& batch, std::uint32_t cell) const;
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
