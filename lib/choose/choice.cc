#include "choose/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/count_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "model/model_spec.h"
#include "run/footprint.h"
#include "run/precision.h"
#include "run/trained_edges.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

// A score and its two gradients are three products, each of a multiplication and an addition for each number.
constexpr double kFlopsPerScore = 6;
// Up to so many nodes every one is a negative: more scores, but the loss of all answers.
constexpr std::uint64_t kMostNodesForAll = 5000;
constexpr std::uint64_t kMostNegatives = 4000;
constexpr std::uint64_t kLeastNegatives = 500;
constexpr std::uint64_t kDimStep = 128;
constexpr std::uint64_t kMostDim = 1024;
// Up to kMostNodesForAll nodes, of edges one by one. If the cost does not allow them, groups are better.
constexpr std::uint64_t kMostDimAlone = 512;
constexpr std::uint64_t kWantedDim = 256;     // is worth more than further negatives
constexpr std::uint64_t kLeastDim = 128;      // is worth more than having all tables in memory
constexpr std::uint64_t kLeastTimedDim = 32;  // where a time is too short for kLeastDim
// From this share of distinct queries on, the answers of a query are few, and gain from competing.
constexpr double kFewAnswers = 0.4;
// With up to so many training edges, which are repeated more often, from this share on.
constexpr std::uint64_t kOftenRepeated = 200'000;
constexpr double kFewAnswersRepeated = 0.2;
// From this share of the edges on, the node with the most is named as a reason.
constexpr double kLargeHub = 0.1;
constexpr std::uint64_t kUpdatesPerEpoch = 300;
constexpr std::uint64_t kLeastBatch = 100;
constexpr std::uint64_t kMostBatch = 4096;
constexpr std::uint64_t kMostChunk = 512;
// Of the pairs of all walks, in all epochs: enough for the graphs measured, minutes of training.
constexpr double kTrainedPairs = 700e6;
constexpr double kMostWalks = 80;  // from each node

// Fewer for more edges, so that the number of updates rises with their root.
std::uint64_t EpochsOf(std::uint64_t edges) {
  constexpr double kOf100000 = 40;
  const double epochs = kOf100000 * std::sqrt(1e5 / static_cast<double>(edges));
  return static_cast<std::uint64_t>(std::clamp(std::round(epochs), 4.0, 100.0));
}

bool IsSparse(const GraphFacts& facts) { return facts.EdgesPerNode() < 5; }
bool HasFewNodes(const GraphFacts& facts) { return facts.nodes <= kMostNodesForAll; }

class Chooser {
 public:
  Chooser(const GraphFacts& facts, const GraphDescription& graph, std::uint64_t memory, const TrainOptions& options,
          const GivenOptions& given, double most_flops, bool timed)
      : facts_(facts),
        graph_(graph),
        memory_(memory),
        given_(given),
        most_flops_(most_flops),
        timed_(timed),
        options_(options) {}

  Choice Choose() {
    ChooseModel();
    ChooseDescent();
    ChooseLoss();
    if (!WithRelations()) ChooseWalks();
    ChooseBatches();
    if (WithRelations()) {
      ChooseSize();
      ChooseBlock();
    } else {
      ChoosePlainSize();
    }
    ChooseRegularizer();
    ChoosePrecision();
    ChooseAnswerWeighting();
    FitMemory();
    ChooseRelationPrediction();
    ChooseCorrection();
    ChooseRegularization();
    ChooseRate();
    return {.options = options_,
            .flops = WithRelations() ? Flops()
                     : OfWalks()     ? most_flops_
                                     : 0,
            .names = chosen_,
            .facts = FactsText(),
            .chosen = ChosenText(options_, given_, chosen_),
            .reasons = ReasonsText()};
  }

 private:
  bool Free(std::string_view name) const { return !given_.contains(name); }
  template <typename T>
  void Set(std::string_view name, T TrainOptions::*member, T value) {
    if (!Free(name)) return;
    options_.*member = value;
    chosen_.emplace(name);
  }
  void Because(std::string_view reason) { reasons_.emplace_back(reason); }

