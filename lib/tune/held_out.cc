#include "tune/held_out.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "cells/block_writer.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "graph/each_edge.h"
#include "graph/graph_copy.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

constexpr double kShare = 0.05;
constexpr double kMostShare = 0.2;
constexpr double kLeastEdges = 100;  // fewer do not tell candidates apart
constexpr double kMostEdges = 5000;  // more take long to rank

class HeldOutGraph {
 public:
  HeldOutGraph(const Graph& graph, std::uint64_t seed, GraphPaths paths, const std::function<bool()>& stop)
      : graph_(graph),
        seed_(seed),
        share_(HeldOutShare(graph.description().train_edges)),
        paths_(std::move(paths)),
        stop_(stop),
        relation_edges_(graph.relation_count()) {}

  absl::StatusOr<GraphDescription> Make() {
    std::array<CellsHeader, 3> headers;
    ASSIGN_OR_RETURN(headers[0], WriteSplit(Split::kTrain));
    ASSIGN_OR_RETURN(headers[1], WriteSplit(Split::kValid));
    if (headers[0].edge_count == 0 || headers[1].edge_count == 0) {
      return UsageError(fmt::format(
          "{}: {} training edges are too few to hold some out; expected a graph imported with --valid FILE or --split",
          graph_.paths().folder().string(), graph_.description().train_edges));
    }
    ASSIGN_OR_RETURN(headers[2], CopyCells(graph_.Edges(Split::kTest), paths_.Cells(Split::kTest), Layout(), stop_));
    RETURN_IF_ERROR(graph_.nodes().CheckAll(stop_));
    RETURN_IF_ERROR(CopyNodes(graph_.paths(), paths_, stop_));
    if (graph_.labels() != nullptr) RETURN_IF_ERROR(CopyLabels(graph_.paths(), paths_, stop_));
    return Describe(headers);
  }

 private:
  CellsHeader Layout() const {
    CellsHeader layout = graph_.Edges(Split::kTrain).header();
    layout.edge_count = 0;
    return layout;
  }
  bool IsHeldOut(const Edge& edge) const {
    const auto [low, high] = std::minmax<std::uint64_t>({Value(edge.head), Value(edge.tail)});
    return RandomStream(seed_, RandomPurpose::kHeldOut, static_cast<std::uint32_t>(low), high).NextFloat() <
           static_cast<float>(share_);
  }

  absl::StatusOr<CellsHeader> WriteSplit(Split split) {
    const CellsHeader layout = Layout();
    const CellReader& cells = graph_.Edges(Split::kTrain);
    ASSIGN_OR_RETURN(CellWriter writer, CellWriter::Create(paths_.Cells(split), layout));
    BlockWriter blocks(writer, layout);
    std::vector<Edge> edges;
    std::vector<std::byte> scratch;
    for (std::size_t block = 0; block < cells.block_count(); ++block) {
      if (stop_ && stop_()) return absl::CancelledError("interrupted");
      edges.resize(cells.block(block).edges);
      RETURN_IF_ERROR(cells.ReadBlock(block, edges, scratch));
      cells.Forget(block, block + 1);
      for (const Edge& edge : edges) {
        if (IsHeldOut(edge) != (split == Split::kValid)) continue;
        if (split == Split::kTrain) ++relation_edges_[Value(edge.relation)];
        RETURN_IF_ERROR(blocks.Add(edge, cells.block(block)));
      }
    }
    RETURN_IF_ERROR(blocks.Flush());
    return writer.Finish();
  }

  absl::StatusOr<GraphDescription> Describe(const std::array<CellsHeader, 3>& headers) const {
    GraphDescription description = graph_.description();
    const nlohmann::ordered_json origin = {
        {"source_fingerprint", fmt::format("{:016x}", description.fingerprint)}, {"share", share_}, {"seed", seed_}};
    description.train_edges = headers[0].edge_count;
    description.valid_edges = headers[1].edge_count;
    std::string relations;
    for (std::uint32_t relation = 0; relation < graph_.relation_count(); ++relation) {
      relations += fmt::format("{}\t{}\n", graph_.RelationName(RelationId{relation}), relation_edges_[relation]);
    }
    RETURN_IF_ERROR(WriteWholeFileAtomically(paths_.Relations(), relations));
    description.fingerprint =
        GraphFingerprint(headers, graph_.nodes().hash_header(), graph_.nodes().offset_header(), relations);
    RETURN_IF_ERROR(
        WriteWholeFileAtomically(paths_.Description(), EncodeGraphDescription(description, origin.dump(), "tune")));
    return description;
  }

  const Graph& graph_;
  const std::uint64_t seed_;
  const double share_;
  const GraphPaths paths_;
  const std::function<bool()>& stop_;
  std::vector<std::uint64_t> relation_edges_;
};

}  // namespace

double HeldOutShare(std::uint64_t train_edges) {
  const auto edges = static_cast<double>(std::max<std::uint64_t>(train_edges, 1));
  return std::min(kMostShare, std::max(std::min(kShare, kMostEdges / edges), kLeastEdges / edges));
}

absl::StatusOr<std::uint64_t> CountValidPairs(const Graph& graph) {
  std::set<std::pair<NodeId, NodeId>> pairs;
  RETURN_IF_ERROR(ForEachEdge(graph.Edges(Split::kValid), {}, [&](const Edge& edge) {
    pairs.emplace(std::min(edge.head, edge.tail), std::max(edge.head, edge.tail));
  }));
  return pairs.size();
}

absl::StatusOr<GraphDescription> MakeHeldOutGraph(const Graph& graph, std::uint64_t seed,
                                                  const std::filesystem::path& folder,
                                                  const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(const bool made, FileExists(GraphPaths(folder).Description()));
  if (made) return ReadGraphDescription(GraphPaths(folder));
  ASSIGN_OR_RETURN(AtomicFolder made_folder,
                   AtomicFolder::Create(folder, /*overwrite=*/false, GraphPaths::FileNames()));
  absl::StatusOr<GraphDescription> description = HeldOutGraph(graph, seed, GraphPaths(made_folder.path()), stop).Make();
  if (!description.ok()) return made_folder.UnderFinalName(description.status());
  RETURN_IF_ERROR(made_folder.Commit());
  return description;
}

}  // namespace octavo
