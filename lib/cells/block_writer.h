// Writes edges that come in the order of a cell file, with their ids: some of another file's, for example.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "base/edge.h"
#include "cells/cell_writer.h"
#include "cells/edge_record.h"
#include "format/cells.h"

namespace octavo {

// Holds one block. One owner; `writer` and `layout` must outlive it.
class BlockWriter {
 public:
  BlockWriter(CellWriter& writer, const CellsHeader& layout) : writer_(writer), layout_(layout) {}

  // Adds an edge of the cell that `block` is of. REQUIRES: cells come in row-major order
  absl::Status Add(const Edge& edge, const BlockRecord& block);
  // Writes what is held. Call it last.
  absl::Status Flush();

 private:
  CellWriter& writer_;
  const CellsHeader& layout_;
  BlockRecord cell_;
  std::vector<EdgeRecord> edges_;
};

}  // namespace octavo
