#include "choose/choice.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/count_text.h"
#include "choose/choice_draft.h"
#include "choose/choice_limits.h"
#include "choose/memory_choice.h"
#include "choose/relation_prediction_choice.h"
#include "choose/size_choice.h"
#include "choose/walk_choice.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "model/model_spec.h"
#include "run/precision.h"
#include "run/trained_edges.h"

namespace octavo {
namespace {

// With up to so many training edges, which are repeated more often, answers gain from competing from this share on.
constexpr std::uint64_t kOftenRepeated = 200'000;
constexpr double kFewAnswersRepeated = 0.2;
// From this share of the edges on, the node with the most is named as a reason.
constexpr double kLargeHub = 0.1;
constexpr std::uint64_t kUpdatesPerEpoch = 300;
constexpr std::uint64_t kLeastBatch = 100;
constexpr std::uint64_t kMostBatch = 4096;
constexpr std::uint64_t kMostChunk = 512;

bool HeldOut(const ChoiceDraft& draft) { return draft.graph.valid_edges + draft.graph.test_edges > 0; }

bool WantsWalks(const ChoiceDraft& draft) {
  if (!draft.Free("walk")) return draft.options.walk != Walk::kNone;
  return !draft.Free("walks") || !draft.Free("walk-length") || !draft.Free("walk-window");
}

// Whether the question is which edges there are, and not only what is near: edges are held out, or one kind of nodes
// is asked for by the other.
bool AsksForEdges(const ChoiceDraft& draft) {
  if (draft.facts.HasRelations()) return true;
  return !draft.facts.of_walks && !WantsWalks(draft) && (HeldOut(draft) || draft.facts.two_kinds);
}

void ChooseModel(ChoiceDraft& draft) {
  // Blocks of 4 hold more than complex numbers. From a thousand nodes on they were not better on every graph.
  constexpr std::uint64_t kMostNodesForBlocks = 500;
  const bool blocks =
      draft.options.block > 0 || (draft.facts.HasRelations() && draft.facts.nodes <= kMostNodesForBlocks &&
                                  draft.Free("block") && draft.options.relation_prediction == 0);
  draft.Set("model", &TrainOptions::model,
            !AsksForEdges(draft) ? ModelKind::kDot
            : blocks             ? ModelKind::kRescal
                                 : ModelKind::kComplEx);
  if (draft.Free("model")) {
    draft.Because(!AsksForEdges(draft) ? "dot for a graph of one relation: linked nodes become similar"
                  : blocks             ? "rescal in small blocks holds relations of every kind, and the nodes are few"
                                       : "complex holds symmetric, directed and inverse relations");
    if (AsksForEdges(draft) && !draft.facts.HasRelations()) {
      draft.Because(
          HeldOut(draft)
              ? "edges are held out, so they are trained and not walks: --model dot for vectors of similar nodes"
              : "heads and tails are two kinds of nodes, of which one is asked for by the other");
    }
  }
  draft.Set("reciprocal", &TrainOptions::reciprocal, draft.WithRelations());
  if (draft.Distance() && !draft.Sparse()) draft.Set("norm", &TrainOptions::norm, Norm::kL2);
}

void ChooseDescent(ChoiceDraft& draft) {
  draft.Set("optimizer", &TrainOptions::optimizer,
            draft.WithRelations() ? OptimizerKind::kAdagrad : OptimizerKind::kAdam);
  const bool validated = !draft.Free("plateau-factor") || !draft.Free("plateau-patience");
  draft.Set("learning-rate-schedule", &TrainOptions::learning_rate_schedule,
            validated ? LearningRateSchedule::kPlateau : LearningRateSchedule::kLinear);
  if (draft.options.model == ModelKind::kRotatE && !draft.Sparse()) {
    // The changes of all lanes are added, and phases would go too far.
    draft.Set("relation-rate-factor", &TrainOptions::relation_rate_factor, draft.options.lanes > 1 ? 1.0 : 6.0);
  }
}

void ChooseLoss(ChoiceDraft& draft) {
  const bool margin = (!draft.Free("margin") && draft.options.margin >= 0) || !draft.Free("adversarial-temperature");
  draft.Set("loss", &TrainOptions::loss,
            draft.Distance() && (draft.Sparse() || margin) ? LossKind::kSelfAdversarial : LossKind::kSoftmax);
  if (draft.options.loss == LossKind::kSelfAdversarial && draft.Distance() && draft.Sparse()) {
    const bool transe = draft.options.model == ModelKind::kTransE;
    draft.Set("margin", &TrainOptions::margin, transe ? 3.0 : 6.0);
    draft.Set("adversarial-temperature", &TrainOptions::adversarial_temperature, transe ? 0.5 : 0.75);
  }
  if (!draft.WithRelations() || (!draft.options.reciprocal && draft.options.relation_prediction > 0)) return;
  draft.Set("epochs", &TrainOptions::epochs, EpochsOf(draft.facts.edges));
  // With the same dimensions, edges one by one are often a little better. Groups cost less; if their answers can
  // compete, the dimensions that they can have are worth more (docs/defaults-measured.md).
  const bool alone = draft.options.negatives == 0 || draft.Free("negatives") ? draft.FewNodes() : false;
  const bool can_compete = draft.options.loss == LossKind::kSoftmax && !draft.Distance();
  const bool gains = can_compete && draft.Free("competing-answers");
  const std::uint64_t dim = !draft.Free("dim") ? draft.options.dim : gains ? kMostDimAlone : kWantedDim;
  const double cost = FlopsPerNumber(draft, /*grouped=*/false) * static_cast<double>(draft.facts.nodes * dim);
  const bool costly = cost > std::min(draft.most_flops, kUsualFlops);
  draft.Set("group-queries", &TrainOptions::group_queries, draft.options.competing_answers || !alone || costly);
  if (!draft.options.group_queries) return;
  if (can_compete) {
    const double few = draft.facts.edges <= kOftenRepeated ? kFewAnswersRepeated : kFewAnswers;
    draft.Set("competing-answers", &TrainOptions::competing_answers,
              draft.FewNodes() || draft.facts.query_share >= few);
  }
  if (draft.facts.query_share < 0.9) {
    draft.Because(fmt::format("edges of the same query share their scores, which saves {:.0f} % of them",
                              100 * (1 - draft.facts.query_share)));
  }
}

void ChooseBatches(ChoiceDraft& draft) {
  const std::uint64_t edges = MostTrainedEdges(draft.options, draft.graph);
  const std::uint64_t by_edges = std::clamp(edges / kUpdatesPerEpoch, kLeastBatch, kMostBatch);
  const std::uint64_t least = draft.Free("chunk") ? 1 : draft.options.chunk;
  draft.Set("batch", &TrainOptions::batch, std::max(by_edges, least));
  const std::uint64_t batch = draft.options.batch;
  draft.Set("chunk", &TrainOptions::chunk, batch <= 2 * kLeastBatch ? batch : std::min(batch / 2, kMostChunk));
  if (draft.Free("batch") && draft.options.batch < kMostBatch) {
    draft.Because(fmt::format("batches of {}, so that an epoch has {} updates", draft.options.batch,
                              (edges + draft.options.batch - 1) / draft.options.batch));
  }
}

void ChooseRegularizer(ChoiceDraft& draft) {
  if (!draft.Free("regularizer") && draft.options.regularizer == RegularizerKind::kNone) return;
  if (!draft.Free("regularization") && draft.options.regularization == 0) return;
  if (draft.OfProducts()) {
    // Of few nodes, dura can draw all rows to 0; n3 is flat there.
    draft.Set("regularizer", &TrainOptions::regularizer,
              draft.FewNodes() ? RegularizerKind::kN3 : RegularizerKind::kDura);
  } else if (draft.options.model == ModelKind::kRotatE && !draft.Sparse()) {
    draft.Set("regularizer", &TrainOptions::regularizer, RegularizerKind::kL2);
    draft.Set("dropout", &TrainOptions::dropout, 0.2);
  }
}

void ChoosePrecision(ChoiceDraft& draft) {
  if (!draft.Free("precision")) return;
  draft.options.precision = Precision::kAuto;
  draft.options.precision = WithSettledPrecision(draft.options).precision;
  if (draft.options.precision != Precision::kBf16) return;
  draft.chosen.emplace("precision");
  draft.Because("bf16 products, because this processor has AMX");
}

// Weights were better where few answers compete, and a little worse where they do not (docs/defaults-measured.md).
void ChooseAnswerWeighting(ChoiceDraft& draft) {
  const bool few = draft.options.competing_answers && draft.facts.query_share >= kFewAnswers;
  if (draft.OfWalks() || !few || draft.options.regularizer != RegularizerKind::kDura) return;
  draft.Set("answer-weighting", &TrainOptions::answer_weighting, 0.2);
}

// Counted once, a drawn negative is too weak an opponent; counted for all that it stands for, its noise is too strong.
void ChooseCorrection(ChoiceDraft& draft) {
  const bool drawn = draft.options.loss == LossKind::kSoftmax && draft.options.negatives != 0;
  if (!draft.WithRelations() || !draft.OfProducts() || !drawn) return;
  draft.Set("sampling-correction", &TrainOptions::sampling_correction, 0.5);
}

// What the node with the most edges has beyond its part if all had as many.
double HubShare(const GraphFacts& facts) {
  return std::max(0.0, facts.largest_share - 2 / static_cast<double>(facts.nodes));
}

// The weight, which needs the dimension that fits in memory.
void ChooseRegularization(ChoiceDraft& draft) {
  if (draft.options.regularizer == RegularizerKind::kNone) return;
  double weight = draft.options.model == ModelKind::kRotatE ? 0.002 : 0.05;
  // As long as only some edges have an inverse, the others need the whole weight.
  const double inverse = 1 - 0.9 * draft.facts.inverse_share * draft.facts.inverse_share;
  if (draft.options.regularizer == RegularizerKind::kDura) {
    // What is seen often needs less restraint; more dimensions learn more by heart.
    const double seen = std::pow(std::max(draft.facts.end_degree, 1.0), -0.15);
    const double room = std::pow(static_cast<double>(draft.options.dim) / static_cast<double>(kLeastDim), 0.2);
    weight = std::clamp(0.085 * seen * room, 0.005, 0.1) * inverse;
    // With all negatives a lower weight was worse (docs/defaults-measured.md).
    if (draft.predicts_relations && draft.options.negatives != 0) weight *= 0.68;
  } else if (draft.options.regularizer == RegularizerKind::kN3) {
    // Each edge of a hub restrains its row; if one node has many of the edges, the others need less.
    const double hub = std::max(0.2, 1 - 20 * HubShare(draft.facts) * HubShare(draft.facts));
    weight = std::clamp(0.1 * std::pow(4 / draft.facts.EdgesPerNode(), 0.7) * inverse * hub, 0.01, 0.15);
  }
  draft.Set("regularization", &TrainOptions::regularization, std::round(weight * 1000) / 1000);
  if (!draft.OfProducts() || !draft.Free("regularization")) return;
  if (draft.options.regularizer == RegularizerKind::kDura) {
    draft.Because(fmt::format("regularization {} for ends of edges that have about {:.0f} edges, and dim {}",
                              draft.options.regularization, draft.facts.end_degree, draft.options.dim));
  } else {
    draft.Because(
        fmt::format("regularization {} for {} nodes with {:.1f} edges each{}", draft.options.regularization,
                    draft.facts.nodes, draft.facts.EdgesPerNode(),
                    HubShare(draft.facts) < kLargeHub
                        ? std::string()
                        : fmt::format(", one of them with {:.0f} % of the edges", 100 * draft.facts.largest_share)));
  }
}

// The rate, which needs the epochs.
void ChooseRate(ChoiceDraft& draft) {
  draft.Set("learning-rate", &TrainOptions::learning_rate, RateFor(draft.options, draft.facts));
  if (!draft.OfProducts() || draft.options.optimizer == OptimizerKind::kAdam || !draft.Free("learning-rate") ||
      draft.timed)
    return;
  draft.Because(fmt::format("rate {} for {}", draft.options.learning_rate, CountText(draft.options.epochs, "epoch")));
}

std::string FactsText(const GraphFacts& facts) {
  std::string text = fmt::format("{}, {}, {}, {:.1f} edges a node", CountText(facts.nodes, "node"),
                                 CountText(facts.edges, "training edge"), CountText(facts.relations, "relation"),
                                 facts.EdgesPerNode());
  if (facts.HasRelations()) {
    text += fmt::format("; {:.0f} % of the edges have an inverse of another relation, {:.0f} % are symmetric",
                        100 * facts.inverse_share, 100 * facts.symmetric_share);
  }
  if (!facts.HasRelations() && facts.two_kinds) {
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
  ChoiceDraft draft = {.facts = facts,
                       .graph = graph,
                       .memory = memory,
                       .given = given,
                       .most_flops = most_flops,
                       .timed = timed,
                       .options = options};
  ChooseModel(draft);
  ChooseDescent(draft);
  ChooseLoss(draft);
  if (!draft.WithRelations()) ChooseWalks(draft);
  ChooseBatches(draft);
  if (draft.WithRelations()) {
    ChooseSize(draft);
    ChooseBlock(draft);
  } else {
    ChoosePlainSize(draft);
  }
  ChooseRegularizer(draft);
  ChoosePrecision(draft);
  ChooseAnswerWeighting(draft);
  FitMemory(draft);
  ChooseRelationPrediction(draft);
  ChooseCorrection(draft);
  ChooseRegularization(draft);
  ChooseRate(draft);
  return {.options = draft.options,
          .flops = draft.WithRelations() ? Flops(draft)
                   : draft.OfWalks()     ? most_flops
                                         : 0,
          .names = draft.chosen,
          .facts = FactsText(facts),
          .chosen = ChosenText(draft.options, given, draft.chosen),
          .reasons = fmt::format("{}", fmt::join(draft.reasons, "; "))};
}

}  // namespace octavo