  // Whether the question is which edges there are, and not only what is near: edges are held out, or one kind of nodes
  // is asked for by the other.
  bool AsksForEdges() const {
    if (facts_.HasRelations()) return true;
    return !facts_.of_walks && !WantsWalks() && (HeldOut() || facts_.two_kinds);
  }
  bool WantsWalks() const {
    if (!Free("walk")) return options_.walk != Walk::kNone;
    return !Free("walks") || !Free("walk-length") || !Free("walk-window");
  }
  bool HeldOut() const { return graph_.valid_edges + graph_.test_edges > 0; }
  bool WithRelations() const { return options_.model_spec().RelationWidth() > 0; }
  bool OfWalks() const { return options_.walk != Walk::kNone || facts_.of_walks; }
  // The pairs of walks for most_flops_, if they are `usual` for kUsualFlops.
  double PairsFor(double usual) const { return usual * most_flops_ / kUsualFlops; }
  bool OfProducts() const {
    return options_.model == ModelKind::kComplEx || options_.model == ModelKind::kDistMult ||
           options_.model == ModelKind::kRescal;
  }
  bool Distance() const { return options_.model == ModelKind::kTransE || options_.model == ModelKind::kRotatE; }
  bool Sparse() const { return IsSparse(facts_); }

  void ChooseModel();
  void ChooseDescent();
  void ChooseLoss();
  void ChooseBatches();
  void ChooseSize();
  void ChooseBlock();
  void ChooseWalks();
  void ShortenWalks();
  void ChoosePlainSize();
  void ChooseRegularizer();
  void ChoosePrecision();
  void FitMemory();
  void ChooseCorrection();
  void ChooseRelationPrediction();
  void ChooseAnswerWeighting();
  void ChooseRegularization();
  void ChooseRate();
  bool Shrink();
  bool FitsWhole() const;
  bool Fits() const;

  // What the node with the most edges has beyond its part if all had as many.
  double HubShare() const { return std::max(0.0, facts_.largest_share - 2 / static_cast<double>(facts_.nodes)); }
  bool FewNodes() const { return HasFewNodes(facts_); }
  double Flops() const {
    return FlopsPerNumber(options_.group_queries) * static_cast<double>(options_.dim * Negatives());
  }
  double FlopsPerNumber(bool grouped) const;  // of all epochs, for each dimension and negative
  std::uint64_t DimFor(std::uint64_t negatives) const;
  // Options that were given need drawn negatives.
  bool AsksForDrawn() const {
    return (!Free("known-negatives") && options_.known_negatives) || options_.degree_fraction > 0 ||
           options_.typed_fraction > 0;
  }
  bool AffordsAllNegatives(std::uint64_t dim) const;
  std::uint64_t Negatives() const { return options_.negatives == 0 ? facts_.nodes : options_.negatives; }

  std::string FactsText() const;
  std::string ReasonsText() const { return fmt::format("{}", fmt::join(reasons_, "; ")); }

  const GraphFacts& facts_;
  const GraphDescription& graph_;
  const std::uint64_t memory_;
  const GivenOptions& given_;
  const double most_flops_;
  const bool timed_;
  TrainOptions options_;
  GivenOptions chosen_;  // by Set
  std::vector<std::string> reasons_;
  bool predicts_relations_ = false;  // by the rule
};

void Chooser::ChooseModel() {
  // Blocks of 4 hold more than complex numbers. From a thousand nodes on they were not better on every graph.
  constexpr std::uint64_t kMostNodesForBlocks = 500;
  const bool blocks = options_.block > 0 || (facts_.HasRelations() && facts_.nodes <= kMostNodesForBlocks &&
                                             Free("block") && options_.relation_prediction == 0);
  Set("model", &TrainOptions::model,
      !AsksForEdges() ? ModelKind::kDot
      : blocks        ? ModelKind::kRescal
                      : ModelKind::kComplEx);
  if (Free("model")) {
    Because(!AsksForEdges() ? "dot for a graph of one relation: linked nodes become similar"
            : blocks        ? "rescal in small blocks holds relations of every kind, and the nodes are few"
                            : "complex holds symmetric, directed and inverse relations");
    if (AsksForEdges() && !facts_.HasRelations()) {
      Because(HeldOut()
                  ? "edges are held out, so they are trained and not walks: --model dot for vectors of similar nodes"
                  : "heads and tails are two kinds of nodes, of which one is asked for by the other");
    }
  }
  Set("reciprocal", &TrainOptions::reciprocal, WithRelations());
  if (Distance() && !Sparse()) Set("norm", &TrainOptions::norm, Norm::kL2);
}

