#include "train/chunk_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked_math.h"
#include "base/random.h"
#include "base/status.h"
#include "graph/node_places.h"
#include "model/bf16_block.h"
#include "tables/product_sums.h"

namespace octavo {
namespace {

// Parts of a block are aligned to cache lines.
constexpr std::uint64_t kPartFloats = 16;

// Returns gradients whose parts are allocated by take(floats), in order.
template <typename Take>
ChunkGradients MakeGradients(const TrainOptions& options, const ChunkShape& shape, const Take& take) {
  const std::size_t dim = options.dim;
  const std::size_t width = options.model_spec().RelationWidth();
  const bool both = !options.group_queries;
  ChunkGradients gradients{.heads = take(shape.queries * dim),
                           .tails = take(shape.edges * dim),
                           .relations = take(shape.queries * width),
                           .head_relations = take(both ? shape.queries * width : 0),
                           .tail_negatives = {},
                           .head_negatives = {},
                           .all_relations = take(shape.relations * width)};
  if (KeepsFactors(options)) {
    const std::size_t stride = ProductStride(dim);
    const bool packed = options.precision != Precision::kFloat32;  // or may be, where `auto` is not settled yet
    const std::optional<Bf16Backend> bf16 = options.bf16_backend();
    const auto factors = [&] {
      return NegativeFactors{
          .slopes = take(packed ? Bf16LeftFloats(shape.negatives, shape.queries) : shape.negatives * shape.queries),
          .queries = take(packed ? Bf16RightFloats(shape.queries, dim) : shape.queries * stride),
          .stride = bf16 ? Bf16LeftStride(*bf16, shape.queries) : shape.queries,
          .query_stride = stride,
          .whole = shape.queries};
    };
    gradients.tail_factors = factors();
    if (both) gradients.head_factors = factors();
  } else {
    gradients.tail_negatives = take(shape.negatives * dim);
    gradients.head_negatives = take(both ? shape.negatives * dim : 0);
  }
  return gradients;
}

// Rows lie anywhere in memory, so those of the next few edges are prefetched while one is copied.
constexpr std::size_t kRowsAhead = 8;

// The fewest queries in a piece of a full chunk: each piece packs all the negatives again.
constexpr std::size_t kLeastQueries = 40;

// Sets `begins` to the first edge of each query, and the end. Grouped, adjacent edges with the same head and relation
// share a query; otherwise each edge has its own.
void FindQueries(std::span<const Edge> edges, bool grouped, std::vector<std::uint32_t>& begins) {
  begins.clear();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool same = i > 0 && edges[i].head == edges[i - 1].head && edges[i].relation == edges[i - 1].relation;
    if (!grouped || !same) begins.push_back(static_cast<std::uint32_t>(i));
  }
  begins.push_back(static_cast<std::uint32_t>(edges.size()));
}

// Writes the anchor of each query to the front of `out` and returns their number.
std::size_t CopyAnchors(std::span<const Edge> edges, std::span<const std::uint32_t> begins, Side side,
                        std::span<NodeId> out) {
  const std::size_t queries = begins.size() - 1;
  for (std::size_t q = 0; q < queries; ++q) {
    const Edge& edge = edges[begins[q]];
    out[q] = side == Side::kTail ? edge.head : edge.tail;
  }
  return queries;
}

std::size_t TypedOf(const TrainOptions& options, std::size_t negatives) {
  return static_cast<std::size_t>(std::round(options.typed_fraction * static_cast<double>(negatives)));
}

}  // namespace

bool KeepsFactors(const TrainOptions& options) {
  return HasInnerProducts(options.model_spec()) && 2 * options.EntriesPerChunk() <= options.dim &&
         options.schedule != Schedule::kAsync && options.accumulate == 1;
}

std::uint64_t BlockFloats(const TrainOptions& options, const ChunkShape& shape) {
  std::uint64_t floats = 0;
  MakeGradients(options, shape, [&](std::uint64_t part) {
    floats += RoundUp(part, kPartFloats);
    return std::span<float>();
  });
  return floats;
}

ChunkGradients GradientsIn(std::span<float> block, const TrainOptions& options, const ChunkShape& shape) {
  return MakeGradients(options, shape, [&](std::uint64_t part) {
    const std::span<float> taken = block.first(part);
    block = block.subspan(RoundUp(part, kPartFloats));
    return taken;
  });
}

