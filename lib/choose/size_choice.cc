#include "choose/size_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/count_text.h"
#include "choose/choice_limits.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// A score and its two gradients are three products, each of a multiplication and an addition for each number.
constexpr double kFlopsPerScore = 6;
constexpr std::uint64_t kMostNegatives = 4000;
constexpr std::uint64_t kLeastNegatives = 500;
constexpr std::uint64_t kDimStep = 128;
constexpr std::uint64_t kMostDim = 1024;
constexpr std::uint64_t kLeastTimedDim = 32;  // where a time is too short for kLeastDim

}  // namespace

std::uint64_t EpochsOf(std::uint64_t edges) {
  constexpr double kOf100000 = 40;
  const double epochs = kOf100000 * std::sqrt(1e5 / static_cast<double>(edges));
  return static_cast<std::uint64_t>(std::clamp(std::round(epochs), 4.0, 100.0));
}

std::uint64_t Negatives(const ChoiceDraft& draft) {
  return draft.options.negatives == 0 ? draft.facts.nodes : draft.options.negatives;
}

bool AsksForDrawn(const ChoiceDraft& draft) {
  return (!draft.Free("known-negatives") && draft.options.known_negatives) || draft.options.degree_fraction > 0 ||
         draft.options.typed_fraction > 0;
}

double FlopsPerNumber(const ChoiceDraft& draft, bool grouped) {
  const double queries = 2 * static_cast<double>(draft.facts.edges) * (grouped ? draft.facts.query_share : 1);
  return queries * kFlopsPerScore * static_cast<double>(draft.options.epochs);
}

double Flops(const ChoiceDraft& draft) {
  return FlopsPerNumber(draft, draft.options.group_queries) * static_cast<double>(draft.options.dim * Negatives(draft));
}

std::uint64_t DimFor(const ChoiceDraft& draft, std::uint64_t negatives) {
  const double dim =
      draft.most_flops / FlopsPerNumber(draft, draft.options.group_queries) / static_cast<double>(negatives);
  const std::uint64_t step = draft.timed && dim < kDimStep ? kLeastTimedDim : kDimStep;
  return std::min(static_cast<std::uint64_t>(std::min(dim, 1e6)) / step * step, kMostDim);
}

void ChooseSize(ChoiceDraft& draft) {
  draft.Set("epochs", &TrainOptions::epochs, EpochsOf(draft.facts.edges));
  const bool all = draft.FewNodes() && !AsksForDrawn(draft);
  const std::uint64_t least = draft.options.EntriesPerChunk();
  if (draft.Free("negatives")) {
    std::uint64_t negatives = all ? 0 : std::max(std::min(draft.facts.nodes, kMostNegatives), least);
    const std::uint64_t wanted = draft.Free("dim") ? kWantedDim : draft.options.dim;
    while (negatives > kLeastNegatives && negatives / 2 >= least &&
           DimFor(draft, negatives) < std::min(wanted, kMostDim)) {
      negatives /= 2;
    }
    // Below `least`, known-negatives is off; in a short time that is accepted.
    const bool known = !draft.Free("known-negatives") && draft.options.known_negatives;
    const std::uint64_t fewest = std::max(known ? least : 0, kLeastTimedNegatives);
    const std::uint64_t sufficing = draft.Free("dim") ? kLeastDim : std::min(draft.options.dim, kMostDim);
    while (draft.timed && negatives / 2 >= fewest && DimFor(draft, negatives) < sufficing) negatives /= 2;
    draft.options.negatives = negatives;
    if (all) draft.Because(fmt::format("{} nodes are few enough to be negatives of every edge", draft.facts.nodes));
  }
  draft.Set("known-negatives", &TrainOptions::known_negatives,
            draft.options.negatives != 0 && draft.options.negatives >= least);
  const std::uint64_t most = draft.FewNodes() && !draft.options.group_queries ? kMostDimAlone : kMostDim;
  draft.Set("dim", &TrainOptions::dim,
            std::clamp(DimFor(draft, Negatives(draft)), draft.timed ? kLeastTimedDim : kLeastDim, most));
  if (draft.timed) return;  // the sizes follow from what is measured
  draft.Because(fmt::format(
      "dim {}, {} and {} keep it near {:.0f} TFLOP", draft.options.dim,
      draft.options.negatives == 0 ? std::string("all negatives") : CountText(draft.options.negatives, "negative"),
      CountText(draft.options.epochs, "epoch"), Flops(draft) / 1e12));
}

// The largest block that divides the dimension, up to 4: larger ones learn the training edges by heart.
void ChooseBlock(ChoiceDraft& draft) {
  if (draft.options.model != ModelKind::kRescal) return;
  draft.Set("block", &TrainOptions::block, std::gcd(draft.options.dim, std::uint64_t{4}));
}

}  // namespace octavo
