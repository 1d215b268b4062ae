#include "train/chunk_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/escape.h"
#include "base/random.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Rows lie anywhere in memory: those of a few edges ahead are on their way while one is copied.
constexpr std::size_t kRowsAhead = 4;

}  // namespace

ChunkScratch::ChunkScratch(const TrainOptions& options)
    : kernel(options.model_spec(), options.loss_spec(), options.regularizer_spec()) {}

ChunkWork::ChunkWork(const TrainOptions& options, const Graph& graph, const MmapManager& embeddings,
                     const RelationTable& relations)
    : options_(options), graph_(graph), embeddings_(embeddings), relations_(relations), model_(options.model_spec()) {
  SetResidentNodes({{0, graph.node_count()}});
}

void ChunkWork::SetResidentNodes(std::vector<NodeRange> nodes) {
  resident_ = std::move(nodes);
  negatives_ = options_.negatives;
  if (negatives_ > 0) return;
  for (const NodeRange& range : resident_) negatives_ += range.end - range.begin;
}

ChunkPlace ChunkWork::PlaceOf(const BatchPlace& batch, std::span<const Edge> edges, std::size_t chunk) const {
  const std::size_t first = chunk * options_.chunk;
  const std::size_t count = std::min<std::size_t>(options_.chunk, edges.size() - first);
  return {.batch = batch, .chunk = chunk, .edges = edges.subspan(first, count), .edges_of_batch = edges};
}

std::uint64_t ChunkWork::HeadSideRelation(RelationId relation) const {
  return options_.reciprocal ? std::uint64_t{Value(relation)} + graph_.relation_count() : Value(relation);
}

void ChunkWork::DrawNegatives(const ChunkPlace& place, ChunkResult& result) const {
  result.tail_negative_ids.resize(negatives_);
  result.head_negative_ids.resize(negatives_);
  if (options_.negatives == 0) {
    std::size_t at = 0;
    for (const NodeRange& range : resident_) {
      for (std::uint64_t id = range.begin; id < range.end; ++id, ++at) {
        result.tail_negative_ids[at] = result.head_negative_ids[at] = static_cast<NodeId>(id);
      }
    }
    return;
  }
  const auto draw = [&](Side side, std::span<NodeId> out) {
    // A stream for each (epoch, batch, chunk, side): chunk and side share the low 32 bits of the counter's place.
    const std::uint64_t stream = (place.batch.batch << 32) | (place.chunk << 1) | (side == Side::kHead ? 1U : 0U);
    SampleNegatives(
        RandomStream(options_.seed, RandomPurpose::kNegatives, static_cast<std::uint32_t>(place.batch.epoch), stream),
        resident_, place.edges_of_batch, side, static_cast<float>(options_.degree_fraction), out,
        options_.degree_by_weight ? DegreeBy::kWeights : DegreeBy::kEdges);
  };
  draw(Side::kTail, result.tail_negative_ids);
  draw(Side::kHead, result.head_negative_ids);
}

absl::Status ChunkWork::GatherRows(std::span<const Edge> edges, const ChunkResult& result, ChunkRows& rows) const {
  const std::size_t dim = model_.dim;
  rows.heads.resize(edges.size() * dim);
  rows.tails.resize(edges.size() * dim);
  rows.weights.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    if (i + kRowsAhead < edges.size()) {
      embeddings_.PrefetchRow(edges[i + kRowsAhead].head);
      embeddings_.PrefetchRow(edges[i + kRowsAhead].tail);
    }
    RETURN_IF_ERROR(embeddings_.ReadRow(edge.head, std::span(rows.heads).subspan(i * dim, dim)));
    RETURN_IF_ERROR(embeddings_.ReadRow(edge.tail, std::span(rows.tails).subspan(i * dim, dim)));
    rows.weights[i] = edge.weight;
  }
  const auto gather_nodes = [&](std::span<const NodeId> ids, std::vector<float>& to) -> absl::Status {
    to.resize(ids.size() * dim);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i + kRowsAhead < ids.size()) embeddings_.PrefetchRow(ids[i + kRowsAhead]);
      RETURN_IF_ERROR(embeddings_.ReadRow(ids[i], std::span(to).subspan(i * dim, dim)));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(gather_nodes(result.tail_negative_ids, rows.tail_negatives));
  return gather_nodes(result.head_negative_ids, rows.head_negatives);
}

void ChunkWork::Gather(const ChunkPlace& place, ChunkRows& rows, ChunkResult& result) const {
  DrawNegatives(place, result);
  FindAccidentalPositives(place.edges, result.tail_negative_ids, Side::kTail, rows.tail_masks);
  FindAccidentalPositives(place.edges, result.head_negative_ids, Side::kHead, rows.head_masks);
  result.status = GatherRows(place.edges, result, rows);
}

void ChunkWork::GatherRelations(std::span<const Edge> edges, ChunkScratch& scratch) const {
  const std::size_t width = model_.RelationWidth();
  scratch.relations.resize(edges.size() * width);
  scratch.head_relations.resize(edges.size() * width);
  const auto copy_row = [&](std::uint64_t row, std::vector<float>& to, std::size_t i) {
    const std::span<const float> from = relations_.Row(row);
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(i * width));
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    copy_row(Value(edges[i].relation), scratch.relations, i);
    copy_row(HeadSideRelation(edges[i].relation), scratch.head_relations, i);
  }
}

