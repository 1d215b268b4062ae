// The gradients of one update, of a batch or of several, in a mapped scratch file: a block for each chunk of the batch
// under way and, where several batches make an update, a row for each node that they touched, with its sum so far.
//
// Who computes a chunk writes its block, alone, between BeginBatch and the call that sums it; that call reads it, on
// all threads; a block is valid until the next BeginBatch, an accumulated row until the Apply that updates by it.
//
// Sums are deterministic: the gradients of a row are added in the order in which they were listed, on one thread,
// whatever the number of threads. The file is mapped copy-on-write, so gradients never reach the disk, and holds
// nothing that outlives the process: it is made anew each time. Cost is O(listed rows), whatever the size of the graph.
//
// Threads: one caller at a time, which uses TBB's workers inside; UpdateUnderLocks is for all threads at once.
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
#include "tables/mmap_manager.h"
#include "tables/node_rows.h"
#include "tables/product_sums.h"

namespace octavo {

// The gradients of a batch or chunk, brought together by node: each row's are summed in one place and in the order in
// which they were listed, so the sums are the same bits however the work is split.
//
// Lists where gradients are; who reads them needs them written. Keeps its memory. One thread at a time, but Arrivals.
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
  // REQUIRES: fewer than 2^32 in all
  void Add(const RowGradient& gradient) {
    listed_.push_back(gradient);
    has_products_ = has_products_ || gradient.product != nullptr;
  }
  std::span<const RowGradient> listed() const { return listed_; }
  bool has_products() const { return has_products_; }
  // Orders what was listed since Clear: by node, those of one node as they came. The gradients may be written
  // meanwhile.
  void Order();

  // ---- After Order.
  // One for each node, ascending.
  std::span<const Segment> segments() const { return segments_; }
  // The floats of the gradient at place `at` of the order.
  const float* gradient(std::uint32_t at) const { return listed_[order_[at]].values; }
  // The gradients of segments [first, last) as they came: each is its place among those listed, shifted left by 32
  // bits, and its segment, counted from `first`. Valid until the next call for one of these segments. Threads may ask
  // for different segments at once.
  std::span<const std::uint64_t> Arrivals(std::size_t first, std::size_t last);

  // An error where a node has no resident row in both tables.
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

// Updates one row: gradient, the row, its optimizer state. All are floats, whatever the rows are stored as.
using RowUpdate = absl::FunctionRef<void(std::span<const float>, std::span<float>, std::span<float>)>;

// What the file has room for at most.
struct GradientCapacity {
  std::uint64_t block_floats = 0;      // of all chunks of a batch together
  std::uint64_t accumulated_rows = 0;  // sums over several batches; for one batch none are kept
};

class MmapGradientAccumulator {
 public:
  // Makes the scratch file for rows of `dim` floats. An old file of that name is replaced: gradients of an earlier
  // process never surface.
  static absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> Create(const std::filesystem::path& path,
                                                                         std::size_t dim,
                                                                         const GradientCapacity& capacity);
  // The file's size; nullopt where that overflows.
  static std::optional<std::uint64_t> FileBytes(std::size_t dim, const GradientCapacity& capacity);
  ~MmapGradientAccumulator();
  MmapGradientAccumulator(const MmapGradientAccumulator&) = delete;
  MmapGradientAccumulator& operator=(const MmapGradientAccumulator&) = delete;

  // ---- A batch.

  // Gives each chunk its block, of floats[i] floats, one after the other; what they hold is undefined, and nothing is
  // listed. More floats than block_floats, or a disk or memory that fails, is an error.
  absl::Status BeginBatch(std::span<const std::uint64_t> floats);
  std::span<float> block(std::size_t chunk) const { return blocks_[chunk]; }
  // Lists and orders the batch's gradients. They may be written meanwhile.
  GradientsByNode& batch() { return batch_; }

  // ---- An update. REQUIRES: batch() is ordered and its gradients are written

  // Adds the batch to the accumulated sums, for an update by several batches. More nodes than accumulated_rows, or a
  // disk or memory that fails, is an error, and then the sums are as they were. REQUIRES: no gradient is a product
  absl::Status Accumulate();

  // Calls `update` once for each row that has gradients, with their sum, on all threads: the accumulated sums, or where
  // there are none those of the batch. Nothing is accumulated then. A row without a resident partition is an error and
  // nothing is updated. Embeddings of bf16 are rounded by `rounding`. Takes no locks, as each row is updated by one
  // task. REQUIRES: no other thread reads or writes a row of the tables meanwhile
  absl::Status Apply(RowUpdate update, MmapManager& embeddings, MmapManager& state, const RowRounding& rounding);

  // ---- An update by one chunk alone.

  // Updates the rows of `chunk`, which is ordered and has no products, each under its exclusive lock in `embeddings`.
  // Any threads at once, each with its own chunk.
  absl::Status UpdateUnderLocks(const GradientsByNode& chunk, RowUpdate update, MmapManager& embeddings,
                                MmapManager& state, const RowRounding& rounding);

 private:
  // Bytes [begin, end) of the mapping, of which those before `populated` are pages of this process.
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

  MmapGradientAccumulator(File file, std::byte* mapping, std::uint64_t mapped_bytes, std::size_t dim,
                          const GradientCapacity& capacity);

  float* AccumulatedRow(std::uint32_t row) const;
  absl::Status Populate(Region& region, std::uint64_t bytes);
  std::span<const float> SumOf(const GradientsByNode& by_node, std::size_t segment, std::vector<float>& sum) const;
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
  tbb::enumerable_thread_specific<Worker> workers_;
};

}  // namespace octavo
