#include "choose/memory_choice.h"

#include <algorithm>
#include <cstdint>

#include "choose/choice_limits.h"
#include "choose/size_choice.h"
#include "fmt/format.h"
#include "run/footprint.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

bool Fits(const ChoiceDraft& draft) {
  return ChooseShape(draft.options, draft.graph, draft.memory, kThreadsOfChoice).ok();
}

// Lowers what a batch needs; returns false if nothing is left to be lowered.
bool Shrink(ChoiceDraft& draft) {
  constexpr std::uint64_t kLeast = 64;
  if (draft.Free("dim") && draft.options.dim > kLeast) {
    draft.options.dim /= 2;
    return true;
  }
  const std::uint64_t least =
      draft.options.known_negatives ? std::max(kLeast, draft.options.EntriesPerChunk()) : kLeast;
  if (draft.Free("negatives") && Negatives(draft) / 2 >= least) {
    draft.options.negatives = Negatives(draft) / 2;
    return true;
  }
  if (draft.Free("chunk") && draft.options.chunk > kLeast) {
    draft.options.chunk /= 2;
    return true;
  }
  if (!draft.Free("batch") || draft.options.batch / 2 < std::max(kLeast, draft.options.chunk)) return false;
  draft.options.batch /= 2;
  return true;
}

}  // namespace

bool FitsWhole(const ChoiceDraft& draft) {
  const auto shape = ChooseShape(draft.options, draft.graph, draft.memory, kThreadsOfChoice);
  return shape.ok() && shape->WholeGraph();
}

void FitMemory(ChoiceDraft& draft) {
  if (!draft.Free("partitions") || !draft.Free("resident")) return;
  if (FitsWhole(draft)) return;
  // It holds the degrees of all nodes, also of those that are not in memory.
  if (draft.chosen.erase("answer-weighting") > 0) draft.options.answer_weighting = 0;
  const std::uint64_t wanted = draft.options.dim;
  while (draft.Free("dim") && draft.options.dim > kLeastDim && !FitsWhole(draft)) {
    draft.options.dim = std::max(draft.options.dim / 2, kLeastDim);
  }
  if (!FitsWhole(draft) && draft.options.optimizer == OptimizerKind::kAdagrad && draft.Free("optimizer")) {
    const bool large = NodeBytes(draft.options) * draft.facts.nodes > draft.memory / 2;
    draft.options.optimizer = OptimizerKind::kRowAdagrad;
    if (large || FitsWhole(draft)) {
      draft.Because("row-adagrad, because a state for each number does not fit in memory");
    } else {
      draft.options.optimizer = OptimizerKind::kAdagrad;  // what does not fit is not the state
    }
  }
  while (!Fits(draft) && Shrink(draft)) {
  }
  if (draft.options.dim < wanted) {
    draft.Because(fmt::format("dim {} instead of {}, to fit in memory", draft.options.dim, wanted));
  }
}

}  // namespace octavo
