#include "tests/support/naive_trainer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <stdexcept>

#include "base/random.h"
#include "model/negatives.h"
#include "plan/lane_plan.h"
#include "prefetch/epoch_order.h"
#include "prefetch/window_reader.h"
#include "run/initial_rows.h"
#include "tests/support/naive_bf16.h"
#include "tests/support/naive_model.h"

namespace octavo {
namespace {

using Row = std::vector<double>;

// Gradients of a window: row number -> sum. A row that was part of a batch has an entry, even if it is all zeros.
using Gradients = std::map<std::uint64_t, Row>;

void AddTo(Gradients& gradients, std::uint64_t row, double factor, const Row& values) {
  Row& sum = gradients.try_emplace(row, values.size(), 0.0).first->second;
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += factor * values[i];
}

// d f / d x by central differences.
Row Differences(const Row& x, const std::function<double(const Row&)>& f) {
  // Balances the error of the difference (step^2) with that of rounding (1e-16 / step).
  constexpr double kStep = 1e-5;
  Row moved = x;
  Row result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    moved[i] = x[i] + kStep;
    const double above = f(moved);
    moved[i] = x[i] - kStep;
    result[i] = (above - f(moved)) / (2 * kStep);
    moved[i] = x[i];
  }
  return result;
}

bool SameTriple(const Edge& a, const Edge& b) {
  return a.head == b.head && a.relation == b.relation && a.tail == b.tail;
}

class NaiveTrainer {
 public:
  NaiveTrainer(const Graph& graph, const TrainOptions& options, const NaiveBeginning& beginning)
      : graph_(graph),
        options_(options),
        edges_(*beginning.edges),
        run_(beginning.rows),
        frozen_(beginning.frozen),
        frozen_relations_(beginning.frozen_relations),
        step_(beginning.step) {}
  NaiveTrainer(const Graph& graph, const TrainOptions& options)
      : graph_(graph), options_(options), edges_(graph.Edges(Split::kTrain)) {
    const std::uint64_t relation_rows = graph.relation_count() * (options.reciprocal ? 2U : 1U);
    const double scale = InitialScale(options, graph.node_count());
    const double relation_scale = InitialScale(options, relation_rows);
    std::vector<float> row(options.dim);
    for (std::uint64_t i = 0; i < graph.node_count(); ++i) {
      InitialEmbedding(options, scale, i, row);
      run_.embeddings.emplace_back(row.begin(), row.end());
      run_.optimizer.emplace_back(StateSize(options.dim), 0.0);
    }
    row.resize(RelationSize());
    for (std::uint64_t i = 0; i < relation_rows; ++i) {
      InitialRelation(options, relation_scale, i, row);
      run_.relations.emplace_back(row.begin(), row.end());
      run_.relation_optimizer.emplace_back(row.empty() ? 0 : StateSize(row.size()), 0.0);
    }
  }

  NaiveRun Train() {
    for (std::uint64_t epoch = 0; epoch < options_.epochs; ++epoch) TrainEpoch(epoch);
    return std::move(run_);
  }

 private:
  std::size_t RelationSize() const {
    if (options_.model == ModelKind::kDot || options_.model == ModelKind::kSourceContext) return 0;
    if (options_.model == ModelKind::kRescal)
      return options_.dim * (options_.block == 0 ? options_.dim : options_.block);
    return options_.model == ModelKind::kRotatE ? options_.dim / 2 : options_.dim;
  }

  std::size_t StateSize(std::size_t width) const {
    switch (options_.optimizer) {
      case OptimizerKind::kSgd:
        return 0;
      case OptimizerKind::kAdagrad:
        return width;
      case OptimizerKind::kRowAdagrad:
        return 1;
      case OptimizerKind::kAdam:
        return 2 * width;
    }
    return 0;
  }

