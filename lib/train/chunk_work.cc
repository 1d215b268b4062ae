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

// Queries that a piece of a full chunk has at least: each packs all the negatives for itself.
constexpr std::size_t kLeastQueries = 40;

// The pairs of queries [first, last), counted from `first`.
std::span<const MaskedPair> MasksOf(std::span<const MaskedPair> pairs, std::size_t first, std::size_t last,
                                    std::vector<MaskedPair>& masks) {
  masks.clear();
  for (const MaskedPair& pair : pairs) {
    if (pair.edge < first || pair.edge >= last) continue;
    masks.push_back({pair.edge - static_cast<std::uint32_t>(first), pair.negative});
  }
  return masks;
}

// Where the groups of edges with one head and relation begin, and the end.
void FindGroups(std::span<const Edge> edges, std::vector<std::uint32_t>& begins) {
  begins.clear();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i > 0 && edges[i].head == edges[i - 1].head && edges[i].relation == edges[i - 1].relation) continue;
    begins.push_back(static_cast<std::uint32_t>(i));
  }
  begins.push_back(static_cast<std::uint32_t>(edges.size()));
}

// Writes the known node of each edge, or of each group, to the front of `out`; returns how many.
std::size_t CopyKnownNodes(std::span<const Edge> edges, std::span<const std::uint32_t> begins, Side side,
                           std::span<NodeId> out) {
  const std::size_t count = begins.empty() ? edges.size() : begins.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Edge& edge = edges[begins.empty() ? i : begins[i]];
    out[i] = side == Side::kTail ? edge.head : edge.tail;
  }
  return count;
}

}  // namespace

bool KeepsFactors(const TrainOptions& options) {
  return HasInnerProducts(options.model_spec()) && 2 * options.EntriesPerChunk() <= options.dim &&
         options.schedule != Schedule::kAsync && options.accumulate == 1;
}

std::size_t PiecesOf(const TrainOptions& options, std::uint64_t chunks) {
  // Floats are dropped, and relations told, by the chunk; gradients as rows would have to be added up.
  const bool whole = !KeepsFactors(options) || options.dropout_spec().any() || options.relation_prediction > 0;
  std::size_t pieces = 1;
  while (!whole && pieces * chunks <= kMostChunksInPieces && options.EntriesPerChunk() >= 2 * pieces * kLeastQueries) {
    pieces *= 2;
  }
  return pieces;
}

ChunkScratch::ChunkScratch(const TrainOptions& options)
    : kernel(options.model_spec(), options.loss_spec(), options.regularizer_spec(), options.dropout_spec(),
             static_cast<float>(options.relation_prediction)) {}

ChunkWork::ChunkWork(const TrainOptions& options, const Graph& graph, const MmapManager& embeddings,
                     const RelationTable& relations, const KnownRows* frozen)
    : options_(options),
      graph_(graph),
      embeddings_(embeddings),
      relations_(relations),
      frozen_(frozen),
      model_(options.model_spec()),
      factored_(KeepsFactors(options)) {
  SetResidentNodes({{0, graph.node_count()}});
}

void ChunkWork::SetResidentNodes(std::vector<NodeRange> nodes) {
  resident_ = std::move(nodes);
  negatives_ = options_.negatives;
  if (negatives_ > 0) return;
  for (const NodeRange& range : resident_) negatives_ += range.end - range.begin;
}

ChunkPlace ChunkWork::PlaceOf(const BatchPlace& batch, std::span<const Edge> edges, std::size_t chunk) const {
  const std::size_t first = chunk * options_.EntriesPerChunk();
  const std::size_t count = std::min<std::size_t>(options_.EntriesPerChunk(), edges.size() - first);
  return {.batch = batch, .chunk = chunk, .edges = edges.subspan(first, count), .edges_of_batch = edges};
}

std::uint64_t ChunkWork::PredictedRelations() const {
  return options_.group_queries ? relations_.rows() : graph_.relation_count();
}

std::uint64_t ChunkWork::HeadSideRelation(RelationId relation) const {
  return options_.reciprocal ? std::uint64_t{Value(relation)} + graph_.relation_count() : Value(relation);
}