void Chooser::ChooseDescent() {
  Set("optimizer", &TrainOptions::optimizer, WithRelations() ? OptimizerKind::kAdagrad : OptimizerKind::kAdam);
  const bool validated = !Free("plateau-factor") || !Free("plateau-patience");
  Set("learning-rate-schedule", &TrainOptions::learning_rate_schedule,
      validated ? LearningRateSchedule::kPlateau : LearningRateSchedule::kLinear);
  if (options_.model == ModelKind::kRotatE && !Sparse()) {
    // The changes of all lanes are added, and phases would go too far.
    Set("relation-rate-factor", &TrainOptions::relation_rate_factor, options_.lanes > 1 ? 1.0 : 6.0);
  }
}

void Chooser::ChooseLoss() {
  const bool margin = (!Free("margin") && options_.margin >= 0) || !Free("adversarial-temperature");
  Set("loss", &TrainOptions::loss,
      Distance() && (Sparse() || margin) ? LossKind::kSelfAdversarial : LossKind::kSoftmax);
  if (options_.loss == LossKind::kSelfAdversarial && Distance() && Sparse()) {
    const bool transe = options_.model == ModelKind::kTransE;
    Set("margin", &TrainOptions::margin, transe ? 3.0 : 6.0);
    Set("adversarial-temperature", &TrainOptions::adversarial_temperature, transe ? 0.5 : 0.75);
  }
  if (!WithRelations() || (!options_.reciprocal && options_.relation_prediction > 0)) return;
  Set("epochs", &TrainOptions::epochs, EpochsOf(facts_.edges));
  // With the same dimensions, edges one by one are often a little better. Groups cost less; if their answers can
  // compete, the dimensions that they can have are worth more (docs/defaults-measured.md).
  const bool alone = options_.negatives == 0 || Free("negatives") ? FewNodes() : false;
  const bool can_compete = options_.loss == LossKind::kSoftmax && !Distance();
  const bool gains = can_compete && Free("competing-answers");
  const std::uint64_t dim = !Free("dim") ? options_.dim : gains ? kMostDimAlone : kWantedDim;
  const double cost = FlopsPerNumber(/*grouped=*/false) * static_cast<double>(facts_.nodes * dim);
  const bool costly = cost > std::min(most_flops_, kUsualFlops);
  Set("group-queries", &TrainOptions::group_queries, options_.competing_answers || !alone || costly);
  if (!options_.group_queries) return;
  if (can_compete) {
    const double few = facts_.edges <= kOftenRepeated ? kFewAnswersRepeated : kFewAnswers;
    Set("competing-answers", &TrainOptions::competing_answers, FewNodes() || facts_.query_share >= few);
  }
  if (facts_.query_share < 0.9) {
    Because(fmt::format("edges of the same query share their scores, which saves {:.0f} % of them",
                        100 * (1 - facts_.query_share)));
  }
}

void Chooser::ChooseBatches() {
  const std::uint64_t edges = MostTrainedEdges(options_, graph_);
  const std::uint64_t by_edges = std::clamp(edges / kUpdatesPerEpoch, kLeastBatch, kMostBatch);
  const std::uint64_t least = Free("chunk") ? 1 : options_.chunk;
  Set("batch", &TrainOptions::batch, std::max(by_edges, least));
  const std::uint64_t batch = options_.batch;
  Set("chunk", &TrainOptions::chunk, batch <= 2 * kLeastBatch ? batch : std::min(batch / 2, kMostChunk));
  if (Free("batch") && options_.batch < kMostBatch) {
    Because(fmt::format("batches of {}, so that an epoch has {} updates", options_.batch,
                        (edges + options_.batch - 1) / options_.batch));
  }
}

// What the cost allows: a multiple of a step, at most kMostDim.
std::uint64_t Chooser::DimFor(std::uint64_t negatives) const {
  const double dim = most_flops_ / FlopsPerNumber(options_.group_queries) / static_cast<double>(negatives);
  const std::uint64_t step = timed_ && dim < kDimStep ? kLeastTimedDim : kDimStep;
  return std::min(static_cast<std::uint64_t>(std::min(dim, 1e6)) / step * step, kMostDim);
}