ChunkInput ChunkWork::InputOf(std::size_t edges, const ChunkRows& rows, const ChunkScratch& scratch) const {
  return {.edges = edges,
          .negatives = rows.tail_negatives.size() / model_.dim,
          .heads = rows.heads,
          .tails = rows.tails,
          .relations = scratch.relations,
          .head_relations = scratch.head_relations,
          .weights = rows.weights,
          .tail_negatives = rows.tail_negatives,
          .head_negatives = rows.head_negatives,
          .tail_masks = rows.tail_masks,
          .head_masks = rows.head_masks,
          .reciprocal = options_.reciprocal};
}

ChunkGradients ChunkWork::GradientsOf(std::size_t edges, ChunkResult& result) const {
  result.heads.resize(edges * model_.dim);
  result.tails.resize(edges * model_.dim);
  result.relations.resize(edges * model_.RelationWidth());
  result.head_relations.resize(edges * model_.RelationWidth());
  result.tail_negatives.resize(result.tail_negative_ids.size() * model_.dim);
  result.head_negatives.resize(result.head_negative_ids.size() * model_.dim);
  return {.heads = result.heads,
          .tails = result.tails,
          .relations = result.relations,
          .head_relations = result.head_relations,
          .tail_negatives = result.tail_negatives,
          .head_negatives = result.head_negatives};
}

void ChunkWork::Compute(const ChunkPlace& place, const ChunkRows& rows, ChunkScratch& scratch,
                        ChunkResult& result) const {
  if (!result.status.ok()) return;
  GatherRelations(place.edges, scratch);
  const ChunkInput input = InputOf(place.edges.size(), rows, scratch);
  result.loss = scratch.kernel.Compute(input, GradientsOf(place.edges.size(), result));
  if (std::isfinite(result.loss.loss) && std::isfinite(result.loss.penalty)) return;
  result.status = ExplainLoss(place, input, result.loss);
}

absl::Status ChunkWork::ExplainLoss(const ChunkPlace& place, const ChunkInput& input, const ChunkLoss& loss) const {
  // The kernel gives the sum of a chunk; one edge at a time shows which one it is.
  ChunkKernel kernel(model_, options_.loss_spec(), options_.regularizer_spec());
  ChunkResult unused;
  unused.tail_negative_ids.resize(input.negatives);
  unused.head_negative_ids.resize(input.negatives);
  const std::size_t dim = model_.dim;
  const std::size_t width = model_.RelationWidth();
  const Edge* culprit = &place.edges.front();
  for (std::size_t i = 0; i < place.edges.size(); ++i) {
    ChunkInput one = input;
    one.edges = 1;
    one.heads = input.heads.subspan(i * dim, dim);
    one.tails = input.tails.subspan(i * dim, dim);
    one.relations = input.relations.subspan(i * width, width);
    one.head_relations = input.head_relations.subspan(i * width, width);
    one.weights = input.weights.subspan(i, 1);
    one.tail_masks = one.head_masks = {};
    const ChunkLoss alone = kernel.Compute(one, GradientsOf(1, unused));
    if (std::isfinite(alone.loss) && std::isfinite(alone.penalty)) continue;
    culprit = &place.edges[i];
    break;
  }
  return RuntimeError(fmt::format(
      "the loss is not finite ({} + {}) in epoch {}, batch {}, at the edge \"{}\" \"{}\" \"{}\"; the last commit "
      "stands; try a smaller learning-rate or initial-scale",
      loss.loss, loss.penalty, place.batch.epoch + 1, place.batch.batch + 1, Escape(graph_.nodes().Name(culprit->head)),
      Escape(graph_.RelationName(culprit->relation)), Escape(graph_.nodes().Name(culprit->tail))));
}

void ChunkWork::ListNodes(const ChunkPlace& place, const ChunkResult& result,
                          std::vector<Contribution>& contributions) const {
  const std::size_t dim = model_.dim;
  for (std::size_t i = 0; i < place.edges.size(); ++i) {
    contributions.push_back({place.edges[i].head, result.heads.data() + i * dim});
    contributions.push_back({place.edges[i].tail, result.tails.data() + i * dim});
  }
  for (std::size_t j = 0; j < result.tail_negative_ids.size(); ++j) {
    contributions.push_back({result.tail_negative_ids[j], result.tail_negatives.data() + j * dim});
    contributions.push_back({result.head_negative_ids[j], result.head_negatives.data() + j * dim});
  }
}

void ChunkWork::ListRelations(const ChunkPlace& place, const ChunkResult& result,
                              std::vector<RelationContribution>& contributions) const {
  const std::size_t width = model_.RelationWidth();
  for (std::size_t i = 0; i < place.edges.size(); ++i) {
    const RelationId relation = place.edges[i].relation;
    contributions.push_back({Value(relation), result.relations.data() + i * width});
    contributions.push_back({HeadSideRelation(relation), result.head_relations.data() + i * width});
  }
}

}  // namespace octavo