std::size_t PiecesOf(const TrainOptions& options, std::uint64_t chunks) {
  // Dropout and relation prediction need the whole chunk; gradients as rows would have to be added over the pieces.
  const bool whole = !KeepsFactors(options) || options.dropout_spec().any() || options.relation_prediction > 0;
  std::size_t pieces = 1;
  while (!whole && pieces * chunks <= kMostChunksInPieces && options.EntriesPerChunk() >= 2 * pieces * kLeastQueries) {
    pieces *= 2;
  }
  return pieces;
}

ChunkKernel MakeKernel(const TrainOptions& options, std::uint64_t nodes) {
  return ChunkKernel(options.model_spec(), options.loss_spec(nodes), options.regularizer_spec(), options.dropout_spec(),
                     static_cast<float>(options.relation_prediction), options.bf16_backend());
}

ChunkWork::ChunkWork(const TrainOptions& options, const Graph& graph, const MmapManager& embeddings,
                     const RelationTable& relations, const KnownRows* frozen, const PlaceNodes* places,
                     const AnswerWeights* answers)
    : options_(options),
      graph_(graph),
      embeddings_(embeddings),
      relations_(relations),
      frozen_(frozen),
      model_(options.model_spec()),
      bf16_(options.bf16_backend()),
      places_(places),
      answers_(answers) {
  SetResidentNodes({{0, graph.node_count()}});
}

void ChunkWork::SetResidentNodes(std::vector<NodeRange> nodes, NodeGroups groups) {
  resident_ = std::move(nodes);
  groups_ = std::move(groups);
  resident_places_.reset();
  const bool whole = resident_.size() == 1 && resident_[0].begin == 0 && resident_[0].end == graph_.node_count();
  if (places_ != nullptr && !whole) resident_places_ = places_->In(resident_);
  negatives_ = options_.negatives;
  if (negatives_ > 0) return;
  for (const NodeRange& range : resident_) negatives_ += range.end - range.begin;
}

std::uint64_t ChunkWork::PredictedRelations() const {
  return options_.group_queries ? relations_.rows() : graph_.relation_count();
}

std::uint64_t ChunkWork::TailSideRelation(RelationId relation) const {
  return Value(relation) - (turned(relation) ? graph_.relation_count() : 0);
}

std::uint64_t ChunkWork::HeadSideRelation(RelationId relation) const {
  return options_.reciprocal ? std::uint64_t{Value(relation)} + graph_.relation_count() : Value(relation);
}

RandomStream ChunkWork::StreamOf(RandomPurpose purpose, const ChunkPlace& place, Side side) const {
  // Chunk and side share the low 32 bits of the stream's number.
  const std::uint64_t stream = (place.batch.batch << 32) | (place.chunk << 1) | (side == Side::kHead ? 1U : 0U);
  return RandomStream(options_.seed, purpose, static_cast<std::uint32_t>(place.batch.epoch), stream);
}

void ChunkWork::DrawNegatives(ChunkResult& result) const {
  const ChunkPlace& place = result.place;
  result.tail_negative_ids.resize(negatives_);
  result.head_negative_ids.resize(corrupts_heads() ? negatives_ : 0);
  if (options_.negatives == 0) {
    std::size_t at = 0;
    for (const NodeRange& range : resident_) {
      for (std::uint64_t id = range.begin; id < range.end; ++id)
        result.tail_negative_ids[at++] = static_cast<NodeId>(id);
    }
    if (corrupts_heads()) result.head_negative_ids = result.tail_negative_ids;
    return;
  }
  const auto draw = [&](Side side, std::span<NodeId> out) {
    if (out.empty()) return;
    // The first negatives are the ends of the chunk's own edges, if wanted.
    if (options_.known_negatives) out = out.subspan(CopyAnchors(place.edges, result.begins, side, out));
    const std::size_t typed = places_ == nullptr ? 0 : TypedOf(options_, out.size());
    DrawTyped(place, side, out.last(typed));
    SampleNegatives(StreamOf(RandomPurpose::kNegatives, place, side), resident_, place.edges_of_batch, side,
                    static_cast<float>(options_.degree_fraction), out.first(out.size() - typed),
                    options_.degree_by_weight ? DegreeBy::kWeights : DegreeBy::kEdges);
  };
  draw(Side::kTail, result.tail_negative_ids);
  draw(Side::kHead, result.head_negative_ids);
}

