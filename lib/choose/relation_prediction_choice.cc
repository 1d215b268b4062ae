#include "choose/relation_prediction_choice.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/count_text.h"
#include "choose/choice_limits.h"
#include "choose/memory_choice.h"
#include "choose/size_choice.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Whether a longer training than usual is wanted, and may have all nodes as negatives with `dim` dimensions.
bool AffordsAllNegatives(const ChoiceDraft& draft, std::uint64_t dim) {
  // 14,541 were measured.
  constexpr std::uint64_t kMostNodes = 20'000;
  // A correction is one of drawn negatives.
  const bool corrected = !draft.Free("sampling-correction") && draft.options.sampling_correction > 0;
  if (!draft.Free("negatives") || AsksForDrawn(draft) || corrected) return false;
  if (draft.facts.nodes > kMostNodes || draft.most_flops <= kUsualFlops) return false;
  return FlopsPerNumber(draft, draft.options.group_queries) * static_cast<double>(dim * draft.facts.nodes) <=
         draft.most_flops;
}

}  // namespace

void ChooseRelationPrediction(ChoiceDraft& draft) {
  constexpr std::uint64_t kFewestRelations = 100, kMostRelations = 1000, kFewestDims = 512;
  constexpr double kFewestEdges = 10;  // a node
  // The time of an epoch, times that without: 1.3 for 237 relations. A time that has room for up to 1.5 times the usual
  // cost is not asked again (timed_choice.cc).
  const double cost = std::max(1.5, 1 + static_cast<double>(draft.facts.relations) / 750);
  const bool many = draft.facts.relations >= kFewestRelations && draft.facts.relations <= kMostRelations &&
                    !draft.FewNodes() && draft.facts.query_share < kFewAnswers &&
                    draft.facts.EdgesPerNode() >= kFewestEdges;
  const bool suits = draft.options.model == ModelKind::kComplEx && draft.options.reciprocal &&
                     draft.options.group_queries && draft.options.loss == LossKind::kSoftmax &&
                     draft.options.regularizer == RegularizerKind::kDura;
  const bool unwanted = (!draft.Free("relation-prediction") && draft.options.relation_prediction == 0) ||
                        (!draft.Free("competing-answers") && !draft.options.competing_answers);
  const bool time = !draft.timed || draft.most_flops >= cost * kUsualFlops;
  if (!many || !suits || unwanted || !time || draft.options.dim < kFewestDims) return;
  const TrainOptions before = draft.options;
  const GivenOptions chosen_before = draft.chosen;
  draft.Set("relation-prediction", &TrainOptions::relation_prediction, 1.0);
  draft.Set("competing-answers", &TrainOptions::competing_answers, true);
  if (draft.chosen.erase("answer-weighting") > 0) draft.options.answer_weighting = 0;  // not measured together
  // Float32 products of the relations would take the training beyond ten minutes, and the least dimensions lose little.
  // A training for which more flops are allowed need not be smaller.
  const bool smaller = draft.options.precision == Precision::kFloat32 && !draft.timed &&
                       draft.most_flops <= kUsualFlops && draft.Free("dim") && draft.Free("epochs");
  if (smaller) {
    draft.options.dim = kFewestDims;
    draft.options.epochs = before.epochs * 5 / 6;
  }
  const TrainOptions drawn = draft.options;
  if (AffordsAllNegatives(draft, draft.Free("dim") ? kFewestDims : draft.options.dim)) {
    draft.options.negatives = 0;
    draft.options.known_negatives = false;
    if (draft.Free("dim")) {
      draft.options.dim = std::clamp(DimFor(draft, draft.facts.nodes), kFewestDims, draft.options.dim);
    }
    if (draft.Free("dim") && !FitsWhole(draft)) draft.options.dim = kFewestDims;
    if (!FitsWhole(draft)) draft.options = drawn;
  }
  draft.predicts_relations = FitsWhole(draft);
  if (!draft.predicts_relations) {
    draft.options = before;
    draft.chosen = chosen_before;
    return;
  }
  draft.Because(fmt::format(
      "a loss of the relations, too, {}, because of {} relations{}",
      draft.options.negatives == 0 ? "and competing answers" : "competing answers and a lower weight",
      draft.facts.relations,
      smaller ? fmt::format("; dim {} instead of {} and {} instead of {}, because its products are float32",
                            draft.options.dim, before.dim, CountText(draft.options.epochs, "epoch"), before.epochs)
              : std::string()));
  if (draft.options.negatives == drawn.negatives) return;
  const std::string dim = draft.options.dim == drawn.dim
                              ? std::string()
                              : fmt::format(", and dim {} instead of {}", draft.options.dim, drawn.dim);
  draft.Because(fmt::format("all negatives instead of {}{}, because beside that loss they gain more than dimensions",
                            drawn.negatives, dim));
}

}  // namespace octavo
