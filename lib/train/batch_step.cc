#include "train/batch_step.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/escape.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Rows lie anywhere in memory: those of a few edges ahead are on their way while one is copied.
constexpr std::size_t kRowsAhead = 4;

// Every bit of the exponent is set in an infinity or NaN. By integers, which the compiler makes vectors of.
bool AllFinite(std::span<const float> row) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t broken = 0;
  for (const float value : row) broken |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  return broken == 0;
}

}  // namespace

BatchStep::Worker::Worker(const TrainOptions& options)
    : kernel(options.model_spec(), options.loss_spec(), options.regularizer_spec()) {}

BatchStep::BatchStep(const TrainOptions& options, const Graph& graph, const StepTables& tables)
    : options_(options),
      graph_(graph),
      tables_(tables),
      model_(options.model_spec()),
      relation_gradients_(tables.relations.rows(), tables.relations.columns()),
      workers_([this] { return Worker(options_); }) {
  SetResidentNodes({{0, graph.node_count()}});
}

void BatchStep::SetResidentNodes(std::vector<NodeRange> nodes) {
  resident_ = std::move(nodes);
  negatives_ = options_.negatives;
  if (negatives_ > 0) return;
  for (const NodeRange& range : resident_) negatives_ += range.end - range.begin;
}

std::uint64_t BatchStep::HeadSideRelation(RelationId relation) const {
  return options_.reciprocal ? std::uint64_t{Value(relation)} + graph_.relation_count() : Value(relation);
}

void BatchStep::DrawNegatives(const BatchPlace& place, std::uint64_t chunk, std::span<const Edge> batch,
                              ChunkResult& result) {
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
    const std::uint64_t stream = (place.batch << 32) | (chunk << 1) | (side == Side::kHead ? 1U : 0U);
    SampleNegatives(
        RandomStream(options_.seed, RandomPurpose::kNegatives, static_cast<std::uint32_t>(place.epoch), stream),
        resident_, batch, side, static_cast<float>(options_.degree_fraction), out);
  };
  draw(Side::kTail, result.tail_negative_ids);
  draw(Side::kHead, result.head_negative_ids);
}

absl::Status BatchStep::Gather(std::span<const Edge> edges, const ChunkResult& result, Worker& worker) {
  const std::size_t dim = model_.dim;
  const std::size_t width = model_.RelationWidth();
  worker.heads.resize(edges.size() * dim);
  worker.tails.resize(edges.size() * dim);
  worker.weights.resize(edges.size());
  worker.relations.resize(edges.size() * width);
  worker.head_relations.resize(edges.size() * width);
  const auto copy_row = [](std::span<const float> row, std::vector<float>& to, std::size_t i) {
    std::copy(row.begin(), row.end(), to.begin() + static_cast<std::ptrdiff_t>(i * row.size()));
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    if (i + kRowsAhead < edges.size()) {
      tables_.embeddings.PrefetchRow(edges[i + kRowsAhead].head);
      tables_.embeddings.PrefetchRow(edges[i + kRowsAhead].tail);
    }
    RETURN_IF_ERROR(tables_.embeddings.ReadRow(edge.head, std::span(worker.heads).subspan(i * dim, dim)));
    RETURN_IF_ERROR(tables_.embeddings.ReadRow(edge.tail, std::span(worker.tails).subspan(i * dim, dim)));
    worker.weights[i] = edge.weight;
    copy_row(std::as_const(tables_.relations).Row(Value(edge.relation)), worker.relations, i);
    copy_row(std::as_const(tables_.relations).Row(HeadSideRelation(edge.relation)), worker.head_relations, i);
  }
  const auto gather_nodes = [&](std::span<const NodeId> ids, std::vector<float>& to) -> absl::Status {
    to.resize(ids.size() * dim);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i + kRowsAhead < ids.size()) tables_.embeddings.PrefetchRow(ids[i + kRowsAhead]);
      RETURN_IF_ERROR(tables_.embeddings.ReadRow(ids[i], std::span(to).subspan(i * dim, dim)));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(gather_nodes(result.tail_negative_ids, worker.tail_negatives));
  return gather_nodes(result.head_negative_ids, worker.head_negatives);
}