void ChunkWork::DrawNegatives(const ChunkPlace& place, ChunkResult& result) const {
  result.tail_negative_ids.resize(negatives_);
  result.head_negative_ids.resize(options_.group_queries ? 0 : negatives_);
  if (options_.negatives == 0) {
    std::size_t at = 0;
    for (const NodeRange& range : resident_) {
      for (std::uint64_t id = range.begin; id < range.end; ++id)
        result.tail_negative_ids[at++] = static_cast<NodeId>(id);
    }
    if (!options_.group_queries) result.head_negative_ids = result.tail_negative_ids;
    return;
  }
  const auto draw = [&](Side side, std::span<NodeId> out) {
    if (out.empty()) return;
    if (options_.known_negatives) out = out.subspan(CopyKnownNodes(place.edges, result.begins, side, out));
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
  const bool grouped = options_.group_queries;
  // In `async` alone rows are updated meanwhile.
  const auto read = [&](NodeId node, std::span<float> row) {
    return options_.schedule == Schedule::kAsync ? embeddings_.ReadRow(node, row) : embeddings_.ReadQuietRow(node, row);
  };
  rows.heads.resize((grouped ? result.begins.size() - 1 : edges.size()) * dim);
  rows.tails.resize(edges.size() * dim);
  rows.weights.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    if (i + kRowsAhead < edges.size()) {
      if (!grouped) embeddings_.PrefetchRow(edges[i + kRowsAhead].head);
      embeddings_.PrefetchRow(edges[i + kRowsAhead].tail);
    }
    if (!grouped) RETURN_IF_ERROR(read(edge.head, std::span(rows.heads).subspan(i * dim, dim)));
    RETURN_IF_ERROR(read(edge.tail, std::span(rows.tails).subspan(i * dim, dim)));
    rows.weights[i] = edge.weight;
  }
  for (std::size_t g = 0; g + 1 < result.begins.size(); ++g) {
    RETURN_IF_ERROR(read(edges[result.begins[g]].head, std::span(rows.heads).subspan(g * dim, dim)));
  }
  const auto gather_nodes = [&](std::span<const NodeId> ids, std::vector<float>& to) -> absl::Status {
    to.resize(ids.size() * dim);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i + kRowsAhead < ids.size()) embeddings_.PrefetchRow(ids[i + kRowsAhead]);
      RETURN_IF_ERROR(read(ids[i], std::span(to).subspan(i * dim, dim)));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(gather_nodes(result.tail_negative_ids, rows.tail_negatives));
  return gather_nodes(result.head_negative_ids, rows.head_negatives);
}

void ChunkWork::Draw(const ChunkPlace& place, ChunkResult& result) const {
  result.begins.clear();
  if (options_.group_queries) FindGroups(place.edges, result.begins);
  DrawNegatives(place, result);
  MakeRoom(place.edges.size(), result);
}

void ChunkWork::Gather(const ChunkPlace& place, ChunkRows& rows, ChunkResult& result) const {
  if (options_.group_queries) {
    FindAccidentalPositives(place.edges, result.begins, result.tail_negative_ids, rows.tail_masks);
  } else {
    FindAccidentalPositives(place.edges, result.tail_negative_ids, Side::kTail, rows.tail_masks);
    FindAccidentalPositives(place.edges, result.head_negative_ids, Side::kHead, rows.head_masks);
  }
  result.status = GatherRows(place.edges, result, rows);
}

void ChunkWork::GatherRelations(std::span<const Edge> edges, const ChunkResult& result, ChunkRows& rows) const {
  const std::size_t width = model_.RelationWidth();
  const bool grouped = options_.group_queries;
  rows.relations.resize((grouped ? result.begins.size() - 1 : edges.size()) * width);
  rows.head_relations.resize(grouped ? 0 : edges.size() * width);
  const auto copy_row = [&](std::uint64_t row, std::vector<float>& to, std::size_t i) {
    const std::span<const float> from = relations_.Row(row);
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(i * width));
  };
  rows.edge_relations.clear();
  for (const Edge& edge : edges) rows.edge_relations.push_back(Value(edge.relation));
  for (std::size_t g = 0; g + 1 < result.begins.size(); ++g) {
    copy_row(Value(edges[result.begins[g]].relation), rows.relations, g);
  }
  for (std::size_t i = 0; i < edges.size() && !grouped; ++i) {
    copy_row(Value(edges[i].relation), rows.relations, i);
    copy_row(HeadSideRelation(edges[i].relation), rows.head_relations, i);
  }
}

