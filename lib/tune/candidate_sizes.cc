#include "tune/candidate_sizes.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "base/duration.h"
#include "base/status.h"
#include "choose/choice.h"
#include "fmt/format.h"

namespace octavo {
namespace {

Choice ChoiceFor(const CandidateSource& source, double flops) {
  return ChooseOptions(source.facts, source.graph, source.memory, source.options, source.given, flops);
}

// Gives the source larger flops if the choice, which takes `taken` seconds, leaves most of `most`, and more flops make
// it larger. Returns what it did, for people.
absl::StatusOr<std::string> AddLarger(CandidateSource& source, const Choice& usual, double taken, double most,
                                      const MeasureTraining& measure) {
  constexpr double kFarLess = 1.5;
  constexpr double kMostOver = 1.2;  // a search can bear it, and less flops would be a step of the rules down
  if (usual.options.model_spec().RelationWidth() == 0 || most < kFarLess * taken) return std::string();
  double flops = source.flops * most / taken;
  const Choice larger = ChoiceFor(source, flops);
  if (larger.flops <= usual.flops) return std::string();
  const absl::StatusOr<double> seconds = measure(larger.options);
  if (absl::IsCancelled(seconds.status())) return seconds.status();
  if (!seconds.ok()) return std::string();  // the search can do without it
  if (*seconds > kMostOver * most) {
    flops = larger.flops * most / *seconds;  // a guess: sizes are steps, and not all work is products
    if (ChoiceFor(source, flops).flops <= usual.flops) return std::string();
  }
  source.larger_flops = flops;
  source.larger_seconds = *seconds * ChoiceFor(source, flops).flops / larger.flops;
  return fmt::format("what train chooses takes about {}: one candidate is larger, about {}", DurationText(taken),
                     DurationText(source.larger_seconds));
}

}  // namespace

absl::StatusOr<std::string> FitCandidates(CandidateSource& source, const TimePlan& plan, int times,
                                          const MeasureTraining& measure) {
  constexpr int kProbes = 2;
  const double most = plan.MostSecondsOfTrial();
  std::string note;
  for (int probe = 1;; ++probe) {
    const Choice choice = ChoiceFor(source, source.flops);
    ASSIGN_OR_RETURN(const double taken, measure(choice.options));
    if (taken <= most) {
      if (probe > 1 || times == 0) return note;
      return AddLarger(source, choice, taken, plan.MostSecondsOfLarger(taken, times), measure);
    }
    if (note.empty()) {
      note = fmt::format("what train chooses would take about {}: the candidates are smaller, about {} each",
                         DurationText(taken), DurationText(most));
    }
    const double share = most / taken;
    if (probe < kProbes && choice.options.model_spec().RelationWidth() > 0) {
      source.flops *= share;
      continue;
    }
    source.options.epochs =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(choice.options.epochs) * share));
    source.given.emplace("epochs");
    source.flops *= share;  // or the work of the epochs left out would be given to the dimension
    return note;
  }
}

}  // namespace octavo
