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

Choice ChoiceOf(const CandidateSource& source) {
  return ChooseOptions(source.facts, source.graph, source.memory, source.options, source.given, source.flops);
}

// Makes what is chosen for `most` seconds the larger candidate, if the usual choice takes far less: `taken`. Returns
// what it did, for people. The search can do without it, so only a stop is an error.
absl::StatusOr<std::string> AddLarger(CandidateSource& source, const TrainOptions& usual, double taken, double most,
                                      const CandidateMeasures& measures) {
  constexpr double kFarLess = 1.5;
  if (usual.model_spec().RelationWidth() == 0 || most < kFarLess * taken) return std::string();
  const absl::StatusOr<TrainOptions> larger = measures.choice(most);
  if (absl::IsCancelled(larger.status())) return larger.status();
  if (!larger.ok()) return std::string();
  const absl::StatusOr<double> seconds = measures.seconds(*larger);
  if (absl::IsCancelled(seconds.status())) return seconds.status();
  if (!seconds.ok() || *seconds < taken) return std::string();
  source.larger = LargerCandidate{.options = *larger, .seconds = *seconds};
  return fmt::format("what train chooses takes about {}: one candidate is larger, about {}", DurationText(taken),
                     DurationText(*seconds));
}

}  // namespace

absl::StatusOr<std::string> FitCandidates(CandidateSource& source, const TimePlan& plan, int times,
                                          const CandidateMeasures& measures) {
  constexpr int kProbes = 2;
  const double most = plan.MostSecondsOfTrial();
  std::string note;
  for (int probe = 1;; ++probe) {
    const Choice choice = ChoiceOf(source);
    ASSIGN_OR_RETURN(const double taken, measures.seconds(choice.options));
    if (taken <= most) {
      if (probe > 1 || times == 0) return note;
      return AddLarger(source, choice.options, taken, plan.MostSecondsOfLarger(taken, times), measures);
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