ChunkInput ChunkWork::InputOf(const ChunkPlace& place, const ChunkRows& rows, const ChunkResult& result) const {
  return {.edges = place.edges.size(),
          .negatives = result.tail_negative_ids.size(),
          .heads = rows.heads,
          .tails = rows.tails,
          .relations = rows.relations,
          .head_relations = rows.head_relations,
          .weights = rows.weights,
          .tail_negatives = rows.tail_negatives,
          .head_negatives = rows.head_negatives,
          .tail_masks = rows.tail_masks,
          .head_masks = rows.head_masks,
          .reciprocal = options_.reciprocal,
          .begins = result.begins,
          .answers = options_.competing_answers ? place.edges : std::span<const Edge>(),
          .all_relations = relations_.values().first(PredictedRelations() * model_.RelationWidth()),
          .edge_relations = rows.edge_relations,
          .dropout = RandomStream(options_.seed, RandomPurpose::kDropout, static_cast<std::uint32_t>(place.batch.epoch),
                                  (place.batch.batch << 32) | place.chunk)};
}

void ChunkWork::MakeRoom(std::size_t edges, ChunkResult& result) const {
  const bool grouped = options_.group_queries;
  const std::size_t queries = grouped ? result.begins.size() - 1 : edges;
  result.heads.resize(queries * model_.dim);
  result.tails.resize(edges * model_.dim);
  result.relations.resize(queries * model_.RelationWidth());
  result.head_relations.resize(grouped ? 0 : edges * model_.RelationWidth());
  result.all_relations.resize(options_.relation_prediction > 0 ? PredictedRelations() * model_.RelationWidth() : 0);
  const std::size_t columns = factored_ ? queries : model_.dim;
  result.tail_negatives.resize(result.tail_negative_ids.size() * columns);
  result.head_negatives.resize(result.head_negative_ids.size() * columns);
  if (factored_) {
    const std::size_t stride = FactorStride(model_.dim);
    result.tail_queries.resize(queries * stride);
    result.head_queries.resize(grouped ? 0 : queries * stride);
    result.tail_product = {queries, result.tail_queries.data()};
    result.head_product = {queries, result.head_queries.data()};
  }
}

ChunkGradients ChunkWork::GradientsOf(ChunkResult& result) const {
  return {.heads = result.heads,
          .tails = result.tails,
          .relations = result.relations,
          .head_relations = result.head_relations,
          .tail_negatives = result.tail_negatives,
          .head_negatives = result.head_negatives,
          .all_relations = result.all_relations,
          .tail_factors = {result.tail_negatives, result.tail_queries, result.tail_product.terms},
          .head_factors = {result.head_negatives, result.head_queries, result.head_product.terms}};
}

void ChunkWork::Prepare(const ChunkPlace& place, std::size_t pieces, ChunkRows& rows, ChunkResult& result) const {
  if (!result.status.ok()) return;
  GatherRelations(place.edges, result, rows);
  result.pieces.assign(pieces, {});
}

