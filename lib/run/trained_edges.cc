#include "run/trained_edges.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/status.h"
#include "cells/block_writer.h"
#include "cells/cell_writer.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/file.h"
#include "walk/early_ends.h"
#include "walk/walk_pairs.h"

namespace octavo {

WalkOptions WalksOf(const TrainOptions& options, const GraphDescription& graph) {
  WalkOptions walks{.kind = options.walk == Walk::kPersonalPageRank ? WalkKind::kPersonalPageRank : WalkKind::kDeepWalk,
                    .walks = options.walks,
                    .length = options.walk_length,
                    .window = options.walk_window,
                    .samples = options.walks,
                    .pairs = PairDirection::kForward,
                    .seed = options.seed};
  // A symmetric score has no use for the direction of an edge, and walks that follow it end soon.
  walks.both_ways = options.model != ModelKind::kSourceContext && !graph.undirected;
  return walks;
}

std::uint64_t MostTrainedEdges(const TrainOptions& options, const GraphDescription& graph) {
  if (options.walk == Walk::kNone) return graph.train_edges;
  const WalkOptions walks = WalksOf(options, graph);
  const std::uint64_t pairs =
      SaturatingProduct(graph.node_count, SaturatingProduct(walks.walks_of_node(), walks.pairs_of_walk()));
  return std::max<std::uint64_t>(1, std::min(pairs, SaturatingProduct(graph.node_count, graph.node_count)));
}

absl::StatusOr<CellReader> WriteTrainedPairs(const Graph& graph, const TrainOptions& options,
                                             std::uint64_t memory_bytes, const std::filesystem::path& path,
                                             const std::function<bool()>& stop,
                                             const std::function<void(std::string_view)>& warn) {
  RETURN_IF_ERROR(CheckWalkable(graph));
  const WalkOptions walks = WalksOf(options, graph.description());
  ASSIGN_OR_RETURN(const WalkPlan plan, PlanWalksOn(graph, walks, memory_bytes));
  const GraphPaths made(path.parent_path());
  const absl::StatusOr<WalkPairs> pairs = WriteWalkPairs(graph, walks, plan, made.folder(), {.stop = stop});
  for (const Split split : {Split::kValid, Split::kTest}) RETURN_IF_ERROR(RemoveFile(made.Cells(split)));
  if (!pairs.ok()) {
    RETURN_IF_ERROR(RemoveFile(made.Cells(Split::kTrain)));
    return pairs.status();
  }
  if (const std::optional<std::string> ends = EarlyEnds(walks, pairs->walks, pairs->pairs); ends && warn) {
    warn(*ends + ", or train with --model dot, whose walks follow them both ways");
  }
  RETURN_IF_ERROR(RenameFile(made.Cells(Split::kTrain), path));
  return CellReader::Open(path);
}

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
    edges.resize(record.edges);
    RETURN_IF_ERROR(cells.ReadBlock(block, edges, scratch));
    cells.Forget(block, block + 1);
    for (const Edge& edge : edges) {
      const bool is_known = known.nodes.Has(Value(edge.head)) && known.nodes.Has(Value(edge.tail)) &&
                            (!relations || knows_relation(Value(edge.relation)));
      if (!is_known) RETURN_IF_ERROR(blocks.Add(edge, record));
    }
  }
  RETURN_IF_ERROR(blocks.Flush());
  ASSIGN_OR_RETURN(const CellsHeader header, writer.Finish());
  if (header.edge_count > 0) return CellReader::Open(path);
  return UsageError(fmt::format("{}: no training edge has a node or a relation that is new; expected edges all",
                                graph.paths().folder().string()));
}

}  // namespace octavo
