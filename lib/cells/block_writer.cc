#include "cells/block_writer.h"

#include "base/status.h"

namespace octavo {

absl::Status BlockWriter::Add(const Edge& edge, const BlockRecord& block) {
  if (cell_.head_partition != block.head_partition || cell_.tail_partition != block.tail_partition) {
    RETURN_IF_ERROR(Flush());
    cell_ = block;
  }
  EdgeRecord record;
  record.head = static_cast<std::uint32_t>(Value(edge.head));
  record.tail = static_cast<std::uint32_t>(Value(edge.tail));
  record.set_relation(Value(edge.relation));
  record.weight = edge.weight;
  edges_.push_back(record);
  return edges_.size() < kMaxBlockEdges ? absl::OkStatus() : Flush();
}

absl::Status BlockWriter::Flush() {
  if (edges_.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(writer_.Append(EncodeCell(edges_, cell_.head_partition, cell_.tail_partition, layout_)));
  edges_.clear();
  return absl::OkStatus();
}

}  // namespace octavo
