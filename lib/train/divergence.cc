#include "train/divergence.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "base/float_rows.h"
#include "base/status.h"
#include "fmt/format.h"
#include "model/chunk_kernel.h"

namespace octavo {
namespace {

std::string Describe(const Graph& graph, const Edge& edge) {
  const bool inverse = Value(edge.relation) >= graph.relation_count();
  const std::uint32_t relation = Value(edge.relation) - (inverse ? graph.relation_count() : 0);
  return fmt::format("\"{}\" \"{}\" \"{}\"", Escape(graph.nodes().Name(inverse ? edge.tail : edge.head)),
                     Escape(graph.RelationName(static_cast<RelationId>(relation))),
                     Escape(graph.nodes().Name(inverse ? edge.head : edge.tail)));
}

// The input with only edge `edge` of query `query`, against all negatives.
ChunkInput OneEdge(const ChunkInput& input, std::size_t query, std::size_t edge,
                   std::span<const std::uint32_t> one_query) {
  const std::size_t at = edge - (input.begins[query] - input.begins[0]);
  const std::size_t dim = input.tails.size() / input.edges();
  ChunkInput one = input.Slice(query, query + 1);
  one.begins = one_query;
  one.tails = one.tails.subspan(at * dim, dim);
  for (std::span<const float>* const weights : {&one.weights, &one.tail_weights, &one.head_weights}) {
    if (!weights->empty()) *weights = weights->subspan(at, 1);
  }
  one.edge_relations = one.edge_relations.subspan(at, 1);
  one.answers = {};
  one.tail_masks = one.head_masks = {};
  one.tail_groups = one.head_groups = {};
  return one;
}

}  // namespace

// The kernel returns the sum over a chunk or piece; computing one edge at a time finds the one that is not finite.
absl::Status LossDiverged(const TrainOptions& options, const Graph& graph, const BatchPlace& place,
                          std::span<const Edge> edges, const ChunkInput& input, const ChunkGradients& gradients,
                          const ChunkLoss& loss) {
  ChunkKernel kernel(options.model_spec(), options.loss_spec(graph.node_count()), options.regularizer_spec(), {},
                     static_cast<float>(options.relation_prediction), options.bf16_backend());
  const std::vector<std::uint32_t> one_query = OneQueryEach(1);
  edges = edges.subspan(input.begins[0], input.edges());
  const Edge* culprit = nullptr;
  for (std::size_t q = 0; q < input.queries() && culprit == nullptr; ++q) {
    for (std::size_t i = input.begins[q] - input.begins[0]; i < input.begins[q + 1] - input.begins[0]; ++i) {
      const ChunkLoss alone = kernel.Compute(OneEdge(input, q, i, one_query), gradients.Slice(input, q, q + 1));
      if (std::isfinite(alone.loss) && std::isfinite(alone.penalty)) continue;
      culprit = &edges[i];
      break;
    }
  }
  return DivergedError(
      fmt::format("the loss is not finite ({} + {}) in epoch {}, batch {}, {} {}; the last commit stands; try a "
                  "smaller learning-rate "
                  "or initial-scale",
                  loss.loss, loss.penalty, place.epoch + 1, place.batch + 1,
                  // A loss can be infinite with dropout and finite without.
                  culprit != nullptr ? "at the edge" : "in the chunk that begins with",
                  Describe(graph, culprit != nullptr ? *culprit : edges.front())));
}

absl::Status CheckRowsFinite(const Graph& graph, const MmapManager& embeddings, const RelationTable& relations,
                             std::span<const NodeRange> resident, bool nodes, const BatchPlace& place) {
  const auto explain = [&](std::string_view kind, std::string_view name) {
    return DivergedError(
        fmt::format("the row of the {} \"{}\" is not finite by epoch {}, batch {}; the last commit stands; try a "
                    "smaller learning-rate, or smaller weights",
                    kind, Escape(name), place.epoch + 1, place.batch + 1));
  };
  for (std::uint64_t row = 0; row < relations.rows(); ++row) {
    if (AllFinite(relations.Row(row))) continue;
    const std::uint64_t relation = row % graph.relation_count();  // reciprocal rows come after the others
    return explain("relation", graph.RelationName(static_cast<RelationId>(relation)));
  }
  if (!nodes) return absl::OkStatus();
  std::vector<float> row(embeddings.columns());
  for (const NodeRange& range : resident) {
    for (std::uint64_t node = range.begin; node < range.end; ++node) {
      RETURN_IF_ERROR(embeddings.ReadRowUnlocked(static_cast<NodeId>(node), row));
      if (!AllFinite(row)) return explain("node", graph.nodes().Name(static_cast<NodeId>(node)));
    }
  }
  return absl::OkStatus();
}

}  // namespace octavo