  void TrainEpoch(std::uint64_t epoch) {
    const PartitionShape shape{static_cast<std::uint32_t>(std::max<std::uint64_t>(1, options_.partitions)),
                               static_cast<std::uint32_t>(std::max<std::uint64_t>(1, options_.resident))};
    const auto planner =
        MakeEpochPlans(graph_.Edges(Split::kTrain), {.lanes = static_cast<std::uint32_t>(options_.lanes),
                                                     .shape = shape,
                                                     .order = options_.order,
                                                     .seed = options_.seed});
    const EpochPlan& plan = planner->Plan(epoch);
    OrderSettings settings{.seed = options_.seed,
                           .batch_edges = options_.batch,
                           .inverse_offset = options_.InverseOffset(graph_.relation_count())};
    settings.window_edges = settings.pool_edges;
    const EpochOrder order(edges_, settings, epoch, plan);
    WindowReader reader(edges_, settings);
    loss_ = penalty_ = 0;
    std::uint64_t window = 0;
    for (std::size_t state = 0; state < plan.states.size(); ++state) {
      for (const LaneTurn& turn : plan.turns) {
        if (turn.first_state == state) BeginTurn(turn);
      }
      if (order.FirstBatch(state) == order.FirstBatch(state + 1)) continue;  // no edges
      EdgeWindow edges;
      if (!reader.Read(order, window++, edges).ok()) throw std::runtime_error("read edges");
      first_group_.clear();
      for (const PartitionId partition : plan.states[state].first_group) first_group_.insert(Value(partition));
      resident_.clear();
      for (const PartitionId partition : plan.states[state].NegativePartitions()) {
        const std::uint64_t rows = graph_.description().partition_rows;
        const std::uint64_t begin = Value(partition) * rows;
        resident_.push_back({begin, std::min(begin + rows, graph_.node_count())});
      }
      TrainState(epoch, order.FirstBatch(state), order.batch_count(), edges.edges);
    }
    if (options_.lanes > 1) EndRound();
    if (window != order.window_count()) throw std::runtime_error("a state of several windows");
    double weights = 0;
    const std::vector<Edge> all = *edges_.ReadAll();
    for (const Edge& edge : all) weights += edge.weight;
    run_.losses.push_back(loss_ / (2.0 * weights));
    run_.penalties.push_back(penalty_ / (2.0 * weights));
  }

  // Relations and their optimizer state.
  struct Relations {
    NaiveRows rows;
    NaiveRows state;
  };

  // Each lane of a round begins with the same relations.
  void BeginTurn(const LaneTurn& turn) {
    if (turn.lane == 0) {
      if (turn.round > 0) EndRound();
      begun_ = {run_.relations, run_.relation_optimizer};
    } else {
      trained_.push_back({run_.relations, run_.relation_optimizer});
      run_.relations = begun_.rows;
      run_.relation_optimizer = begun_.state;
    }
  }

  // The formulas of train/lane_exchange.h.
  void EndRound() {
    trained_.push_back({run_.relations, run_.relation_optimizer});
    run_.relations = begun_.rows;
    run_.relation_optimizer = begun_.state;
    for (std::size_t r = 0; r < begun_.rows.size(); ++r) {
      Row& state = run_.relation_optimizer[r];
      for (std::size_t i = 0; i < state.size(); ++i) {
        for (const Relations& lane : trained_) state[i] += lane.state[r][i] - begun_.state[r][i];
      }
      for (std::size_t i = 0; i < begun_.rows[r].size(); ++i) {
        for (const Relations& lane : trained_) {
          const std::size_t of = state.size() == 1 ? 0 : i;
          const double factor = state.empty() || state[of] == 0 ? 1 : std::sqrt(lane.state[r][of] / state[of]);
          run_.relations[r][i] += (lane.rows[r][i] - begun_.rows[r][i]) * factor;
        }
      }
    }
    trained_.clear();
  }

  void TrainState(std::uint64_t epoch, std::uint64_t first_batch, std::uint64_t batches, std::span<const Edge> edges) {
    const std::uint64_t size = options_.batch * Entries();
    for (std::uint64_t first = 0, batch = first_batch; first < edges.size(); first += size, ++batch) {
      const std::uint64_t end = std::min<std::uint64_t>(first + size, edges.size());
      TrainBatch(epoch, batch, edges.subspan(first, end - first));
      if ((batch + 1) % options_.accumulate == 0 || end == edges.size()) {
        const double done = static_cast<double>(epoch * batches + batch);
        const double rise = (done + 1) / (options_.warmup_epochs * static_cast<double>(batches) + 1);
        Update(Rate(done / static_cast<double>(options_.epochs * batches)) * std::min(1.0, rise));
      }
    }
  }

