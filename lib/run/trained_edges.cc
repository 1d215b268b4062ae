#include "run/trained_edges.h"

#include <vector>

#include "base/status.h"
#include "cells/cell_writer.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Collects the edges of a cell and writes them in blocks.
class BlockWriter {
 public:
  BlockWriter(CellWriter& writer, const CellsHeader& layout) : writer_(writer), layout_(layout) {}

  void TurnTo(const BlockRecord& block) { cell_ = block; }
  bool IsOf(const BlockRecord& block) const {
    return cell_.head_partition == block.head_partition && cell_.tail_partition == block.tail_partition;
  }
  absl::Status Add(const Edge& edge) {
    EdgeRecord record;
    record.head = static_cast<std::uint32_t>(Value(edge.head));
    record.tail = static_cast<std::uint32_t>(Value(edge.tail));
    record.set_relation(Value(edge.relation));
    record.weight = edge.weight;
    edges_.push_back(record);
    return edges_.size() < kMaxBlockEdges ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() {
    if (edges_.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(writer_.Append(EncodeCell(edges_, cell_.head_partition, cell_.tail_partition, layout_)));
    edges_.clear();
    return absl::OkStatus();
  }

 private:
  CellWriter& writer_;
  const CellsHeader& layout_;
  BlockRecord cell_;
  std::vector<EdgeRecord> edges_;
};

}  // namespace

absl::StatusOr<CellReader> WriteTrainedEdges(const Graph& graph, const KnownRows& known, bool relations,
                                             const std::filesystem::path& path, const std::function<bool()>& stop) {
  const CellReader& cells = graph.Edges(Split::kTrain);
  CellsHeader layout = cells.header();
  layout.edge_count = 0;
  ASSIGN_OR_RETURN(CellWriter writer, CellWriter::Create(path, layout));
  BlockWriter blocks(writer, layout);
  // Reciprocal relations come after the others.
  const auto knows_relation = [&](std::uint64_t relation) {
    for (; relation < known.relations.rows(); relation += graph.relation_count()) {
      if (!known.relations.Has(relation)) return false;
    }
    return true;
  };
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    if (stop && stop()) return absl::CancelledError("interrupted");
    const BlockRecord& record = cells.block(block);
    if (!blocks.IsOf(record)) {
      RETURN_IF_ERROR(blocks.Flush());
      blocks.TurnTo(record);
    }
    edges.resize(record.edges);
    RETURN_IF_ERROR(cells.ReadBlock(block, edges, scratch));
    cells.Forget(block, block + 1);
    for (const Edge& edge : edges) {
      const bool is_known = known.nodes.Has(Value(edge.head)) && known.nodes.Has(Value(edge.tail)) &&
                            (!relations || knows_relation(Value(edge.relation)));
      if (!is_known) RETURN_IF_ERROR(blocks.Add(edge));
    }
  }
  RETURN_IF_ERROR(blocks.Flush());
  ASSIGN_OR_RETURN(const CellsHeader header, writer.Finish());
  if (header.edge_count > 0) return CellReader::Open(path);
  return UsageError(fmt::format("{}: no training edge has a node or a relation that is new; expected edges all",
                                graph.paths().folder().string()));
}

}  // namespace octavo