double Chooser::FlopsPerNumber(bool grouped) const {
  const double queries = 2 * static_cast<double>(facts_.edges) * (grouped ? facts_.query_share : 1);
  return queries * kFlopsPerScore * static_cast<double>(options_.epochs);
}

// The largest block that divides the dimension, up to 4: larger ones learn the training edges by heart.
void Chooser::ChooseBlock() {
  if (options_.model != ModelKind::kRescal) return;
  Set("block", &TrainOptions::block, std::gcd(options_.dim, std::uint64_t{4}));
}

void Chooser::ChooseSize() {
  Set("epochs", &TrainOptions::epochs, EpochsOf(facts_.edges));
  const bool all = FewNodes() && !AsksForDrawn();
  const std::uint64_t least = options_.EntriesPerChunk();
  if (Free("negatives")) {
    std::uint64_t negatives = all ? 0 : std::max(std::min(facts_.nodes, kMostNegatives), least);
    const std::uint64_t wanted = Free("dim") ? kWantedDim : options_.dim;
    while (negatives > kLeastNegatives && negatives / 2 >= least && DimFor(negatives) < std::min(wanted, kMostDim)) {
      negatives /= 2;
    }
    // Below `least`, known-negatives is off; in a short time that is accepted.
    const bool known = !Free("known-negatives") && options_.known_negatives;
    const std::uint64_t fewest = std::max(known ? least : 0, kLeastTimedNegatives);
    const std::uint64_t sufficing = Free("dim") ? kLeastDim : std::min(options_.dim, kMostDim);
    while (timed_ && negatives / 2 >= fewest && DimFor(negatives) < sufficing) negatives /= 2;
    options_.negatives = negatives;
    if (all) Because(fmt::format("{} nodes are few enough to be negatives of every edge", facts_.nodes));
  }
  Set("known-negatives", &TrainOptions::known_negatives, options_.negatives != 0 && options_.negatives >= least);
  const std::uint64_t most = FewNodes() && !options_.group_queries ? kMostDimAlone : kMostDim;
  Set("dim", &TrainOptions::dim, std::clamp(DimFor(Negatives()), timed_ ? kLeastTimedDim : kLeastDim, most));
  if (timed_) return;  // the sizes follow from what is measured
  Because(
      fmt::format("dim {}, {} and {} keep it near {:.0f} TFLOP", options_.dim,
                  options_.negatives == 0 ? std::string("all negatives") : CountText(options_.negatives, "negative"),
                  CountText(options_.epochs, "epoch"), Flops() / 1e12));
}

// The pairs of random walks say more of a node's place than its edges alone.
void Chooser::ChooseWalks() {
  constexpr double kPairs = 150e6;  // of all walks: enough for the graphs measured, minutes of training
  // Walks of source-context follow edges one way and end soon; its edges gave better vectors.
  const bool trains_edges = facts_.HasRelations() || facts_.of_walks || options_.edges != TrainEdges::kAll ||
                            options_.group_queries || options_.model == ModelKind::kSourceContext;
  Set("walk", &TrainOptions::walk, trains_edges ? Walk::kNone : Walk::kDeepWalk);
  if (options_.walk == Walk::kNone) return;
  const WalkOptions walk = WalksOf(options_, graph_);
  const double pairs = static_cast<double>(facts_.nodes * walk.pairs_of_walk());
  const double least = most_flops_ < kUsualFlops ? 1 : 5;
  const double most = walk.windowed() ? kMostWalks : 1000;
  const double walks = std::clamp(std::round(PairsFor(kPairs) / pairs), least, most);
  Set("walks", &TrainOptions::walks, static_cast<std::uint64_t>(walks));
  if (timed_ && walk.windowed()) ShortenWalks();
  if (Free("walk")) {
    Because(fmt::format("{} from each node, because nodes that meet on walks say more than edges alone",
                        CountText(options_.walks, "walk")));
  }
}