// The place of an edge's answer at `side`. Grouped, an entry of an inverse relation asks for a head.
void ChunkWork::DrawTyped(const ChunkPlace& place, Side side, std::span<NodeId> negatives) const {
  if (negatives.empty()) return;
  std::vector<std::uint64_t> places;
  places.reserve(place.edges.size());
  const std::uint32_t relations = graph_.relation_count();
  for (const Edge& edge : place.edges) {
    const bool inverse = options_.group_queries && Value(edge.relation) >= relations;
    const RelationId relation{inverse ? Value(edge.relation) - relations : Value(edge.relation)};
    places.push_back(inverse || side == Side::kHead ? HeadPlace(relation) : TailPlace(relation));
  }
  (resident_places_ ? *resident_places_ : *places_)
      .Sample(StreamOf(RandomPurpose::kTypedNegatives, place, side), places, resident_, negatives);
}

absl::Status ChunkWork::PackNegativeRows(std::span<const NodeId> ids, AlignedFloats& wide,
                                         ChunkRows::Packed& packed) const {
  // Only in `async` are rows updated meanwhile: there they are copied, as floats.
  const bool async = options_.schedule == Schedule::kAsync;
  const bool words = !async && embeddings_.element() == NpyElement::kBfloat16;
  if (async && !ids.empty()) wide.resize(model_.dim);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + kRowsAhead < ids.size()) embeddings_.PrefetchRow(ids[i + kRowsAhead]);
    RETURN_IF_ERROR(async ? embeddings_.ReadRow(ids[i], wide) : embeddings_.CheckRow(ids[i]));
    if (words) {
      PackNegativeWords(*bf16_, model_.dim, ids.size(), i, embeddings_.WordsUnlocked(ids[i]).data(), packed.columns,
                        packed.rows);
    } else {
      const float* const row = async ? wide.data() : embeddings_.FloatsUnlocked(ids[i]).data();
      PackNegatives(*bf16_, model_.dim, ids.size(), i, 1, row, packed.columns, packed.rows);
    }
  }
  return absl::OkStatus();
}

absl::Status ChunkWork::GatherRows(const ChunkResult& result, ChunkRows& rows) const {
  const std::span<const Edge> edges = result.place.edges;
  const std::size_t dim = model_.dim;
  // node_of(i) is the node whose row is row i % window of `to`, and `filled` is called after each window.
  const auto gather_windows = [&](std::size_t count, std::size_t window, AlignedFloats& to, const auto& node_of,
                                  const auto& filled) -> absl::Status {
    to.resize(std::min(count, window) * dim);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + kRowsAhead < count) embeddings_.PrefetchRow(node_of(i + kRowsAhead));
      const std::span<float> row = std::span(to).subspan(i % window * dim, dim);
      // Only in `async` are rows updated meanwhile.
      RETURN_IF_ERROR(options_.schedule == Schedule::kAsync ? embeddings_.ReadRow(node_of(i), row)
                                                            : embeddings_.ReadRowUnlocked(node_of(i), row));
      if ((i + 1) % window == 0 || i + 1 == count) filled(i / window * window, i % window + 1);
    }
    return absl::OkStatus();
  };
  // All rows: [count, dim].
  const auto gather = [&](std::size_t count, AlignedFloats& to, const auto& node_of) {
    return gather_windows(count, std::max<std::size_t>(1, count), to, node_of, [](std::size_t, std::size_t) {});
  };
  rows.weights.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) rows.weights[i] = edges[i].weight;
  if (answers_ != nullptr) {
    rows.tail_weights.resize(edges.size());
    rows.head_weights.resize(corrupts_heads() ? edges.size() : 0);
    for (std::size_t i = 0; i < edges.size(); ++i) rows.tail_weights[i] = edges[i].weight * answers_->Of(edges[i].tail);
    for (std::size_t i = 0; i < rows.head_weights.size(); ++i) {
      rows.head_weights[i] = edges[i].weight * answers_->Of(edges[i].head);
    }
  }
  RETURN_IF_ERROR(
      gather(result.shape.queries, rows.heads, [&](std::size_t q) { return edges[result.begins[q]].head; }));
  RETURN_IF_ERROR(gather(edges.size(), rows.tails, [&](std::size_t i) { return edges[i].tail; }));
  const auto gather_negatives = [&](const std::vector<NodeId>& ids, AlignedFloats& to, ChunkRows::Packed& packed) {
    const auto node_of = [&](std::size_t i) { return ids[i]; };
    if (!bf16_) return gather(ids.size(), to, node_of);
    packed.columns.resize(PacksColumns(*bf16_, dim, result.shape.queries) ? PackedColumnFloats(dim, ids.size()) : 0);
    packed.rows.resize(PackedRowFloats(*bf16_, dim, ids.size()));
    if (Bf16HasWords(*bf16_)) return PackNegativeRows(ids, to, packed);
    // A window of rows is packed while it is in the first caches.
    return gather_windows(ids.size(), kNegativesPacked, to, node_of, [&](std::size_t first, std::size_t count) {
      PackNegatives(*bf16_, dim, ids.size(), first, count, to.data(), packed.columns, packed.rows);
    });
  };
  RETURN_IF_ERROR(gather_negatives(result.tail_negative_ids, rows.tail_negatives, rows.tail_packed));
  return gather_negatives(result.head_negative_ids, rows.head_negatives, rows.head_packed);
}

