#include "choose/timed_choice.h"

#include <algorithm>
#include <chrono>
#include <cmath>

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
    const double share = left / plan.seconds;
    if (probes < kProbes && (share < 0.8 || share > 1.5) && left > 0 && choice.flops > 0) {
      flops = std::clamp(choice.flops * share, 1e9, 1e18);
      continue;
    }
    std::uint64_t& epochs = choice.options.epochs;
    if (!given.contains("epochs")) {
      const double outside = plan.seconds - static_cast<double>(epochs) * plan.epoch_seconds;
      const double fitting = std::floor((left - outside) / plan.epoch_seconds);
      epochs = static_cast<std::uint64_t>(std::clamp(fitting, 1.0, static_cast<double>(kMostRepeats * epochs)));
      choice.reasons += fmt::format("; {} epochs of {} for the time given", epochs, DurationText(plan.epoch_seconds));
    }
    choice.chosen += fmt::format(" (for {}: --epochs {})", DurationText(limit.seconds), epochs);
    return choice;
  }
}

}  // namespace octavo
