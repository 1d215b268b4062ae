// The gradients of an accumulation window of several batches: compact rows for the nodes that the window touched, in a
// mapped scratch file. Cost and memory are O(touched rows), whatever the size of the graph. A window of one batch needs
// none of this: its sums are used as they are made (tables/contributions.h).
//
// Sums are deterministic: the contributions to a row are added in the order in which they were handed over, on one
// thread, whatever the number of threads. The file is mapped copy-on-write, so gradients never reach the disk, and
// holds nothing that outlives the process: it is made anew each time.
//
// Threads: one caller at a time; AccumulateBatch and Apply use TBB's workers inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "io/file.h"
#include "io/mapped_range.h"
#include "tables/contributions.h"
#include "tables/mmap_manager.h"

namespace octavo {

class MmapGradientAccumulator {
 public:
  // Makes the scratch file for at most `max_rows` rows of `dim` floats in one window. An old file of that name is
  // replaced: gradients of an earlier process never surface.
  static absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> Create(const std::filesystem::path& path,
                                                                         std::size_t dim, std::uint64_t max_rows);
  ~MmapGradientAccumulator();
  MmapGradientAccumulator(const MmapGradientAccumulator&) = delete;
  MmapGradientAccumulator& operator=(const MmapGradientAccumulator&) = delete;

  // Adds one gradient to the row of `node`; one of another width than dim is an error.
  absl::Status Accumulate(NodeId node, std::span<const float> gradient);
  // Adds many, in parallel over nodes; those to one node in the order of `contributions`. More nodes in the window
  // than max_rows, or a disk or memory that fails, is an error, and then the window is as it was.
  absl::Status AccumulateBatch(std::span<const Contribution> contributions);

  // Nodes touched since Zero, ascending.
  std::span<const NodeId> touched() const { return nodes_; }
  // Returns the sum for `node`, valid until the next call; an error where the window did not touch it.
  absl::StatusOr<std::span<const float>> Gradient(NodeId node) const;

  // Calls `update` for each touched row, in parallel, each under the row's exclusive lock in `embeddings`. `state` has
  // the same rows. The gradients stay until Zero.
  // A touched node without a resident row is an error and nothing is updated; so are embeddings of bf16 without a
  // `rounding`.
  absl::Status Apply(RowUpdate update, MmapManager& embeddings, MmapManager& state,
                     std::optional<RowRounding> rounding = std::nullopt) const;

  // Starts the next window.
  void Zero();

 private:
  // The row of the mapping that a segment of by_node_ is summed in.
  struct SegmentRow {
    std::uint32_t row = 0;
    bool fresh = true;  // it holds nothing of this window yet
  };

  MmapGradientAccumulator(File file, std::byte* mapping, std::uint64_t mapped_bytes, std::size_t dim,
                          std::uint64_t max_rows);

  float* Row(std::uint32_t row) const;
  absl::Status AssignRows();
  absl::Status Populate(std::uint64_t rows);
  void MergeTouched();

  // Constant after construction.
  const File file_;
  std::byte* const mapping_;
  const std::uint64_t mapped_bytes_;
  MappedRange range_;
  const std::size_t dim_;
  const std::uint64_t max_rows_;
  // The caller's.
  std::uint64_t populated_bytes_ = 0;  // of the mapping, from its beginning: pages that are this process's own
  std::vector<NodeId> nodes_;          // touched, ascending
  std::vector<std::uint32_t> rows_;    // rows_[i] is the mapping's row of nodes_[i]
  // Kept between calls for their memory.
  ContributionsByNode by_node_;
  std::vector<SegmentRow> segment_rows_;  // of each segment
};

}  // namespace octavo