void ChunkWork::Draw(const BatchPlace& batch, std::span<const Edge> edges, std::size_t chunk,
                     ChunkResult& result) const {
  const std::size_t first = chunk * options_.EntriesPerChunk();
  const std::size_t count = std::min<std::size_t>(options_.EntriesPerChunk(), edges.size() - first);
  result.place = {.batch = batch, .chunk = chunk, .edges = edges.subspan(first, count), .edges_of_batch = edges};
  FindQueries(result.place.edges, options_.group_queries, result.begins);
  DrawNegatives(result);
  result.shape = {.edges = count,
                  .queries = result.begins.size() - 1,
                  .negatives = negatives_,
                  .relations = options_.relation_prediction > 0 ? PredictedRelations() : 0};
}

void ChunkWork::TakeBlock(std::span<float> block, ChunkResult& result) const {
  result.gradients = GradientsIn(block, options_, result.shape);
  const GradientProduct::AddRows add = bf16_ ? AddBf16Factors : nullptr;
  const auto product = [&](const NegativeFactors& factors) {
    return GradientProduct{result.shape.queries, factors.stride, factors.queries.data(), add};
  };
  result.tail_product = product(result.gradients.tail_factors);
  result.head_product = product(result.gradients.head_factors);
}

void ChunkWork::GatherRelations(const ChunkResult& result, ChunkRows& rows) const {
  const std::span<const Edge> edges = result.place.edges;
  const std::size_t width = model_.RelationWidth();
  rows.relations.resize(result.shape.queries * width);
  rows.head_relations.resize(corrupts_heads() ? result.shape.queries * width : 0);
  rows.sides.clear();
  // The kernel wants the relations of all queries in one block.
  const auto copy_row = [&](std::uint64_t row, std::vector<float>& to, std::size_t q) {
    const std::span<const float> from = relations_.Row(row);
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(q * width));
  };
  for (std::size_t q = 0; q < result.shape.queries; ++q) {
    const RelationId relation = edges[result.begins[q]].relation;
    copy_row(TailSideRelation(relation), rows.relations, q);
    if (!corrupts_heads() && !options_.reciprocal) rows.sides.push_back(turned(relation) ? Side::kHead : Side::kTail);
    if (corrupts_heads()) copy_row(HeadSideRelation(relation), rows.head_relations, q);
  }
  // Relation prediction compares with the true relation of each edge.
  rows.edge_relations.clear();
  for (const Edge& edge : edges) rows.edge_relations.push_back(Value(edge.relation));
}

void ChunkWork::Gather(ChunkRows& rows, ChunkResult& result) const {
  const std::span<const Edge> edges = result.place.edges;
  FindAccidentalPositives(edges, result.begins, result.tail_negative_ids, Side::kTail, rows.tail_masks);
  FindAccidentalPositives(edges, result.begins, result.head_negative_ids, Side::kHead, rows.head_masks);
  groups_.Find(edges, result.begins, result.tail_negative_ids, Side::kTail, rows.tail_groups);
  groups_.Find(edges, result.begins, result.head_negative_ids, Side::kHead, rows.head_groups);
  GatherRelations(result, rows);
  result.status = GatherRows(result, rows);
}

ChunkInput ChunkWork::InputOf(const ChunkRows& rows, const ChunkResult& result) const {
  const ChunkPlace& place = result.place;
  return {.begins = result.begins,
          .negatives = result.tail_negative_ids.size(),
          .heads = rows.heads,
          .tails = rows.tails,
          .relations = rows.relations,
          .head_relations = rows.head_relations,
          .weights = rows.weights,
          .tail_weights = rows.tail_weights,
          .head_weights = rows.head_weights,
          .tail_negatives = rows.tail_negatives,
          .head_negatives = rows.head_negatives,
          .tail_packed = {rows.tail_packed.columns, rows.tail_packed.rows},
          .head_packed = {rows.head_packed.columns, rows.head_packed.rows},
          .tail_masks = rows.tail_masks,
          .head_masks = rows.head_masks,
          .tail_groups = rows.tail_groups.View(),
          .head_groups = rows.head_groups.View(),
          .corrupts_heads = corrupts_heads(),
          .sides = rows.sides,
          .reciprocal = options_.reciprocal,
          .answers = options_.competing_answers ? place.edges : std::span<const Edge>(),
          .all_relations = relations_.values().first(PredictedRelations() * model_.RelationWidth()),
          .edge_relations = rows.edge_relations,
          .dropout = RandomStream(options_.seed, RandomPurpose::kDropout, static_cast<std::uint32_t>(place.batch.epoch),
                                  (place.batch.batch << 32) | place.chunk)};
}

