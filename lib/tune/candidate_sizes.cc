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

Choice ChoiceFor(const CandidateSource& source, double flops, bool timed = false) {
  return ChooseOptions(source.facts, source.graph, source.memory, source.options, source.given, flops, timed);
}

bool IsLarger(const TrainOptions& options, const TrainOptions& usual) {
  const bool more_negatives = usual.negatives != 0 && (options.negatives == 0 || options.negatives > usual.negatives);
  return options.dim > usual.dim || more_negatives;
}

// Makes what is chosen for `most` seconds the larger candidate, if the usual choice takes far less. `taken` is what
// that one takes. Returns what it did, for people. The search can do without it, so only a stop is an error.
absl::StatusOr<std::string> AddLarger(CandidateSource& source, const TrainOptions& usual, double taken, double most,
                                      const CandidateMeasures& measures) {
  constexpr double kFarLess = 1.5;
  constexpr double kLonger = 1.3;       // measurements differ by less
  constexpr double kLeastSeconds = 10;  // or measuring would take too much of the search
  if (usual.model_spec().RelationWidth() == 0 || most < std::max(kFarLess * taken, kLeastSeconds)) return std::string();
  // More epochs alone are not worth it (docs/defaults.md).
  if (!IsLarger(ChoiceFor(source, source.flops * most / taken, /*timed=*/true).options, usual)) return std::string();
  const absl::StatusOr<TrainOptions> larger = measures.choice(most);
  if (absl::IsCancelled(larger.status())) return larger.status();
  if (!larger.ok() || !IsLarger(*larger, usual)) return std::string();
  const absl::StatusOr<double> seconds = measures.seconds(*larger);
  if (absl::IsCancelled(seconds.status())) return seconds.status();
  if (!seconds.ok() || *seconds < kLonger * taken) return std::string();
  source.larger = LargerCandidate{.options = *larger, .seconds = *seconds};
  return fmt::format("what train chooses takes about {}: one candidate is larger, about {}", DurationText(taken),
                     DurationText(*seconds));
}

}  // namespace

absl::StatusOr<std::string> FitCandidates(CandidateSource& source, const TimePlan& plan, int times,
                                          const CandidateMeasures& measures) {
  constexpr int kProbes = 2;
  const double most = plan.MostSecondsOfTrial(times);
  std::string note;
  for (int probe = 1;; ++probe) {
    const Choice choice = ChoiceFor(source, source.flops);
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
