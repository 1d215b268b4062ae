#include "parse/base_edges.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

struct RecordHead {
  std::uint32_t head = 0;
  std::uint32_t relation = 0;
  std::uint32_t tail = 0;
  float weight = 1;
};

}  // namespace

LineLayout BaseEdges::LayoutOf(const GraphDescription& graph) {
  Columns columns{.head = 0};
  int next = 1;
  if (graph.has_relations) columns.relation = next++;
  columns.tail = next++;
  if (graph.has_weights) columns.weight = next++;
  columns.count = static_cast<std::size_t>(next);
  return {.columns = columns, .of_base = true};
}

absl::StatusOr<std::string_view> BaseEdges::NameOf(NodeId node) const {
  const std::string_view name = graph_.nodes().Name(node);
  RETURN_IF_ERROR(graph_.nodes().status());
  return name;
}

// Consecutive blocks mostly share a partition; its names stay in the page cache.
void BaseEdges::TurnTo(const BlockRecord& block) {
  const GraphDescription& graph = graph_.description();
  const auto of = [](const std::optional<BlockRecord>& b, std::uint32_t partition) {
    return b && (b->head_partition == partition || b->tail_partition == partition);
  };
  const auto each = [&](const BlockRecord& b, const auto& unless, const auto& work) {
    for (const std::uint32_t partition : {b.head_partition, b.tail_partition}) {
      const std::uint64_t first = partition * graph.partition_rows;
      if (!of(unless, partition)) work(first, std::min(graph.partition_rows, graph.node_count - first));
    }
  };
  if (last_) {
    each(*last_, std::optional(block), [&](auto first, auto count) { graph_.nodes().Forget(first, count); });
  }
  each(block, last_, [&](auto first, auto count) { graph_.nodes().WillRead(first, count); });
  last_ = block;
}

absl::Status BaseEdges::ReadBlock() {
  const BlockRecord& block = cells_.block(block_);
  TurnTo(block);
  edges_.resize(block.edges);
  edge_ = 0;
  RETURN_IF_ERROR(cells_.ReadBlock(block_, edges_, scratch_));
  cells_.Forget(block_, block_ + 1);
  bytes_read_ += block.edges * EdgeBytes(cells_.header());
  ++block_;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> BaseEdges::Next() {
  std::string records;
  while (records.size() < kChunkBytes) {
    if (edge_ == edges_.size()) {
      if (!records.empty()) break;
      if (block_ == cells_.block_count()) return std::nullopt;
      RETURN_IF_ERROR(ReadBlock());
      continue;
    }
    const Edge& edge = edges_[edge_++];
    ASSIGN_OR_RETURN(const std::string_view head, NameOf(edge.head));
    ASSIGN_OR_RETURN(const std::string_view tail, NameOf(edge.tail));
    const std::string_view relation =
        graph_.description().has_relations ? graph_.RelationName(edge.relation) : std::string_view();
    const RecordHead record = {.head = static_cast<std::uint32_t>(head.size()),
                               .relation = static_cast<std::uint32_t>(relation.size()),
                               .tail = static_cast<std::uint32_t>(tail.size()),
                               .weight = edge.weight};
    records.append(reinterpret_cast<const char*>(&record), sizeof(record));
    records.append(head).append(relation).append(tail);
  }
  return records;
}

void ParseBaseEdges(std::string_view records, ParsedChunk& out) {
  while (!records.empty()) {
    RecordHead record;
    std::memcpy(&record, records.data(), sizeof(record));
    records.remove_prefix(sizeof(record));
    const auto take = [&](std::uint32_t bytes) {
      const std::string_view name = records.substr(0, bytes);
      records.remove_prefix(bytes);
      return name;
    };
    ParsedEdge edge;
    edge.head = take(record.head);
    edge.relation = take(record.relation);
    edge.tail = take(record.tail);
    edge.weight = record.weight;
    out.edges.push_back(edge);
    ++out.lines;
  }
}

}  // namespace octavo