absl::Status ChunkWork::ComputeInput(const ChunkInput& input, const ChunkGradients& gradients, const ChunkPlace& place,
                                     ChunkKernel& kernel, ChunkLoss& loss) const {
  loss = kernel.Compute(input, gradients);
  if (std::isfinite(loss.loss) && std::isfinite(loss.penalty)) return absl::OkStatus();
  return LossDiverged(options_, graph_, place.batch, place.edges, input, gradients, loss);
}

void ChunkWork::Compute(const ChunkRows& rows, ChunkKernel& kernel, ChunkResult& result) const {
  if (!result.status.ok()) return;
  result.status = ComputeInput(InputOf(rows, result), result.gradients, result.place, kernel, result.loss);
}

void ChunkWork::ComputePiece(const ChunkRows& rows, std::size_t piece, ChunkKernel& kernel, ChunkResult& result) const {
  if (!result.status.ok()) return;
  const std::size_t pieces = result.pieces.size();
  // Pieces differ by one query at most. Few queries can leave some pieces empty.
  const std::size_t first = result.shape.queries * piece / pieces;
  const std::size_t last = result.shape.queries * (piece + 1) / pieces;
  if (first == last) return;
  const ChunkInput whole = InputOf(rows, result);
  ChunkResult::Piece& done = result.pieces[piece];
  done.status = ComputeInput(whole.Slice(first, last), result.gradients.Slice(whole, first, last), result.place, kernel,
                             done.loss);
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

void ChunkWork::ListNodes(const ChunkResult& result, GradientsByNode& gradients) const {
  const auto add = [&](NodeId node, std::span<const float> rows, std::size_t row, std::size_t width,
                       const GradientProduct* product = nullptr) {
    if (frozen_ != nullptr && frozen_->nodes.Has(Value(node))) return;
    gradients.Add({node, rows.data() + row * width, product});
  };
  const std::size_t dim = model_.dim;
  const std::span<const Edge> edges = result.place.edges;
  const ChunkGradients& made = result.gradients;
  // A frozen row gets no gradient. A gradient is listed by its address: it may not have been computed yet.
  // The order of the sums. If each edge has its own query, head and tail alternate; otherwise the heads of all queries
  // come first, then the tails.
  const bool in_turn = corrupts_heads();
  for (std::size_t q = 0; q < result.shape.queries; ++q) {
    add(edges[result.begins[q]].head, made.heads, q, dim);
    if (in_turn) add(edges[q].tail, made.tails, q, dim);
  }
  for (std::size_t i = 0; i < edges.size() && !in_turn; ++i) add(edges[i].tail, made.tails, i, dim);
  const auto add_negatives = [&](std::span<const NodeId> nodes, std::span<const float> rows,
                                 const NegativeFactors& factors, const GradientProduct& product) {
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      if (factors.wanted()) {
        add(nodes[j], factors.slopes, j, factors.stride, &product);
      } else {
        add(nodes[j], rows, j, dim);
      }
    }
  };
  add_negatives(result.tail_negative_ids, made.tail_negatives, made.tail_factors, result.tail_product);
  add_negatives(result.head_negative_ids, made.head_negatives, made.head_factors, result.head_product);
}

void ChunkWork::ListRelations(const ChunkResult& result, std::vector<RelationContribution>& contributions) const {
  const std::size_t width = model_.RelationWidth();
  const ChunkGradients& made = result.gradients;
  const auto add = [&](std::uint64_t relation, std::span<const float> rows, std::size_t row) {
    if (frozen_ != nullptr && frozen_->relations.Has(relation)) return;
    contributions.push_back({relation, rows.data() + row * width});
  };
  // Relation prediction has a gradient for every relation, the edges for their own.
  for (std::uint64_t row = 0; row < result.shape.relations; ++row) add(row, made.all_relations, row);
  for (std::size_t q = 0; q < result.shape.queries; ++q) {
    const RelationId relation = result.place.edges[result.begins[q]].relation;
    add(TailSideRelation(relation), made.relations, q);
    if (corrupts_heads()) add(HeadSideRelation(relation), made.head_relations, q);
  }
}

}  // namespace octavo
