#include "import/base_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

void AppendQuoted(std::string_view name, std::string& out) {
  out += '"';
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

LineLayout BaseText::LayoutOf(const GraphDescription& graph) {
  Columns columns{.head = 0};
  int next = 1;
  if (graph.has_relations) columns.relation = next++;
  columns.tail = next++;
  if (graph.has_weights) columns.weight = next++;
  columns.count = static_cast<std::size_t>(next);
  return {.format = InputFormat::kCsv, .columns = columns};
}

absl::Status BaseText::AppendName(NodeId node, std::string& out) const {
  const std::string_view name = graph_.nodes().Name(node);
  if (name.empty()) {
    return CorruptError(fmt::format("{}: no name of node {}; expected a line of {}; import the graph again",
                                    graph_.paths().NodeOffsets().string(), Value(node),
                                    graph_.paths().NodeNames().string()));
  }
  AppendQuoted(name, out);
  return absl::OkStatus();
}

void BaseText::TurnTo(const BlockRecord& block) {
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

absl::StatusOr<std::optional<std::string>> BaseText::Next() {
  if (block_ == cells_.block_count()) return std::nullopt;
  const BlockRecord& block = cells_.block(block_);
  TurnTo(block);
  edges_.resize(block.edges);
  RETURN_IF_ERROR(cells_.ReadBlock(block_, edges_, scratch_));
  cells_.Forget(block_, block_ + 1);
  bytes_read_ += block.edges * EdgeBytes(cells_.header());
  ++block_;
  const GraphDescription& graph = graph_.description();
  std::string text;
  for (const Edge& edge : edges_) {
    RETURN_IF_ERROR(AppendName(edge.head, text));
    text += ',';
    if (graph.has_relations) {
      AppendQuoted(graph_.RelationName(edge.relation), text);
      text += ',';
    }
    RETURN_IF_ERROR(AppendName(edge.tail, text));
    if (graph.has_weights) fmt::format_to(std::back_inserter(text), ",{}", edge.weight);
    text += '\n';
  }
  return text;
}

}  // namespace octavo
