// The gradients of one update, by one batch or by several, in a mapped scratch file. It has a block for each chunk of
// the current batch. If an update is made by several batches, it also has a row for each node that they touched, with
// its sum so far.
//
// The thread that computes a chunk is the only writer of its block, between BeginBatch and the call that sums the
// block; that call reads it on all threads. A block is valid until the next BeginBatch, an accumulated row until the
// Apply that uses it.
//
// Sums are deterministic: the gradients of a row are added in the order in which they were listed, on one thread,
// whatever the number of threads. The file is mapped copy-on-write, so gradients never reach the disk. It is made anew
// by each process. The cost is O(listed rows), whatever the size of the graph.
//
// Threads: one caller at a time; calls use TBB's workers. Any number of threads may call UpdateUnderLocks concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "io/file.h"
#include "io/mapped_range.h"
#include "oneapi/tbb/enumerable_thread_specific.h"
#include "tables/gradients_by_node.h"
#include "tables/mmap_manager.h"

namespace octavo {

// Updates one row, given its gradient, the row and its optimizer state. All are floats, even if the rows are stored as
// bf16.
using RowUpdate = absl::FunctionRef<void(std::span<const float>, std::span<float>, std::span<float>)>;

// The capacity of the file.
struct GradientCapacity {
  std::uint64_t block_floats = 0;      // of all chunks of a batch
  std::uint64_t accumulated_rows = 0;  // sums over several batches; 0 if each batch is an update
};

class MmapGradientAccumulator {
 public:
  // Makes the scratch file for rows of `dim` floats. Replaces an old file of that name, so gradients of an earlier
  // process are never read.
  static absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> Create(const std::filesystem::path& path,
                                                                         std::size_t dim,
                                                                         const GradientCapacity& capacity);
  // The file's size; nullopt if it overflows.
  static std::optional<std::uint64_t> FileBytes(std::size_t dim, const GradientCapacity& capacity);
  ~MmapGradientAccumulator();
  MmapGradientAccumulator(const MmapGradientAccumulator&) = delete;
  MmapGradientAccumulator& operator=(const MmapGradientAccumulator&) = delete;

  // ---- A batch.

  // Gives chunk i a block of floats[i] floats, with undefined contents, and clears the list of gradients. Returns an
  // error if this is more than block_floats, or if the disk or memory fails.
  absl::Status BeginBatch(std::span<const std::uint64_t> floats);
  std::span<float> block(std::size_t chunk) const { return blocks_[chunk]; }
  // Lists and orders the batch's gradients. They may be written meanwhile.
  GradientsByNode& batch() { return batch_; }

  // ---- An update. REQUIRES: batch() is ordered and its gradients are written

  // Adds the batch to the accumulated sums, for an update by several batches. Returns an error if there are more nodes
  // than accumulated_rows, or if the disk or memory fails; the sums are then unchanged. REQUIRES: no gradient is a
  // product
  absl::Status Accumulate();
  // The nodes with accumulated sums, ascending.
  std::span<const NodeId> accumulated() const { return nodes_; }
  // Returns the sum for `node`, valid until the next call, or an error if it has none.
  absl::StatusOr<std::span<const float>> Sum(NodeId node) const;

  // Calls `update` once for each row that has gradients, with their sum, on all threads. Uses the accumulated sums if
  // there are any, otherwise those of the batch. Then discards the accumulated sums. Returns an error, and updates
  // nothing, if a row's partition is not resident, or if embeddings are bf16 and `rounding` is missing. Takes no locks,
  // as each row is updated by one task. REQUIRES: no other thread reads or writes a row of the tables meanwhile
  absl::Status Apply(RowUpdate update, MmapManager& embeddings, MmapManager& state,
                     const std::optional<RowRounding>& rounding = std::nullopt);

  // ---- An update by one chunk alone.

  // Updates the rows of `chunk`, which is ordered and has no products, each under its exclusive lock in `embeddings`.
  // Any number of threads concurrently, each with its own chunk.
  absl::Status UpdateUnderLocks(const GradientsByNode& chunk, RowUpdate update, MmapManager& embeddings,
                                MmapManager& state, const std::optional<RowRounding>& rounding = std::nullopt);

 private:
  // Bytes [begin, end) of the mapping. Those before `populated` are private pages of this process.
  struct Region {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t populated = 0;
  };
  // Each thread's.
  struct Worker {
    std::vector<float> sums;
    std::vector<float> wide;  // of rows of bf16
  };
  // The accumulated row that a segment of the batch is added to.
  struct SegmentRow {
    std::uint32_t row = 0;
    bool fresh = true;  // has no sum yet
  };

  MmapGradientAccumulator(File file, std::byte* mapping, std::uint64_t mapped_bytes, std::size_t dim,
                          const GradientCapacity& capacity);

  float* AccumulatedRow(std::uint32_t row) const;
  absl::Status Populate(Region& region, std::uint64_t bytes);
  absl::Status AssignRows();
  void MergeNodes();
  std::span<const float> SumOf(const GradientsByNode& by_node, std::size_t segment, std::size_t last,
                               std::vector<float>& sum) const;
  void ApplyAccumulated(RowUpdate update, MmapManager& embeddings, MmapManager& state, const RowRounding& rounding);
  void ApplyRows(RowUpdate update, MmapManager& embeddings, MmapManager& state, const RowRounding& rounding);
  void ApplyProducts(RowUpdate update, MmapManager& embeddings, MmapManager& state, const RowRounding& rounding);

  // Constant after construction.
  const File file_;
  std::byte* const mapping_;
  const std::uint64_t mapped_bytes_;
  MappedRange range_;
  const std::size_t dim_;
  const GradientCapacity capacity_;
  // The caller's.
  Region block_region_;
  Region accumulated_region_;
  std::vector<std::span<float>> blocks_;
  GradientsByNode batch_;
  std::vector<NodeId> nodes_;         // that have accumulated sums, ascending
  std::vector<std::uint32_t> rows_;   // rows_[i] is the row of nodes_[i]
  std::vector<SegmentRow> segments_;  // of the batch's segments, kept for its memory
  tbb::enumerable_thread_specific<Worker> workers_;
};

}  // namespace octavo