// Chooses the walks so that a whole number of epochs, up to kEpochs, trains the pairs of the time. If not even the
// shortest walk from each node fits one epoch, takes that one.
void Chooser::ShortenWalks() {
  if (!Free("walks") || !Free("walk-length")) return;
  constexpr int kEpochs = 8;  // half of one is 6 % of the time
  constexpr double kEnough = 0.95;
  const std::uint64_t longest = options_.walk_length;
  const std::uint64_t shortest = std::min(longest, options_.walk_window + 1);
  TrainOptions walks = options_;
  const auto pairs_of_node = [&] { return static_cast<double>(walks.walks * WalksOf(walks, graph_).pairs_of_walk()); };
  std::uint64_t best_walks = 1;
  std::uint64_t best_length = shortest;
  double best = 0;  // the share of the pairs that is trained
  for (int epochs = kEpochs; epochs > 0; --epochs) {
    const double wanted = PairsFor(kTrainedPairs) / epochs / static_cast<double>(facts_.nodes);
    walks.walk_length = longest;
    walks.walks = 1;
    walks.walks = static_cast<std::uint64_t>(std::clamp(std::ceil(wanted / pairs_of_node()), 1.0, kMostWalks));
    while (walks.walk_length > shortest && pairs_of_node() > wanted) --walks.walk_length;
    const double share = pairs_of_node() / wanted;
    if (share > 1 || share <= best) continue;
    best = share;
    best_walks = walks.walks;
    best_length = walks.walk_length;
    // ChoosePlainSize adds epochs to the most walks.
    if (share > kEnough || static_cast<double>(best_walks) == kMostWalks) break;
  }
  options_.walks = best_walks;
  Set("walk-length", &TrainOptions::walk_length, best_length);
}

// For a model without relations.
void Chooser::ChoosePlainSize() {
  Set("dim", &TrainOptions::dim, kLeastDim);
  Set("negatives", &TrainOptions::negatives,
      std::max<std::uint64_t>(std::min<std::uint64_t>(64, facts_.nodes),
                              options_.known_negatives ? options_.chunk : 0));
  if (options_.negatives != 0) Set("degree-fraction", &TrainOptions::degree_fraction, 1.0);
  const bool weighted = facts_.has_weights || options_.walk != Walk::kNone;
  Set("degree-by-weight", &TrainOptions::degree_by_weight, weighted && options_.degree_fraction > 0);
  double epochs = 20 * std::sqrt(1e6 / static_cast<double>(facts_.edges));
  if (OfWalks()) {
    epochs = std::min(10.0, PairsFor(kTrainedPairs) / static_cast<double>(MostTrainedEdges(options_, graph_)));
  }
  const double least = OfWalks() ? (timed_ ? 1 : 2) : 5;
  Set("epochs", &TrainOptions::epochs, static_cast<std::uint64_t>(std::clamp(std::round(epochs), least, 200.0)));
}

void Chooser::ChoosePrecision() {
  if (!Free("precision")) return;
  options_.precision = Precision::kAuto;
  options_.precision = WithSettledPrecision(options_).precision;
  if (options_.precision != Precision::kBf16) return;
  chosen_.emplace("precision");
  Because("bf16 products, because this processor has AMX");
}

void Chooser::ChooseRegularizer() {
  if (!Free("regularizer") && options_.regularizer == RegularizerKind::kNone) return;
  if (!Free("regularization") && options_.regularization == 0) return;
  if (OfProducts()) {
    // Of few nodes, dura can draw all rows to 0; n3 is flat there.
    Set("regularizer", &TrainOptions::regularizer, FewNodes() ? RegularizerKind::kN3 : RegularizerKind::kDura);
  } else if (options_.model == ModelKind::kRotatE && !Sparse()) {
    Set("regularizer", &TrainOptions::regularizer, RegularizerKind::kL2);
    Set("dropout", &TrainOptions::dropout, 0.2);
  }
}

bool Chooser::FitsWhole() const {
  const auto shape = ChooseShape(options_, graph_, memory_, kThreadsOfChoice);
  return shape.ok() && shape->WholeGraph();
}

bool Chooser::Fits() const { return ChooseShape(options_, graph_, memory_, kThreadsOfChoice).ok(); }

