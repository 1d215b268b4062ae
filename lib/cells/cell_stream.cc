#include "cells/cell_stream.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/status.h"
#include "cells/cell_sorter.h"

namespace octavo {

absl::Status CellStream::Push(std::uint32_t cell, const EdgeRecord& edge) {
  if (cell != cell_) {
    RETURN_IF_ERROR(EndCell());
    cell_ = cell;
  }
  const bool copy = has_last_ && last_.split() == edge.split() && SameTriple(last_, edge);
  if (copy) ++out_.duplicates[static_cast<std::size_t>(edge.split())];
  if (!merge_) {
    last_ = edge;
    has_last_ = true;
    return Emit(edge);
  }
  if (copy) {
    last_weight_ += edge.weight;
    return absl::OkStatus();
  }
  if (std::exchange(has_last_, true)) RETURN_IF_ERROR(Emit(last_));
  last_ = edge;
  last_weight_ = edge.weight;
  return absl::OkStatus();
}

absl::Status CellStream::Finish() { return EndCell(); }

absl::Status CellStream::Emit(const EdgeRecord& edge) {
  const auto split = static_cast<std::size_t>(edge.split());
  std::vector<EdgeRecord>& block = blocks_[split];
  block.push_back(edge);
  // Clamps a sum above the largest float, so that it stays finite.
  if (merge_) {
    block.back().weight =
        static_cast<float>(std::min(last_weight_, static_cast<double>(std::numeric_limits<float>::max())));
  }
  if (edge.split() == EdgeSplit::kTrain) {
    ++out_.relation_train_edges[edge.relation()];
    train_ = edge;
    has_train_ = true;
  } else if (has_train_ && SameTriple(train_, edge)) {
    ++out_.also_in_train[split];
  }
  return block.size() == kMaxBlockEdges ? WriteBlock(split) : absl::OkStatus();
}

absl::Status CellStream::EndCell() {
  if (std::exchange(has_last_, false) && merge_) RETURN_IF_ERROR(Emit(last_));
  for (std::size_t split = 0; split < blocks_.size(); ++split) RETURN_IF_ERROR(WriteBlock(split));
  return absl::OkStatus();
}

absl::Status CellStream::WriteBlock(std::size_t split) {
  if (blocks_[split].empty()) return absl::OkStatus();
  const EncodedCell block =
      EncodeCell(blocks_[split], cell_ / layout_.partition_count, cell_ % layout_.partition_count, layout_);
  blocks_[split].clear();
  return writers_[split].Append(block);
}

}  // namespace octavo
