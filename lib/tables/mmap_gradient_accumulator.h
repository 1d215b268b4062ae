// The gradients of one update, by one batch or by several, in a mapped scratch file. It has a block for each chunk of
// the current batch. If an update is made by several batches, it also has a row for each node that they touched, with
// its sum so far.
//
// From BeginBatch on, the threads that compute a chunk write disjoint parts of its block. When the chunk is done,
// nobody writes it any more: all threads read it, those of Apply, Accumulate or UpdateUnderLocks and those that sum
// relations. A block is valid until the next BeginBatch, an accumulated row until the Apply that uses it.
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
#include "base/per_thread.h"
#include "io/file.h"
#include "io/mapped_range.h"
#include "tables/mmap_manager.h"
#include "tables/node_rows.h"
#include "tables/product_sums.h"

namespace octavo {

// Groups the gradients of a batch or chunk by node. The gradients of a row are summed by one task, in the order in
// which they were listed, so the sums have the same bits however the work is split.
//
// Lists the addresses of gradients; they must be written before they are read. Keeps its memory. One thread at a time,
// except in Arrivals.
class GradientsByNode {
 public:
  // Where the gradients of one node are in the order.
  struct Segment {
    NodeId node{};
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  void Clear() {
    listed_.clear();
    has_products_ = false;
  }
  // REQUIRES: fewer than 2^32 gradients in total
  void Add(const RowGradient& gradient) {
    listed_.push_back(gradient);
    has_products_ = has_products_ || gradient.product != nullptr;
  }
  std::span<const RowGradient> listed() const { return listed_; }
  bool has_products() const { return has_products_; }
  // Orders the gradients listed since Clear by node, those of one node as listed. The gradients may be written
  // meanwhile.
  void Order();

  // ---- After Order.
  // One segment per node, in ascending order of nodes.
  std::span<const Segment> segments() const { return segments_; }
  // The floats of the gradient at place `at` of the order.
  const float* gradient(std::uint32_t at) const { return listed_[order_[at]].values; }
  // The gradients of segments [first, last), in the order of the list, for SumArrivals (tables/product_sums.h): rows
  // are segments, counted from `first`. Valid until the next call for one of these segments. Threads may call it
  // concurrently for different segments.
  std::span<const std::uint64_t> Arrivals(std::size_t first, std::size_t last);

  // Returns an error if a node lacks a resident row in either table.
  absl::Status CheckRows(const MmapManager& embeddings, const MmapManager& state) const;

 private:
  void AddToSegments(std::uint32_t at, NodeId node);
  void SortTogether(unsigned index_bits);
  void SortApart();

  std::vector<RowGradient> listed_;
  bool has_products_ = false;
  std::vector<std::uint64_t> keys_;   // a node and, in the low bits, its gradient's place; then arrivals
  std::vector<std::uint32_t> order_;  // places in listed_
  std::vector<Segment> segments_;
};

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
  // Returns an error unless the file's first page is one that Create has written, of this size, or Create is just
  // making the file. The rest of it has no meaning for another process.
  static absl::Status CheckFile(const std::filesystem::path& path);
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

  // Calls `update` once for each row that has gradients, with their sum, on all threads: the accumulated sums, or where
  // there are none those of the batch. Nothing is accumulated then. A row without a resident partition is an error and
  // nothing is updated. Embeddings of bf16 are rounded by `rounding`. Takes no locks, as each row is updated by one
  // task. REQUIRES: no other thread reads or writes a listed row meanwhile
  absl::Status Apply(RowUpdate update, MmapManager& embeddings, MmapManager& state, const RowRounding& rounding);

  // ---- An update by one chunk alone.

  // Updates the rows of `chunk`, which is ordered and has no products, each under its exclusive lock in `embeddings`.
  // Any number of threads concurrently, each with its own chunk.
  absl::Status UpdateUnderLocks(const GradientsByNode& chunk, RowUpdate update, MmapManager& embeddings,
                                MmapManager& state, const RowRounding& rounding);

 private:
  // Bytes [begin, end) of the mapping. Those before `populated` are private pages of this process.
  struct Region {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t populated = 0;
  };
  // Each thread's.
  struct Worker {
    AlignedFloats sums;
    std::vector<float> wide;  // of rows of bf16
  };

  MmapGradientAccumulator(File file, std::byte* mapping, std::uint64_t mapped_bytes, std::size_t dim,
                          const GradientCapacity& capacity);

  float* AccumulatedRow(std::uint32_t row) const;
  absl::Status Populate(Region& region, std::uint64_t bytes);
  std::span<const float> SumOf(const GradientsByNode& by_node, std::size_t segment, AlignedFloats& sum) const;
  absl::Status ApplyAccumulated(RowUpdate update, MmapManager& embeddings, MmapManager& state,
                                const RowRounding& rounding);

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
  NodeRows accumulated_;
  PerThread<Worker> workers_;
};

}  // namespace octavo