// Lowers what a batch needs; returns false if nothing is left to be lowered.
bool Chooser::Shrink() {
  constexpr std::uint64_t kLeast = 64;
  if (Free("dim") && options_.dim > kLeast) {
    options_.dim /= 2;
    return true;
  }
  const std::uint64_t least = options_.known_negatives ? std::max(kLeast, options_.EntriesPerChunk()) : kLeast;
  if (Free("negatives") && Negatives() / 2 >= least) {
    options_.negatives = Negatives() / 2;
    return true;
  }
  if (Free("chunk") && options_.chunk > kLeast) {
    options_.chunk /= 2;
    return true;
  }
  if (!Free("batch") || options_.batch / 2 < std::max(kLeast, options_.chunk)) return false;
  options_.batch /= 2;
  return true;
}

// Weights were better where few answers compete, and a little worse where they do not (docs/defaults-measured.md).
void Chooser::ChooseAnswerWeighting() {
  const bool few = options_.competing_answers && facts_.query_share >= kFewAnswers;
  if (OfWalks() || !few || options_.regularizer != RegularizerKind::kDura) return;
  Set("answer-weighting", &TrainOptions::answer_weighting, 0.2);
}

void Chooser::FitMemory() {
  if (!Free("partitions") || !Free("resident")) return;
  if (FitsWhole()) return;
  // It holds the degrees of all nodes, also of those that are not in memory.
  if (chosen_.erase("answer-weighting") > 0) options_.answer_weighting = 0;
  const std::uint64_t wanted = options_.dim;
  while (Free("dim") && options_.dim > kLeastDim && !FitsWhole()) options_.dim = std::max(options_.dim / 2, kLeastDim);
  if (!FitsWhole() && options_.optimizer == OptimizerKind::kAdagrad && Free("optimizer")) {
    const bool large = NodeBytes(options_) * facts_.nodes > memory_ / 2;
    options_.optimizer = OptimizerKind::kRowAdagrad;
    if (large || FitsWhole()) {
      Because("row-adagrad, because a state for each number does not fit in memory");
    } else {
      options_.optimizer = OptimizerKind::kAdagrad;  // what does not fit is not the state
    }
  }
  while (!Fits() && Shrink()) {
  }
  if (options_.dim < wanted) Because(fmt::format("dim {} instead of {}, to fit in memory", options_.dim, wanted));
}

// An additional loss, of the relations of edges. It needs many relations, dimensions and edges a node, and with it many
// answers of a query do not push each other away (docs/defaults-measured.md). It is left out where memory is short, and
// where a time has no room for it.
void Chooser::ChooseRelationPrediction() {
  constexpr std::uint64_t kFewestRelations = 100, kMostRelations = 1000, kFewestDims = 512;
  constexpr double kFewestEdges = 10;  // a node
  // The time of an epoch, times that without: 1.3 for 237 relations. A time that has room for up to 1.5 times the usual
  // cost is not asked again (timed_choice.cc).
  const double cost = std::max(1.5, 1 + static_cast<double>(facts_.relations) / 750);
  const bool many = facts_.relations >= kFewestRelations && facts_.relations <= kMostRelations && !FewNodes() &&
                    facts_.query_share < kFewAnswers && facts_.EdgesPerNode() >= kFewestEdges;
  const bool suits = options_.model == ModelKind::kComplEx && options_.reciprocal && options_.group_queries &&
                     options_.loss == LossKind::kSoftmax && options_.regularizer == RegularizerKind::kDura;
  const bool unwanted = (!Free("relation-prediction") && options_.relation_prediction == 0) ||
                        (!Free("competing-answers") && !options_.competing_answers);
  const bool time = !timed_ || most_flops_ >= cost * kUsualFlops;
  if (!many || !suits || unwanted || !time || options_.dim < kFewestDims) return;
  const TrainOptions before = options_;
  const GivenOptions chosen_before = chosen_;
  Set("relation-prediction", &TrainOptions::relation_prediction, 1.0);
  Set("competing-answers", &TrainOptions::competing_answers, true);
  if (chosen_.erase("answer-weighting") > 0) options_.answer_weighting = 0;  // not measured together
  // Float32 products of the relations would take the training beyond ten minutes, and the least dimensions lose little.
  // A training for which more flops are allowed need not be smaller.
  const bool smaller = options_.precision == Precision::kFloat32 && !timed_ && most_flops_ <= kUsualFlops &&
                       Free("dim") && Free("epochs");
  if (smaller) {
    options_.dim = kFewestDims;
    options_.epochs = before.epochs * 5 / 6;
  }
  const TrainOptions drawn = options_;
  if (AffordsAllNegatives(Free("dim") ? kFewestDims : options_.dim)) {
    options_.negatives = 0;
    options_.known_negatives = false;
    if (Free("dim")) options_.dim = std::clamp(DimFor(facts_.nodes), kFewestDims, options_.dim);
    if (Free("dim") && !FitsWhole()) options_.dim = kFewestDims;
    if (!FitsWhole()) options_ = drawn;
  }
  predicts_relations_ = FitsWhole();
  if (!predicts_relations_) {
    options_ = before;
    chosen_ = chosen_before;
    return;
  }
  Because(fmt::format(
      "a loss of the relations, too, {}, because of {} relations{}",
      options_.negatives == 0 ? "and competing answers" : "competing answers and a lower weight", facts_.relations,
      smaller ? fmt::format("; dim {} instead of {} and {} instead of {}, because its products are float32",
                            options_.dim, before.dim, CountText(options_.epochs, "epoch"), before.epochs)
              : std::string()));
  if (options_.negatives == drawn.negatives) return;
  const std::string dim =
      options_.dim == drawn.dim ? std::string() : fmt::format(", and dim {} instead of {}", options_.dim, drawn.dim);
  Because(fmt::format("all negatives instead of {}{}, because beside that loss they gain more than dimensions",
                      drawn.negatives, dim));
}