  double Rate(double done) const {
    switch (options_.learning_rate_schedule) {
      case LearningRateSchedule::kConstant:
      case LearningRateSchedule::kPlateau:  // no validation here
        return options_.learning_rate;
      case LearningRateSchedule::kLinear:
        return options_.learning_rate * (1 - done);
      case LearningRateSchedule::kCosine:
        return options_.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * done));
    }
    return 0;
  }

  void TrainBatch(std::uint64_t epoch, std::uint64_t batch, std::span<const Edge> edges) {
    const std::size_t size = options_.chunk * Entries();
    for (std::size_t first = 0, chunk = 0; first < edges.size(); first += size, ++chunk) {
      const auto part = edges.subspan(first, std::min<std::size_t>(size, edges.size() - first));
      RandomStream dropout(options_.seed, RandomPurpose::kDropout, static_cast<std::uint32_t>(epoch),
                           (batch << 32) + chunk);
      for (const Side side : {Side::kTail, Side::kHead}) {
        if (options_.group_queries && side == Side::kHead) continue;
        DrawMasks(part, dropout);
        TrainSide(part, side, DrawNegatives(epoch, batch, chunk, edges, part, side));
      }
    }
  }

  // How often an edge occurs in a batch.
  std::uint64_t Entries() const { return options_.group_queries ? 2 : 1; }

  // Whether two adjacent edges share a query.
  bool AskTheSame(const Edge& a, const Edge& b) const {
    return options_.group_queries && a.head == b.head && a.relation == b.relation;
  }

  // Factors of the rows of queries, for each edge of the chunk, or for each run of edges with the same query: the same
  // numbers in the same order as the trainer's.
  void DrawMasks(std::span<const Edge> chunk, RandomStream& stream) {
    const auto draw = [&](double rate, std::size_t width, std::vector<Row>& masks) {
      masks.clear();
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        const bool repeated = i > 0 && AskTheSame(chunk[i], chunk[i - 1]);
        masks.push_back(repeated ? masks.back() : Row(width, 1.0));
        if (repeated || rate == 0) continue;
        for (double& factor : masks.back()) factor = stream.NextFloat() < static_cast<float>(rate) ? 0 : 1 / (1 - rate);
      }
    };
    draw(options_.dropout, options_.dim, known_masks_);
    draw(options_.relation_dropout, RelationSize(), relation_masks_);
  }

  // The same numbers in the same order as the trainer's.
  std::vector<NodeId> DrawNegatives(std::uint64_t epoch, std::uint64_t batch, std::uint64_t chunk,
                                    std::span<const Edge> edges, std::span<const Edge> chunk_edges, Side side) const {
    std::vector<NodeId> negatives;
    if (options_.negatives == 0) {
      for (const NodeRange& range : resident_) {
        for (std::uint64_t id = range.begin; id < range.end; ++id) negatives.push_back(NodeId{id});
      }
      return negatives;
    }
    if (options_.known_negatives) {
      for (std::size_t i = 0; i < chunk_edges.size(); ++i) {
        if (i > 0 && AskTheSame(chunk_edges[i], chunk_edges[i - 1])) continue;
        negatives.push_back(side == Side::kTail ? chunk_edges[i].head : chunk_edges[i].tail);
      }
    }
    const std::size_t known = negatives.size();
    negatives.resize(options_.negatives);
    const std::uint64_t place = (batch << 32) + 2 * chunk + (side == Side::kHead ? 1 : 0);
    const auto typed =
        static_cast<std::size_t>(std::llround(options_.typed_fraction * static_cast<double>(negatives.size() - known)));
    SampleNegatives(RandomStream(options_.seed, RandomPurpose::kNegatives, static_cast<std::uint32_t>(epoch), place),
                    resident_, edges, side, static_cast<float>(options_.degree_fraction),
                    std::span(negatives).subspan(known, negatives.size() - known - typed),
                    options_.degree_by_weight ? DegreeBy::kWeights : DegreeBy::kEdges);
    RandomStream draws(options_.seed, RandomPurpose::kTypedNegatives, static_cast<std::uint32_t>(epoch), place);
    for (std::size_t j = negatives.size() - typed; j < negatives.size(); ++j) {
      negatives[j] = DrawTyped(chunk_edges[draws.Below(chunk_edges.size())], side, draws);
    }
    return negatives;
  }

  // One of the resident nodes that some training edge has where `edge` has its answer; any resident one if there is
  // none.
  NodeId DrawTyped(const Edge& edge, Side side, RandomStream& draws) const {
    const bool inverse = Value(edge.relation) >= graph_.relation_count();  // of a group: asks for the head
    const bool heads = inverse || side == Side::kHead;
    const std::uint32_t relation = Value(edge.relation) - (inverse ? graph_.relation_count() : 0);
    std::set<std::uint64_t> seen;
    const absl::StatusOr<std::vector<Edge>> all_edges = graph_.Edges(Split::kTrain).ReadAll();
    if (!all_edges.ok()) throw std::runtime_error("read edges");
    for (const Edge& other : *all_edges) {
      if (Value(other.relation) == relation) seen.insert(Value(heads ? other.head : other.tail));
    }
    std::vector<std::uint64_t> nodes;
    std::vector<std::uint64_t> all;
    for (const NodeRange& range : resident_) {
      for (std::uint64_t node = range.begin; node < range.end; ++node) {
        all.push_back(node);
        if (seen.contains(node)) nodes.push_back(node);
      }
    }
    const std::vector<std::uint64_t>& from = nodes.empty() ? all : nodes;
    return NodeId{from[draws.Below(from.size())]};
  }

  // The row of the relation that scores side `side` of the edge.
  std::uint64_t RelationRow(const Edge& edge, Side side) const {
    const bool inverse = side == Side::kHead && options_.reciprocal;
    return Value(edge.relation) + (inverse ? graph_.relation_count() : 0) -
           (Turned(edge) ? graph_.relation_count() : 0);
  }

  // Whether an entry of a group is (tail, r^-1, head) of an edge, and no relation has a row for its inverse.
  bool Turned(const Edge& edge) const {
    return options_.group_queries && !options_.reciprocal && Value(edge.relation) >= graph_.relation_count();
  }

  void TrainSide(std::span<const Edge> chunk, Side side, const std::vector<NodeId>& negatives) {
    for (const NodeId node : negatives) AddTo(node_gradients_, Value(node), 0, Row(options_.dim));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      known_mask_ = &known_masks_[i];
      relation_mask_ = &relation_masks_[i];
      AddEdge(chunk[i], side, UnmaskedNegatives(chunk, chunk[i], side, negatives), Rivals(chunk, i));
      if (options_.relation_prediction > 0 && side == Side::kTail) AddRelationLoss(chunk[i]);
      Penalise(chunk[i], side);
    }
  }

  // The other answers, each once, of the chunk's edges with the same query as edge i, if they compete.
  std::vector<NodeId> Rivals(std::span<const Edge> chunk, std::size_t i) const {
    std::vector<NodeId> rivals;
    for (std::size_t k = 0; k < chunk.size() && options_.competing_answers; ++k) {
      const bool asks = AskTheSame(chunk[k], chunk[i]) && chunk[k].tail != chunk[i].tail;
      if (asks && std::ranges::find(rivals, chunk[k].tail) == rivals.end()) rivals.push_back(chunk[k].tail);
    }
    return rivals;
  }

  // The negatives that do not turn `edge` into one of the chunk.
  std::vector<NodeId> UnmaskedNegatives(std::span<const Edge> chunk, const Edge& edge, Side side,
                                        const std::vector<NodeId>& negatives) const {
    std::vector<NodeId> unmasked;
    for (const NodeId node : negatives) {
      Edge corrupted = edge;
      (side == Side::kTail ? corrupted.tail : corrupted.head) = node;
      const bool positive =
          std::any_of(chunk.begin(), chunk.end(), [&](const Edge& other) { return SameTriple(corrupted, other); });
      if (!positive && IsOfAnswers(chunk, edge, side, node)) unmasked.push_back(node);
    }
    return unmasked;
  }

  // With lanes: whether both nodes are in the same of the lane's two groups.
  bool SameGroup(NodeId a, NodeId b) const {
    const auto in_first = [&](NodeId n) {
      return first_group_.contains(Value(n) / graph_.description().partition_rows);
    };
    return !first_group_.empty() && in_first(a) == in_first(b);
  }

  // Losses other than softmax, with lanes: whether `node` is not in the group of the anchor, or some answer to the
  // query of `edge` is there, too.
  bool IsOfAnswers(std::span<const Edge> chunk, const Edge& edge, Side side, NodeId node) const {
    if (options_.loss == LossKind::kSoftmax || !SameGroup(side == Side::kTail ? edge.head : edge.tail, node))
      return true;
    if (side == Side::kHead) return SameGroup(edge.head, edge.tail);
    return std::any_of(chunk.begin(), chunk.end(), [&](const Edge& other) {
      return (SameTriple(other, edge) || AskTheSame(other, edge)) && SameGroup(other.head, other.tail);
    });
  }

  // Softmax with lanes: edges within a group are trained in one of 2L - 1 rounds, those between the two in each.
  double LogRate(NodeId anchor, NodeId candidate) const {
    const bool counts = options_.loss == LossKind::kSoftmax && SameGroup(anchor, candidate);
    return counts ? -std::log(2.0 * static_cast<double>(options_.lanes) - 1) : 0;
  }

  // The weight of the edge in the loss of its answer.
  double AnswerWeight(const Edge& edge, Side side) const {
    if (options_.answer_weighting == 0) return edge.weight;
    const absl::StatusOr<std::vector<Edge>> all_edges = graph_.Edges(Split::kTrain).ReadAll();
    if (!all_edges.ok()) throw std::runtime_error("read edges");
    std::map<NodeId, double> degrees;
    for (const Edge& other : *all_edges) {
      ++degrees[other.head];
      ++degrees[other.tail];
    }
    double sum = 0;
    for (const Edge& other : *all_edges) sum += degrees[other.head] + degrees[other.tail];
    const double mean = sum / (2 * static_cast<double>(all_edges->size()));
    const double degree = degrees[side == Side::kTail ? edge.tail : edge.head];
    return edge.weight * (1 + options_.answer_weighting * (degree / mean - 1));
  }

  // Where the three rows of a score are.
  struct Triple {
    std::uint64_t head = 0;
    std::uint64_t relation = 0;
    std::uint64_t tail = 0;
    bool tail_known = false;  // else the head is
  };

  Triple TripleOf(const Edge& edge, Side side, NodeId candidate) const {
    const std::uint64_t known = Value(side == Side::kTail ? edge.head : edge.tail);
    const std::uint64_t relation = RelationRow(edge, side);
    const bool asks_tail = side == Side::kTail && !Turned(edge);
    if (asks_tail || options_.reciprocal) return {known, relation, Value(candidate)};
    return {Value(candidate), relation, known, true};
  }

  static Row Product(Row row, const Row& mask) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] *= mask[i];
    return row;
  }
  Row HeadOf(const Triple& triple) const {
    const Row& row = run_.embeddings[triple.head];
    return triple.tail_known ? row : Product(row, *known_mask_);
  }
  Row TailOf(const Triple& triple) const {
    const Row& row = run_.embeddings[triple.tail];
    return triple.tail_known ? Product(row, *known_mask_) : row;
  }
  Row RelationOf(const Triple& triple) const {
    return options_.relation_dropout > 0 ? Product(run_.relations[triple.relation], *relation_mask_)
                                         : run_.relations[triple.relation];
  }

  double Score(const Triple& triple) const {
    return NaiveScore(options_.model_spec(), HeadOf(triple), RelationOf(triple), TailOf(triple));
  }

  // A negative's score with bf16 products: rounded query times rounded candidate. A score that is an inner product is
  // linear in the candidate, and its slopes are the query.
  struct RoundedPair {
    Row query;
    Row candidate;
  };
  static Row Rounded(Row row) {
    for (double& value : row) value = NaiveBf16(static_cast<float>(value));
    return row;
  }
  RoundedPair RoundedOf(const Triple& triple) const {
    const ModelSpec spec = options_.model_spec();
    const Row head = HeadOf(triple);
    const Row relation = RelationOf(triple);
    const Row tail = TailOf(triple);
    if (triple.tail_known) {
      return {Rounded(Differences(head, [&](const Row& x) { return NaiveScore(spec, x, relation, tail); })),
              Rounded(head)};
    }
    return {Rounded(Differences(tail, [&](const Row& x) { return NaiveScore(spec, head, relation, x); })),
            Rounded(tail)};
  }
  double RoundedScore(const Triple& triple) const {
    const auto [query, candidate] = RoundedOf(triple);
    return std::inner_product(query.begin(), query.end(), candidate.begin(), 0.0);
  }
  // The candidate gets the rounded slope times the rounded query; the query gets it times the rounded candidate, and
  // passes it on to the rows that it is made of: the slopes of the score with that in place of the candidate.
  void AddRoundedGradient(const Triple& triple, double slope) {
    const ModelSpec spec = options_.model_spec();
    const RoundedPair pair = RoundedOf(triple);
    const Row& query = pair.query;
    const Row& candidate = pair.candidate;
    const double rounded = NaiveBf16(static_cast<float>(slope));
    const Row relation = RelationOf(triple);
    const Row known = triple.tail_known ? TailOf(triple) : HeadOf(triple);
    const auto score = [&](const Row& x, const Row& r) {
      return triple.tail_known ? NaiveScore(spec, candidate, r, x) : NaiveScore(spec, x, r, candidate);
    };
    const Row of_known = Differences(known, [&](const Row& x) { return score(x, relation); });
    const Row of_relation = Differences(relation, [&](const Row& r) { return score(known, r); });
    if (triple.tail_known) return AddGradients(triple, rounded, query, of_relation, of_known);
    AddGradients(triple, rounded, of_known, of_relation, query);
  }

  // Adds slope * gradient, through the masks.
  void AddGradients(const Triple& triple, double slope, const Row& head, const Row& relation, const Row& tail) {
    AddTo(node_gradients_, triple.head, slope, triple.tail_known ? head : Product(head, *known_mask_));
    AddTo(node_gradients_, triple.tail, slope, triple.tail_known ? Product(tail, *known_mask_) : tail);
    AddTo(relation_gradients_, triple.relation, slope,
          options_.relation_dropout > 0 ? Product(relation, *relation_mask_) : relation);
  }

  void AddScoreGradient(const Triple& triple, double slope) {
    const ModelSpec spec = options_.model_spec();
    const Row head = HeadOf(triple);
    const Row relation = RelationOf(triple);
    const Row tail = TailOf(triple);
    if (spec.kind == ModelKind::kTransE && spec.norm == Norm::kL1) {
      // -|h + r - t|: among so many terms some lie within a step of their kink, where a difference is wrong.
      Row sign(head.size());
      for (std::size_t i = 0; i < sign.size(); ++i) {
        const double difference = head[i] + relation[i] - tail[i];
        sign[i] = difference > 0 ? -1 : difference < 0 ? 1 : 0;
      }
      Row opposite = sign;
      for (double& value : opposite) value = -value;
      return AddGradients(triple, slope, sign, sign, opposite);
    }
    AddGradients(triple, slope, Differences(head, [&](const Row& x) { return NaiveScore(spec, x, relation, tail); }),
                 Differences(relation, [&](const Row& x) { return NaiveScore(spec, head, x, tail); }),
                 Differences(tail, [&](const Row& x) { return NaiveScore(spec, head, relation, x); }));
  }

  void AddEdge(const Edge& edge, Side side, const std::vector<NodeId>& negatives, const std::vector<NodeId>& rivals) {
    const LossSpec spec = options_.loss_spec(graph_.node_count());
    const auto& [anchor, answer] =
        side == Side::kTail ? std::pair(edge.head, edge.tail) : std::pair(edge.tail, edge.head);
    std::vector<NodeId> candidates = {answer};
    candidates.insert(candidates.end(), negatives.begin(), negatives.end());
    candidates.insert(candidates.end(), rivals.begin(), rivals.end());
    std::vector<Triple> triples;
    Row added;
    for (const NodeId node : candidates) {
      triples.push_back(TripleOf(edge, side, node));
      added.push_back(LogRate(anchor, node));
    }
    Row scores;
    // Triples [1, 1 + negatives) are scored by products.
    const bool bf16 = options_.precision == Precision::kBf16;
    const auto is_rounded = [&](std::size_t i) { return bf16 && i > 0 && i <= negatives.size(); };
    for (std::size_t i = 0; i < triples.size(); ++i) {
      scores.push_back(is_rounded(i) ? RoundedScore(triples[i]) : Score(triples[i]));
    }
    const auto of_negatives = [&](const Row& s) { return std::span(s).subspan(1, negatives.size()); };
    const Row held = NaiveAdversarialWeights(spec, of_negatives(scores));
    const double weight = AnswerWeight(edge, side);
    const auto loss = [&](Row s) {
      for (std::size_t i = 0; i < s.size(); ++i) s[i] += added[i];
      return weight * NaiveLoss(spec, s[0], of_negatives(s), held, std::span(s).subspan(1 + negatives.size()));
    };
    loss_ += loss(scores);
    const Row slopes = Differences(scores, loss);
    for (std::size_t i = 0; i < triples.size(); ++i) {
      is_rounded(i) ? AddRoundedGradient(triples[i], slopes[i]) : AddScoreGradient(triples[i], slopes[i]);
    }
  }

  // The softmax loss of the edge's relation among all others, without dropout.
  void AddRelationLoss(const Edge& edge) {
    const double weight = options_.relation_prediction * edge.weight;
    const ModelSpec spec = options_.model_spec();
    const Row& head = run_.embeddings[Value(edge.head)];
    const Row& tail = run_.embeddings[Value(edge.tail)];
    Row scores;
    const std::size_t candidates = options_.group_queries ? run_.relations.size() : graph_.relation_count();
    // As with negatives: rounded query times rounded relation; the edge's own is not scored by products.
    const auto is_rounded = [&](std::size_t r) {
      return options_.precision == Precision::kBf16 && r != Value(edge.relation);
    };
    const auto relation_of = [&](std::size_t r) {
      return is_rounded(r) ? Rounded(run_.relations[r]) : run_.relations[r];
    };
    const auto score_of = [&](const Row& x) { return NaiveScore(spec, head, x, tail); };
    const Row query = Rounded(Differences(run_.relations[0], score_of));  // of inner products, by any relation
    for (std::size_t r = 0; r < candidates; ++r) {
      const Row relation = relation_of(r);
      scores.push_back(is_rounded(r) ? std::inner_product(query.begin(), query.end(), relation.begin(), 0.0)
                                     : score_of(relation));
    }
    const auto loss = [&](const Row& s) {
      Row others = s;
      others.erase(others.begin() + Value(edge.relation));
      return weight * NaiveLoss({.kind = LossKind::kSoftmax}, s[Value(edge.relation)], others, {});
    };
    loss_ += loss(scores);
    const Row slopes = Differences(scores, loss);
    for (std::size_t r = 0; r < slopes.size(); ++r) {
      const Row relation = relation_of(r);
      const double slope = is_rounded(r) ? NaiveBf16(static_cast<float>(slopes[r])) : slopes[r];
      AddTo(node_gradients_, Value(edge.head), slope,
            Differences(head, [&](const Row& x) { return NaiveScore(spec, x, relation, tail); }));
      AddTo(node_gradients_, Value(edge.tail), slope,
            Differences(tail, [&](const Row& x) { return NaiveScore(spec, head, relation, x); }));
      AddTo(relation_gradients_, r, slope, is_rounded(r) ? query : Differences(relation, score_of));
    }
  }

  void PenaliseByDura(const Edge& edge, std::uint64_t relation) {
    const auto [head_id, tail_id] = Turned(edge) ? std::pair(edge.tail, edge.head) : std::pair(edge.head, edge.tail);
    const Row& h = run_.embeddings[Value(head_id)];
    const Row& r = run_.relations[relation];
    const Row& t = run_.embeddings[Value(tail_id)];
    const auto dura = [&](const Row& head, const Row& of_relation, const Row& tail) {
      const double weight = edge.weight * options_.regularizer_spec().weight;
      if (options_.model == ModelKind::kRescal) {
        return NaiveMatrixDura(weight, options_.model_spec().BlockSide(), head, of_relation, tail);
      }
      return NaiveDura(weight, options_.model == ModelKind::kComplEx, head, of_relation, tail);
    };
    penalty_ += dura(h, r, t);
    AddTo(node_gradients_, Value(head_id), 1, Differences(h, [&](const Row& x) { return dura(x, r, t); }));
    AddTo(node_gradients_, Value(tail_id), 1, Differences(t, [&](const Row& x) { return dura(h, r, x); }));
    AddTo(relation_gradients_, relation, 1, Differences(r, [&](const Row& x) { return dura(h, x, t); }));
  }

  void Penalise(const Edge& edge, Side side) {
    const RegularizerSpec spec = options_.regularizer_spec();
    const bool complex = options_.model == ModelKind::kComplEx || options_.model == ModelKind::kRotatE;
    if (spec.kind == RegularizerKind::kDura) return PenaliseByDura(edge, RelationRow(edge, side));
    const auto penalise = [&](Gradients& gradients, const NaiveRows& rows, std::uint64_t row) {
      const auto penalty = [&](const Row& x) { return edge.weight * NaivePenalty(spec, complex, x); };
      penalty_ += penalty(rows[row]);
      AddTo(gradients, row, 1, Differences(rows[row], penalty));
    };
    penalise(node_gradients_, run_.embeddings, Value(edge.head));
    penalise(node_gradients_, run_.embeddings, Value(edge.tail));
    if (options_.model != ModelKind::kRotatE) penalise(relation_gradients_, run_.relations, RelationRow(edge, side));
  }

  void Update(double rate) {
    ++step_;
    for (const auto& [row, gradient] : node_gradients_) {
      if (!frozen_.empty() && frozen_[row]) continue;
      UpdateOne(rate, gradient, run_.embeddings[row], run_.optimizer[row]);
    }
    for (const auto& [row, gradient] : relation_gradients_) {
      if (!frozen_relations_.empty() && frozen_relations_[row]) continue;
      UpdateOne(rate * options_.relation_rate_factor, gradient, run_.relations[row], run_.relation_optimizer[row]);
    }
    node_gradients_.clear();
    relation_gradients_.clear();
  }

  // The formulas of optimize/optimizer.h.
  void UpdateOne(double rate, const Row& g, Row& x, Row& s) const {
    constexpr double kEpsilon = 1e-10;
    constexpr double kBeta1 = 0.9;
    constexpr double kBeta2 = 0.999;
    const std::size_t n = x.size();
    if (options_.optimizer == OptimizerKind::kRowAdagrad && n > 0) {
      double squares = 0;
      for (const double value : g) squares += value * value;
      s[0] += squares / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      switch (options_.optimizer) {
        case OptimizerKind::kSgd:
          x[i] -= rate * g[i];
          break;
        case OptimizerKind::kAdagrad:
          s[i] += g[i] * g[i];
          x[i] -= rate * g[i] / (std::sqrt(s[i]) + kEpsilon);
          break;
        case OptimizerKind::kRowAdagrad:
          x[i] -= rate * g[i] / (std::sqrt(s[0]) + kEpsilon);
          break;
        case OptimizerKind::kAdam: {
          double& m = s[i];
          double& v = s[n + i];
          m = kBeta1 * m + (1 - kBeta1) * g[i];
          v = kBeta2 * v + (1 - kBeta2) * g[i] * g[i];
          const double m_hat = m / (1 - std::pow(kBeta1, step_));
          const double v_hat = v / (1 - std::pow(kBeta2, step_));
          x[i] -= rate * m_hat / (std::sqrt(v_hat) + kEpsilon);
          break;
        }
      }
    }
  }

  const Graph& graph_;
  const TrainOptions options_;
  const CellReader& edges_;
  NaiveRun run_;
  const std::vector<bool> frozen_;
  const std::vector<bool> frozen_relations_;
  std::vector<Row> known_masks_;  // of dropout, for each edge of the chunk's side
  std::vector<Row> relation_masks_;
  Relations begun_;                  // with which the round began
  std::vector<Relations> trained_;   // by the lanes of the round so far
  const Row* known_mask_ = nullptr;  // of the current edge
  const Row* relation_mask_ = nullptr;
  Gradients node_gradients_;
  Gradients relation_gradients_;
  std::vector<NodeRange> resident_;      // of the current state
  std::set<std::uint64_t> first_group_;  // its partitions of the lane's first group
  double loss_ = 0;
  double penalty_ = 0;
  int step_ = 0;
};

}  // namespace

NaiveRun TrainNaively(const Graph& graph, const TrainOptions& options) { return NaiveTrainer(graph, options).Train(); }

NaiveRun TrainNaively(const Graph& graph, const TrainOptions& options, const NaiveBeginning& beginning) {
  return NaiveTrainer(graph, options, beginning).Train();
}

}  // namespace octavo
