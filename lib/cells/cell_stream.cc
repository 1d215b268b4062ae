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
  const bool copy = has_last_ && last_.part() == edge.part() && SameTriple(last_, edge);
  if (copy) ++out_.duplicates[static_cast<std::size_t>(edge.part())];
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
  const auto part = static_cast<std::size_t>(edge.part());
  std::vector<EdgeRecord>& block = blocks_[part];
  block.push_back(edge);
  // A sum above the largest float stays finite.
  if (merge_) {
    block.back().weight =
        static_cast<float>(std::min(last_weight_, static_cast<double>(std::numeric_limits<float>::max())));
  }
  if (edge.part() == Part::kTrain) {
    ++out_.relation_train_edges[edge.relation()];
    train_ = edge;
    has_train_ = true;
  } else if (has_train_ && SameTriple(train_, edge)) {
    ++out_.also_in_train[part];
  }
  return block.size() == kMaxBlockEdges ? WriteBlock(part) : absl::OkStatus();
}

absl::Status CellStream::EndCell() {
  if (std::exchange(has_last_, false) && merge_) RETURN_IF_ERROR(Emit(last_));
  for (std::size_t part = 0; part < blocks_.size(); ++part) RETURN_IF_ERROR(WriteBlock(part));
  return absl::OkStatus();
}

absl::Status CellStream::WriteBlock(std::size_t part) {
  if (blocks_[part].empty()) return absl::OkStatus();
  const EncodedCell block =
      EncodeCell(blocks_[part], cell_ / layout_.partition_count, cell_ % layout_.partition_count, layout_);
  blocks_[part].clear();
  return writers_[part].Append(block);
}

}  // namespace octavo
