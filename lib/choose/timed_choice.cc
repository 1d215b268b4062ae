#include "choose/timed_choice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "base/count_text.h"
#include "base/duration.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "train/machine_probe.h"
#include "train/training_plan.h"

namespace octavo {
namespace {

// A probe's speed differs from that of the training by about a tenth, mostly upwards: caches are warm.
constexpr double kUsableShare = 0.92;
// How often the sizes may follow from the speed: it depends on them.
constexpr int kProbes = 3;

// What a training with some options takes.
class Probe {
 public:
  Probe(const Graph& graph, std::uint64_t memory, const TimeLimit& limit)
      : graph_(graph), memory_(memory), limit_(limit) {}

  absl::StatusOr<TrainingPlan> Measure(const TrainOptions& options) {
    ASSIGN_OR_RETURN(const MachineRates rates, ProbeMachine(options, graph_, limit_.folder, memory_));
    return PlanTraining(options, graph_, memory_, limit_.threads, limit_.folder, &rates);
  }

 private:
  const Graph& graph_;
  const std::uint64_t memory_;
  const TimeLimit& limit_;
};

// Sets the epochs, in the text too.
void SetEpochs(Choice& choice, std::uint64_t epochs) {
  const std::string before = fmt::format("--epochs {}", choice.options.epochs);
  const std::size_t place = choice.chosen.find(before);
  if (place != std::string::npos) choice.chosen.replace(place, before.size(), fmt::format("--epochs {}", epochs));
  choice.options.epochs = epochs;
}

}  // namespace

absl::StatusOr<Choice> ChooseForTime(const Graph& graph, const GraphFacts& facts, std::uint64_t memory,
                                     const TrainOptions& options, const GivenOptions& given, const TimeLimit& limit) {
  const auto begin = std::chrono::steady_clock::now();
  Probe probe(graph, memory, limit);
  double flops = kUsualFlops;
  for (int probes = 1;; ++probes) {
    Choice choice = ChooseOptions(facts, graph.description(), memory, options, given, flops);
    RETURN_IF_ERROR(ValidateTrainOptions(choice.options));
    ASSIGN_OR_RETURN(const TrainingPlan plan, probe.Measure(choice.options));
    const double left = limit.seconds * kUsableShare - SecondsSince(begin);
    const double share = std::max(left, 0.0) / plan.seconds;
    if (probes < kProbes && (share < 0.8 || share > 1.5) && choice.flops > 0) {
      flops = std::clamp(choice.flops * share, 1e9, 1e18);
      if (left > 0) continue;
      // Nothing is left to measure with: the smallest choice.
      choice = ChooseOptions(facts, graph.description(), memory, options, given, flops);
      RETURN_IF_ERROR(ValidateTrainOptions(choice.options));
      SetEpochs(choice, given.contains("epochs") ? choice.options.epochs : 1);
      choice.chosen += fmt::format(" (for {}, too short to measure this machine)", DurationText(limit.seconds));
      return choice;
    }
    if (!given.contains("epochs")) {
      const auto epochs = static_cast<double>(choice.options.epochs);
      const double outside = plan.seconds - epochs * plan.epoch_seconds;
      const double fitting = std::floor((left - outside) / plan.epoch_seconds);
      SetEpochs(choice, static_cast<std::uint64_t>(std::clamp(fitting, 1.0, kMostRepeats * epochs)));
      choice.reasons += fmt::format("; {} of {} for the time given", CountText(choice.options.epochs, "epoch"),
                                    DurationText(plan.epoch_seconds));
    }
    choice.chosen += fmt::format(" (for {}{})", DurationText(limit.seconds),
                                 plan.epoch_seconds > left ? ", less than an epoch takes" : "");
    return choice;
  }
}

}  // namespace octavo