// Whether a longer training than usual is wanted, and may have all nodes as negatives with `dim` dimensions.
bool Chooser::AffordsAllNegatives(std::uint64_t dim) const {
  // 14,541 were measured.
  constexpr std::uint64_t kMostNodes = 20'000;
  // A correction is one of drawn negatives.
  const bool corrected = !Free("sampling-correction") && options_.sampling_correction > 0;
  if (!Free("negatives") || AsksForDrawn() || corrected) return false;
  if (facts_.nodes > kMostNodes || most_flops_ <= kUsualFlops) return false;
  return FlopsPerNumber(options_.group_queries) * static_cast<double>(dim * facts_.nodes) <= most_flops_;
}

// Counted once, a drawn negative is too weak an opponent; counted for all that it stands for, its noise is too strong.
void Chooser::ChooseCorrection() {
  if (!WithRelations() || !OfProducts() || options_.loss != LossKind::kSoftmax || options_.negatives == 0) return;
  Set("sampling-correction", &TrainOptions::sampling_correction, 0.5);
}

// The weight, which needs the dimension that fits in memory.
void Chooser::ChooseRegularization() {
  if (options_.regularizer == RegularizerKind::kNone) return;
  double weight = options_.model == ModelKind::kRotatE ? 0.002 : 0.05;
  // As long as only some edges have an inverse, the others need the whole weight.
  const double inverse = 1 - 0.9 * facts_.inverse_share * facts_.inverse_share;
  if (options_.regularizer == RegularizerKind::kDura) {
    // What is seen often needs less restraint; more dimensions learn more by heart.
    const double seen = std::pow(std::max(facts_.end_degree, 1.0), -0.15);
    const double room = std::pow(static_cast<double>(options_.dim) / static_cast<double>(kLeastDim), 0.2);
    weight = std::clamp(0.085 * seen * room, 0.005, 0.1) * inverse;
    // With all negatives a lower weight was worse (docs/defaults-measured.md).
    if (predicts_relations_ && options_.negatives != 0) weight *= 0.68;
  } else if (options_.regularizer == RegularizerKind::kN3) {
    // Each edge of a hub restrains its row; if one node has many of the edges, the others need less.
    const double hub = std::max(0.2, 1 - 20 * HubShare() * HubShare());
    weight = std::clamp(0.1 * std::pow(4 / facts_.EdgesPerNode(), 0.7) * inverse * hub, 0.01, 0.15);
  }
  Set("regularization", &TrainOptions::regularization, std::round(weight * 1000) / 1000);
  if (!OfProducts() || !Free("regularization")) return;
  if (options_.regularizer == RegularizerKind::kDura) {
    Because(fmt::format("regularization {} for ends of edges that have about {:.0f} edges, and dim {}",
                        options_.regularization, facts_.end_degree, options_.dim));
  } else {
    Because(fmt::format("regularization {} for {} nodes with {:.1f} edges each{}", options_.regularization,
                        facts_.nodes, facts_.EdgesPerNode(),
                        HubShare() < kLargeHub
                            ? std::string()
                            : fmt::format(", one of them with {:.0f} % of the edges", 100 * facts_.largest_share)));
  }
}

