#include "choose/walk_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/count_text.h"
#include "choose/choice_limits.h"
#include "choose/size_choice.h"
#include "fmt/format.h"
#include "run/trained_edges.h"

namespace octavo {
namespace {

// Of the pairs of all walks, in all epochs: enough for the graphs measured, minutes of training.
constexpr double kTrainedPairs = 700e6;
constexpr double kMostWalks = 80;  // from each node

// The pairs of walks for most_flops, if they are `usual` for kUsualFlops.
double PairsFor(const ChoiceDraft& draft, double usual) { return usual * draft.most_flops / kUsualFlops; }

// Chooses the walks so that a whole number of epochs, up to kEpochs, trains the pairs of the time. If not even the
// shortest walk from each node fits one epoch, takes that one.
void ShortenWalks(ChoiceDraft& draft) {
  if (!draft.Free("walks") || !draft.Free("walk-length")) return;
  constexpr int kEpochs = 8;  // half of one is 6 % of the time
  constexpr double kEnough = 0.95;
  const std::uint64_t longest = draft.options.walk_length;
  const std::uint64_t shortest = std::min(longest, draft.options.walk_window + 1);
  TrainOptions walks = draft.options;
  const auto pairs_of_node = [&] {
    return static_cast<double>(walks.walks * WalksOf(walks, draft.graph).pairs_of_walk());
  };
  std::uint64_t best_walks = 1;
  std::uint64_t best_length = shortest;
  double best = 0;  // the share of the pairs that is trained
  for (int epochs = kEpochs; epochs > 0; --epochs) {
    const double wanted = PairsFor(draft, kTrainedPairs) / epochs / static_cast<double>(draft.facts.nodes);
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
  draft.options.walks = best_walks;
  draft.Set("walk-length", &TrainOptions::walk_length, best_length);
}

}  // namespace

void ChooseWalks(ChoiceDraft& draft) {
  constexpr double kPairs = 150e6;  // of all walks: enough for the graphs measured, minutes of training
  // Walks of source-context follow edges one way and end soon; its edges gave better vectors.
  const bool trains_edges = draft.facts.HasRelations() || draft.facts.of_walks ||
                            draft.options.edges != TrainEdges::kAll || draft.options.group_queries ||
                            draft.options.model == ModelKind::kSourceContext;
  draft.Set("walk", &TrainOptions::walk, trains_edges ? Walk::kNone : Walk::kDeepWalk);
  if (draft.options.walk == Walk::kNone) return;
  const WalkOptions walk = WalksOf(draft.options, draft.graph);
  const double pairs = static_cast<double>(draft.facts.nodes * walk.pairs_of_walk());
  const double least = draft.most_flops < kUsualFlops ? 1 : 5;
  const double most = walk.windowed() ? kMostWalks : 1000;
  const double walks = std::clamp(std::round(PairsFor(draft, kPairs) / pairs), least, most);
  draft.Set("walks", &TrainOptions::walks, static_cast<std::uint64_t>(walks));
  if (draft.timed && walk.windowed()) ShortenWalks(draft);
  if (draft.Free("walk")) {
    draft.Because(fmt::format("{} from each node, because nodes that meet on walks say more than edges alone",
                              CountText(draft.options.walks, "walk")));
  }
}

void ChoosePlainSize(ChoiceDraft& draft) {
  draft.Set("dim", &TrainOptions::dim, kLeastDim);
  draft.Set("negatives", &TrainOptions::negatives,
            std::max<std::uint64_t>(std::min<std::uint64_t>(64, draft.facts.nodes),
                                    draft.options.known_negatives ? draft.options.chunk : 0));
  if (draft.options.negatives != 0) draft.Set("degree-fraction", &TrainOptions::degree_fraction, 1.0);
  const bool weighted = draft.facts.has_weights || draft.options.walk != Walk::kNone;
  draft.Set("degree-by-weight", &TrainOptions::degree_by_weight, weighted && draft.options.degree_fraction > 0);
  double epochs = 20 * std::sqrt(1e6 / static_cast<double>(draft.facts.edges));
  if (draft.OfWalks()) {
    epochs = std::min(
        10.0, PairsFor(draft, kTrainedPairs) / static_cast<double>(MostTrainedEdges(draft.options, draft.graph)));
  }
  const double least = draft.OfWalks() ? (draft.timed ? 1 : 2) : 5;
  draft.Set("epochs", &TrainOptions::epochs, static_cast<std::uint64_t>(std::clamp(std::round(epochs), least, 200.0)));
}

}  // namespace octavo