ChunkInput BatchStep::InputOf(std::size_t edges, const ChunkResult& result, const Worker& worker) const {
  return {.edges = edges,
          .negatives = result.tail_negative_ids.size(),
          .heads = worker.heads,
          .tails = worker.tails,
          .relations = worker.relations,
          .head_relations = worker.head_relations,
          .weights = worker.weights,
          .tail_negatives = worker.tail_negatives,
          .head_negatives = worker.head_negatives,
          .tail_masks = worker.tail_masks,
          .head_masks = worker.head_masks,
          .reciprocal = options_.reciprocal};
}

ChunkGradients BatchStep::GradientsOf(std::size_t edges, ChunkResult& result) const {
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

void BatchStep::ComputeChunk(const BatchPlace& place, std::uint64_t chunk, std::span<const Edge> edges,
                             std::span<const Edge> batch, ChunkResult& result) {
  Worker& worker = workers_.local();
  DrawNegatives(place, chunk, batch, result);
  FindAccidentalPositives(edges, result.tail_negative_ids, Side::kTail, worker.tail_masks);
  FindAccidentalPositives(edges, result.head_negative_ids, Side::kHead, worker.head_masks);
  result.status = Gather(edges, result, worker);
  if (!result.status.ok()) return;
  result.loss = worker.kernel.Compute(InputOf(edges.size(), result, worker), GradientsOf(edges.size(), result));
  if (!std::isfinite(result.loss.loss) || !std::isfinite(result.loss.penalty)) {
    result.status = ExplainLoss(place, edges, result);
  }
}

absl::Status BatchStep::ExplainLoss(const BatchPlace& place, std::span<const Edge> edges, const ChunkResult& result) {
  // The kernel gives the sum of a chunk; one edge at a time shows which one it is.
  Worker worker(options_);
  ChunkResult one;
  one.tail_negative_ids = result.tail_negative_ids;
  one.head_negative_ids = result.head_negative_ids;
  const Edge* culprit = &edges.front();
  for (const Edge& edge : edges) {
    const std::span<const Edge> single(&edge, 1);
    RETURN_IF_ERROR(Gather(single, one, worker));
    const ChunkLoss loss = worker.kernel.Compute(InputOf(1, one, worker), GradientsOf(1, one));
    if (std::isfinite(loss.loss) && std::isfinite(loss.penalty)) continue;
    culprit = &edge;
    break;
  }
  return RuntimeError(fmt::format(
      "the loss is not finite ({} + {}) in epoch {}, batch {}, at the edge \"{}\" \"{}\" \"{}\"; the last commit "
      "stands; try a smaller learning-rate or initial-scale",
      result.loss.loss, result.loss.penalty, place.epoch + 1, place.batch + 1,
      Escape(graph_.nodes().Name(culprit->head)), Escape(graph_.RelationName(culprit->relation)),
      Escape(graph_.nodes().Name(culprit->tail))));
}

void BatchStep::Collect(std::span<const Edge> batch) {
  contributions_.clear();
  relation_contributions_.clear();
  const std::size_t dim = model_.dim;
  const std::size_t width = model_.RelationWidth();
  for (std::size_t c = 0, first = 0; first < batch.size(); ++c, first += options_.chunk) {
    const ChunkResult& result = results_[c];
    const std::span<const Edge> edges =
        batch.subspan(first, std::min<std::size_t>(options_.chunk, batch.size() - first));
    for (std::size_t i = 0; i < edges.size(); ++i) {
      contributions_.push_back({edges[i].head, result.heads.data() + i * dim});
      contributions_.push_back({edges[i].tail, result.tails.data() + i * dim});
      relation_contributions_.push_back({Value(edges[i].relation), result.relations.data() + i * width});
      relation_contributions_.push_back(
          {HeadSideRelation(edges[i].relation), result.head_relations.data() + i * width});
    }
    for (std::size_t j = 0; j < result.tail_negative_ids.size(); ++j) {
      contributions_.push_back({result.tail_negative_ids[j], result.tail_negatives.data() + j * dim});
      contributions_.push_back({result.head_negative_ids[j], result.head_negatives.data() + j * dim});
    }
  }
}

absl::StatusOr<ChunkLoss> BatchStep::Compute(const BatchPlace& place, std::span<const Edge> batch) {
  place_ = place;
  const std::size_t chunks = (batch.size() + options_.chunk - 1) / options_.chunk;
  if (results_.size() < chunks) results_.resize(chunks);
  {
    const Stopwatch watch(times_.compute_seconds);
    ParallelEach(0, chunks, [&](std::size_t c) {
      const std::size_t first = c * options_.chunk;
      const std::size_t edges = std::min<std::size_t>(options_.chunk, batch.size() - first);
      ComputeChunk(place, c, batch.subspan(first, edges), batch, results_[c]);
    });
  }
  ChunkLoss sum;
  for (std::size_t c = 0; c < chunks; ++c) {
    if (!results_[c].status.ok()) return results_[c].status;
    sum.loss += results_[c].loss.loss;
    sum.penalty += results_[c].loss.penalty;
  }
  const Stopwatch watch(times_.apply_seconds);
  Collect(batch);
  if (options_.accumulate > 1) {
    if (absl::Status status = tables_.gradients.AccumulateBatch(contributions_); !status.ok()) return status;
  }
  relation_gradients_.Accumulate(relation_contributions_);
  return sum;
}

absl::Status BatchStep::Apply(float learning_rate, std::uint64_t step) {
  const Stopwatch watch(times_.apply_seconds);
  const OptimizerSpec optimizer = options_.optimizer_spec();
  const RowRounding rounding{.seed = options_.seed, .step = step};
  std::atomic<bool> finite = true;  // relaxed: read behind the loops' ends
  const auto update = [&](std::span<const float> gradient, std::span<float> row, std::span<float> state) {
    UpdateRow(optimizer, learning_rate, step, gradient, row, state);
    if (!AllFinite(row)) finite.store(false, std::memory_order_relaxed);
  };
  if (options_.accumulate == 1) {
    RETURN_IF_ERROR(
        tables_.gradients.ApplyBatch(contributions_, update, tables_.embeddings, tables_.optimizer, rounding));
  } else {
    RETURN_IF_ERROR(tables_.gradients.Apply(update, tables_.embeddings, tables_.optimizer, rounding));
    tables_.gradients.Zero();
  }
  relation_gradients_.ApplyAndZero(optimizer, learning_rate, step, tables_.relations, tables_.relation_optimizer);
  if (!finite && !broken_place_) broken_place_ = place_;
  return absl::OkStatus();
}

absl::Status BatchStep::CheckRows() const {
  const auto explain = [&](std::string_view kind, std::string_view name) {
    const BatchPlace& place = broken_place_.value_or(place_);
    return RuntimeError(
        fmt::format("the row of the {} \"{}\" is not finite by epoch {}, batch {}; the last commit stands; try a "
                    "smaller learning-rate, or smaller weights",
                    kind, Escape(name), place.epoch + 1, place.batch + 1));
  };
  const RelationTable& relations = tables_.relations;
  for (std::uint64_t row = 0; row < relations.rows(); ++row) {
    if (AllFinite(relations.Row(row))) continue;
    const std::uint64_t relation = row % graph_.relation_count();  // reciprocal rows stand behind the others
    return explain("relation", graph_.RelationName(static_cast<RelationId>(relation)));
  }
  if (!broken_place_) return absl::OkStatus();
  std::vector<float> row(model_.dim);
  for (const NodeRange& range : resident_) {
    for (std::uint64_t node = range.begin; node < range.end; ++node) {
      RETURN_IF_ERROR(tables_.embeddings.ReadRow(static_cast<NodeId>(node), row));
      if (!AllFinite(row)) return explain("node", graph_.nodes().Name(static_cast<NodeId>(node)));
    }
  }
  return absl::OkStatus();
}

}  // namespace octavo
