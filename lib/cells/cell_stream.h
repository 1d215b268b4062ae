// Writes edges that arrive one by one, in their final order, into the cells of the three splits.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "cells/cell_writer.h"
#include "cells/edge_record.h"
#include "format/cells.h"

namespace octavo {

// Arrays are indexed by EdgeSplit.
struct WrittenEdges {
  std::array<CellsHeader, 3> headers;
  std::array<std::uint64_t, 3> duplicates{};        // copies of an edge in the same split
  std::array<std::uint64_t, 3> also_in_train{};     // valid and test only
  std::vector<std::uint64_t> relation_train_edges;  // by relation
};

// Holds one block of each split, however large a cell is. One owner, one thread. Writes and counts the same as
// OrderCell, HandleDuplicates, CountShared and EncodeCell do for whole cells.
class CellStream {
 public:
  // `writers` has one for each split. Adds counts to `out`. Keeps references to all arguments.
  CellStream(std::span<CellWriter> writers, const CellsHeader& layout, bool merge_duplicates, WrittenEdges& out)
      : writers_(writers), layout_(layout), merge_(merge_duplicates), out_(out) {}

  // REQUIRES: cells come in row-major order, edges within a cell in the order of OrderedBefore; none is kDropped
  absl::Status Push(std::uint32_t cell, const EdgeRecord& edge);
  // Ends the last cell. Call it before anything else uses the writers, and at the end.
  absl::Status Finish();

 private:
  absl::Status Emit(const EdgeRecord& edge);
  absl::Status EndCell();
  absl::Status WriteBlock(std::size_t split);

  const std::span<CellWriter> writers_;
  const CellsHeader& layout_;
  const bool merge_;
  WrittenEdges& out_;

  std::uint32_t cell_ = 0;
  std::array<std::vector<EdgeRecord>, 3> blocks_;
  bool has_last_ = false;
  EdgeRecord last_;         // last edge of this cell; with merge_ not emitted yet
  double last_weight_ = 0;  // summed over all its copies
  bool has_train_ = false;
  EdgeRecord train_;  // the last edge of train that was emitted
};

}  // namespace octavo