void ChunkWork::ComputePiece(const ChunkPlace& place, const ChunkRows& rows, std::size_t piece, ChunkScratch& scratch,
                             ChunkResult& result) const {
  if (!result.status.ok()) return;
  ChunkPlace part = place;
  ChunkInput input = InputOf(place, rows, result);
  ChunkGradients gradients = GradientsOf(result);
  if (result.pieces.size() > 1) {
    const bool grouped = options_.group_queries;
    const std::size_t queries = grouped ? result.begins.size() - 1 : place.edges.size();
    const std::size_t first = queries * piece / result.pieces.size();
    const std::size_t last = queries * (piece + 1) / result.pieces.size();
    if (first == last) return;
    const std::size_t edge = grouped ? result.begins[first] : first;
    const std::size_t edges = (grouped ? result.begins[last] : last) - edge;
    const auto queries_of = [&](auto span, std::size_t width) {
      return span.subspan(first * width, (last - first) * width);
    };
    const auto edges_of = [&](auto span, std::size_t width) { return span.subspan(edge * width, edges * width); };
    const std::size_t dim = model_.dim;
    const std::size_t width = model_.RelationWidth();
    part.edges = edges_of(place.edges, 1);
    input.edges = edges;
    input.heads = queries_of(input.heads, dim);
    input.tails = edges_of(input.tails, dim);
    input.relations = queries_of(input.relations, width);
    input.weights = edges_of(input.weights, 1);
    input.tail_masks = MasksOf(input.tail_masks, first, last, scratch.tail_masks);
    input.edge_relations = edges_of(input.edge_relations, 1);
    if (!input.answers.empty()) input.answers = edges_of(input.answers, 1);
    gradients.heads = queries_of(gradients.heads, dim);
    gradients.tails = edges_of(gradients.tails, dim);
    gradients.relations = queries_of(gradients.relations, width);
    const auto factors_of = [&](NegativeFactors& factors) {
      if (!factors.slopes.empty()) factors.slopes = factors.slopes.subspan(first);
      factors.queries = queries_of(factors.queries, FactorStride(dim));
    };
    factors_of(gradients.tail_factors);
    if (grouped) {
      scratch.begins.assign(result.begins.begin() + static_cast<std::ptrdiff_t>(first),
                            result.begins.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      for (std::uint32_t& begin : scratch.begins) begin -= static_cast<std::uint32_t>(edge);
      input.begins = scratch.begins;
    } else {
      input.head_relations = edges_of(input.head_relations, width);
      input.head_masks = MasksOf(input.head_masks, first, last, scratch.head_masks);
      gradients.head_relations = edges_of(gradients.head_relations, width);
      factors_of(gradients.head_factors);
    }
  }
  ChunkResult::Piece& done = result.pieces[piece];
  done.loss = scratch.kernel.Compute(input, gradients);
  if (std::isfinite(done.loss.loss) && std::isfinite(done.loss.penalty)) return;
  done.status = ExplainLoss(part, input, done.loss);
}

void ChunkWork::Conclude(ChunkResult& result) const {
  if (!result.status.ok()) return;
  result.loss = {};
  for (const ChunkResult::Piece& piece : result.pieces) {
    if (!piece.status.ok()) {
      result.status = piece.status;
      return;
    }
    result.loss.loss += piece.loss.loss;
    result.loss.penalty += piece.loss.penalty;
  }
}

void ChunkWork::Compute(const ChunkPlace& place, ChunkRows& rows, ChunkScratch& scratch, ChunkResult& result) const {
  Prepare(place, 1, rows, result);
  ComputePiece(place, rows, 0, scratch, result);
  Conclude(result);
}

absl::Status ChunkWork::ExplainLoss(const ChunkPlace& place, const ChunkInput& input, const ChunkLoss& loss) const {
  // The kernel gives the sum of a chunk; one edge at a time shows which one it is.
  ChunkKernel kernel(model_, options_.loss_spec(), options_.regularizer_spec(), {},
                     static_cast<float>(options_.relation_prediction));
  constexpr std::uint32_t kOneGroup[] = {0, 1};
  const bool grouped = options_.group_queries;
  ChunkResult unused;
  unused.tail_negative_ids.resize(input.negatives);
  unused.head_negative_ids.resize(grouped ? 0 : input.negatives);
  if (grouped) unused.begins.assign(std::begin(kOneGroup), std::end(kOneGroup));
  MakeRoom(1, unused);
  std::size_t group = 0;
  const std::size_t dim = model_.dim;
  const std::size_t width = model_.RelationWidth();
  const Edge* culprit = nullptr;
  for (std::size_t i = 0; i < place.edges.size(); ++i) {
    ChunkInput one = input;
    one.edges = 1;
    while (grouped && input.begins[group + 1] <= i) ++group;
    const std::size_t query = grouped ? group : i;
    one.heads = input.heads.subspan(query * dim, dim);
    one.tails = input.tails.subspan(i * dim, dim);
    one.relations = input.relations.subspan(query * width, width);
    if (!grouped) one.head_relations = input.head_relations.subspan(i * width, width);
    if (grouped) one.begins = kOneGroup;
    one.answers = {};
    one.edge_relations = input.edge_relations.subspan(i, 1);
    one.weights = input.weights.subspan(i, 1);
    one.tail_masks = one.head_masks = {};
    const ChunkLoss alone = kernel.Compute(one, GradientsOf(unused));
    if (std::isfinite(alone.loss) && std::isfinite(alone.penalty)) continue;
    culprit = &place.edges[i];
    break;
  }
  return DivergedError(
      fmt::format("the loss is not finite ({} + {}) in epoch {}, batch {}, {} {}; the last commit stands; try a "
                  "smaller learning-rate "
                  "or initial-scale",
                  loss.loss, loss.penalty, place.batch.epoch + 1, place.batch.batch + 1,
                  // With floats dropped a loss can be infinite that is finite without.
                  culprit != nullptr ? "at the edge" : "in the chunk that begins with",
                  Describe(culprit != nullptr ? *culprit : place.edges.front())));
}

std::string ChunkWork::Describe(const Edge& edge) const {
  const bool inverse = Value(edge.relation) >= graph_.relation_count();
  const std::uint32_t relation = Value(edge.relation) - (inverse ? graph_.relation_count() : 0);
  return fmt::format("\"{}\" \"{}\" \"{}\"", Escape(graph_.nodes().Name(inverse ? edge.tail : edge.head)),
                     Escape(graph_.RelationName(static_cast<RelationId>(relation))),
                     Escape(graph_.nodes().Name(inverse ? edge.head : edge.tail)));
}

void ChunkWork::ListNodes(const ChunkPlace& place, const ChunkResult& result,
                          std::vector<Contribution>& contributions) const {
  const auto add = [&](NodeId node, const float* values, const GradientProduct* product = nullptr) {
    if (frozen_ == nullptr || !frozen_->nodes.Has(Value(node))) contributions.push_back({node, values, product});
  };
  const auto add_negatives = [&](std::span<const NodeId> nodes, const std::vector<float>& gradients,
                                 const GradientProduct& product) {
    const std::size_t width = factored_ ? product.terms : model_.dim;
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      add(nodes[j], gradients.data() + j * width, factored_ ? &product : nullptr);
    }
  };
  for (std::size_t g = 0; g + 1 < result.begins.size(); ++g) {
    add(place.edges[result.begins[g]].head, result.heads.data() + g * model_.dim);
  }
  for (std::size_t i = 0; i < place.edges.size(); ++i) {
    if (result.begins.empty()) add(place.edges[i].head, result.heads.data() + i * model_.dim);
    add(place.edges[i].tail, result.tails.data() + i * model_.dim);
  }
  add_negatives(result.tail_negative_ids, result.tail_negatives, result.tail_product);
  add_negatives(result.head_negative_ids, result.head_negatives, result.head_product);
}

void ChunkWork::ListRelations(const ChunkPlace& place, const ChunkResult& result,
                              std::vector<RelationContribution>& contributions) const {
  const std::size_t width = model_.RelationWidth();
  const auto add = [&](std::uint64_t relation, const std::vector<float>& gradients, std::size_t row) {
    if (frozen_ != nullptr && frozen_->relations.Has(relation)) return;
    contributions.push_back({relation, gradients.data() + row * width});
  };
  for (std::uint64_t row = 0; row * width < result.all_relations.size(); ++row) add(row, result.all_relations, row);
  for (std::size_t g = 0; g + 1 < result.begins.size(); ++g) {
    add(Value(place.edges[result.begins[g]].relation), result.relations, g);
  }
  for (std::size_t i = 0; i < place.edges.size() && result.begins.empty(); ++i) {
    const RelationId relation = place.edges[i].relation;
    add(Value(relation), result.relations, i);
    add(HeadSideRelation(relation), result.head_relations, i);
  }
}

}  // namespace octavo