// The rate, which needs the epochs.
void Chooser::ChooseRate() {
  Set("learning-rate", &TrainOptions::learning_rate, RateFor(options_, facts_));
  if (!OfProducts() || options_.optimizer == OptimizerKind::kAdam || !Free("learning-rate") || timed_) return;
  Because(fmt::format("rate {} for {}", options_.learning_rate, CountText(options_.epochs, "epoch")));
}

std::string Chooser::FactsText() const {
  std::string text = fmt::format("{}, {}, {}, {:.1f} edges a node", CountText(facts_.nodes, "node"),
                                 CountText(facts_.edges, "training edge"), CountText(facts_.relations, "relation"),
                                 facts_.EdgesPerNode());
  if (facts_.HasRelations()) {
    text += fmt::format("; {:.0f} % of the edges have an inverse of another relation, {:.0f} % are symmetric",
                        100 * facts_.inverse_share, 100 * facts_.symmetric_share);
  }
  if (!facts_.HasRelations() && facts_.two_kinds) {
    text +=
        "; heads and tails are two kinds of nodes: query predict --typed and evaluate --typed compare those of one "
        "kind";
  }
  return text;
}

}  // namespace

double RateFor(const TrainOptions& options, const GraphFacts& facts) {
  const bool sparse = IsSparse(facts);
  if (options.optimizer == OptimizerKind::kAdam) return 0.001;
  // In few epochs a low rate leaves the rows near where they began.
  const auto for_epochs = [&](double of_one, double least, double most) {
    const double rate = of_one / static_cast<double>(std::max<std::uint64_t>(1, options.epochs));
    return std::round(100 * std::clamp(rate, least, most)) / 100;
  };
  if (options.model == ModelKind::kTransE) return sparse ? for_epochs(4, 0.06, 0.25) : for_epochs(5, 0.3, 0.6);
  if (options.model == ModelKind::kRotatE) return sparse ? for_epochs(12, 0.1, 0.8) : for_epochs(16, 0.2, 1.6);
  if (options.optimizer == OptimizerKind::kSgd) return 0.1;
  // Few nodes have few edges, and so few updates in spite of many epochs; each relation has a part of them.
  const bool few_updates = HasFewNodes(facts) && facts.HasRelations() && options.lanes == 1;
  const double rounded = for_epochs(6, few_updates ? 0.2 : 0.1, 0.4);
  // In lanes a step has more gradients of a row, and Adagrad adds up the squares of their sums. Groups are steps of
  // many gradients anyway; without reciprocal relations that was not enough.
  const bool enough = options.lanes == 1 || (options.group_queries && options.reciprocal);
  return enough ? rounded : 2 * rounded;
}

std::string ChosenText(const TrainOptions& options, const GivenOptions& given, const GivenOptions& names) {
  std::vector<std::string> parts;
  for (const OptionField& field : TrainOptionFields()) {
    const std::string value = field.format(options);
    const bool has_default = value == field.format(TrainOptions());
    const bool is_off = field.type == OptionField::Type::kSwitch && has_default;
    if (given.contains(field.name) || is_off || (has_default && !names.contains(field.name))) continue;
    parts.push_back(field.type == OptionField::Type::kSwitch ? fmt::format("--{}", field.name)
                                                             : fmt::format("--{} {}", field.name, value));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

Choice ChooseOptions(const GraphFacts& facts, const GraphDescription& graph, std::uint64_t memory,
                     const TrainOptions& options, const GivenOptions& given, double most_flops, bool timed) {
  return Chooser(facts, graph, memory, options, given, most_flops, timed).Choose();
}

}  // namespace octavo
