#include "choose/timed_choice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/duration.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "io/scratch_folder.h"
#include "run/trained_edges.h"
#include "train/machine_probe.h"
#include "train/training_plan.h"

namespace octavo {
namespace {

// A probe's speed differs from that of the training by about a tenth, mostly upwards: caches are warm.
constexpr double kUsableShare = 0.92;
// With fewer epochs the negatives are adapted, so that whole epochs fill the time but for this share of it.
constexpr double kFewEpochs = 5;
constexpr double kMostOff = 0.04;
// How often the sizes may follow from the speed: it depends on them.
constexpr int kProbes = 3;

// What is left of the time.
class Clock {
 public:
  explicit Clock(double seconds) : seconds_(seconds) {}
  void Reserve(double seconds) { seconds_ -= seconds; }
  double Left() const { return seconds_ - SecondsSince(begin_); }

 private:
  double seconds_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// What a training takes.
struct Cost {
  double epoch = 0;    // seconds
  double outside = 0;  // of all epochs
};

// What a training with some options takes, measured.
class Probe {
 public:
  Probe(const Graph& graph, std::uint64_t memory, const TimeLimit& limit)
      : graph_(graph), memory_(memory), limit_(limit) {}

  absl::StatusOr<Cost> Measure(const TrainOptions& options) {
    if (limit_.stop && limit_.stop()) return absl::CancelledError("interrupted");
    ASSIGN_OR_RETURN(const MachineRates rates, ProbeMachine(options, graph_, limit_.folder, memory_));
    ASSIGN_OR_RETURN(const TrainingPlan plan,
                     PlanTraining(options, graph_, memory_, limit_.threads, limit_.folder, &rates));
    return Cost{plan.epoch_seconds, plan.seconds - static_cast<double>(options.epochs) * plan.epoch_seconds};
  }

 private:
  const Graph& graph_;
  const std::uint64_t memory_;
  const TimeLimit& limit_;
};

// Sets an option, in the text too.
void Set(Choice& choice, std::string_view name, std::uint64_t TrainOptions::*member, std::uint64_t value) {
  const std::string before = fmt::format("--{} {} ", name, choice.options.*member);
  choice.chosen += ' ';
  if (const std::size_t place = choice.chosen.find(before); place != std::string::npos) {
    choice.chosen.replace(place, before.size(), fmt::format("--{} {} ", name, value));
  }
  choice.chosen.pop_back();
  choice.options.*member = value;
}

// What the walks of `options` take, and how many pairs an epoch has. Takes them, in a folder that is then removed.
struct WalkedPairs {
  double seconds = 0;
  std::uint64_t pairs = 0;
};
absl::StatusOr<WalkedPairs> TakeWalks(const Graph& graph, const TrainOptions& options, std::uint64_t memory,
                                      const TimeLimit& limit) {
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(limit.folder, "octavo-walks"));
  ASSIGN_OR_RETURN(const CellReader pairs,
                   WriteTrainedPairs(graph, options, memory, scratch.path() / "pairs", limit.stop));
  return WalkedPairs{SecondsSince(begin), pairs.header().edge_count};
}

// A choice and what it takes.
struct Sized {
  Choice choice;
  Cost cost;
  bool measured = true;  // otherwise the time is too short, and the cost is that of a larger choice
};

// Lets the sizes follow from the speed that is measured.
absl::StatusOr<Sized> ChooseSize(const Graph& graph, const GraphFacts& facts, std::uint64_t memory,
                                 const TrainOptions& options, const GivenOptions& given, Clock& clock, Probe& probe) {
  double flops = kUsualFlops;
  for (int probes = 1;; ++probes) {
    Sized sized;
    sized.choice = ChooseOptions(facts, graph.description(), memory, options, given, flops, /*timed=*/true);
    RETURN_IF_ERROR(ValidateTrainOptions(sized.choice.options));
    ASSIGN_OR_RETURN(sized.cost, probe.Measure(sized.choice.options));
    const double left = clock.Left();
    const auto epochs = static_cast<double>(sized.choice.options.epochs);
    const double share = std::max(left, 0.0) / (sized.cost.outside + epochs * sized.cost.epoch);
    if (probes == kProbes || (share >= 0.8 && share <= 1.5) || sized.choice.flops == 0) return sized;
    flops = std::clamp(sized.choice.flops * share, 1e9, 1e18);
    if (left > 0) continue;
    sized.choice = ChooseOptions(facts, graph.description(), memory, options, given, flops, /*timed=*/true);
    RETURN_IF_ERROR(ValidateTrainOptions(sized.choice.options));
    sized.measured = false;
    return sized;
  }
}

}  // namespace

absl::StatusOr<Choice> ChooseForTime(const Graph& graph, const GraphFacts& facts, std::uint64_t memory,
                                     const TrainOptions& options, const GivenOptions& given, const TimeLimit& limit) {
  Clock clock(limit.seconds * kUsableShare);
  Probe probe(graph, memory, limit);
  ASSIGN_OR_RETURN(Sized sized, ChooseSize(graph, facts, memory, options, given, clock, probe));
  Choice& choice = sized.choice;
  const std::string time = DurationText(limit.seconds);
  const bool free_epochs = !given.contains("epochs");
  if (!sized.measured) {
    if (free_epochs) Set(choice, "epochs", &TrainOptions::epochs, 1);
    choice.chosen += fmt::format(" (for {}, too short to measure this machine)", time);
    return std::move(choice);
  }
  Cost& cost = sized.cost;
  const auto usual_epochs = static_cast<double>(choice.options.epochs);
  double trained_share = 1;  // of the edges that the probe expects
  if (choice.options.walk != Walk::kNone) {
    // How many pairs meet more than once is known only after the walks.
    ASSIGN_OR_RETURN(const WalkedPairs walked, TakeWalks(graph, choice.options, memory, limit));
    clock.Reserve(walked.seconds);  // they are taken again
    const auto most = static_cast<double>(MostTrainedEdges(choice.options, graph.description()));
    trained_share = static_cast<double>(walked.pairs) / most;
  }
  const auto fitting = [&] { return (clock.Left() - cost.outside) / (trained_share * cost.epoch); };
  const auto whole = [&](double epochs) {
    return std::clamp(std::round(epochs), 1.0, static_cast<double>(kMostRepeats) * usual_epochs);
  };
  // As the time of an epoch does not only depend on the negatives, twice.
  const bool free_negatives = !given.contains("negatives") && choice.options.negatives != 0;
  for (int adapted = 0; free_epochs && free_negatives && adapted < 2; ++adapted) {
    const double epochs = fitting();
    const double off = std::max(epochs, 0.1) / whole(epochs);
    if (epochs > kFewEpochs || std::abs(off - 1) < kMostOff) break;
    const TrainOptions& now = choice.options;
    const std::uint64_t least = now.known_negatives ? now.EntriesPerChunk() : 1;
    const auto wanted = static_cast<std::uint64_t>(std::round(static_cast<double>(now.negatives) * off));
    Set(choice, "negatives", &TrainOptions::negatives,
        std::clamp(wanted, std::max<std::uint64_t>(least, 16), std::max(now.negatives, graph.node_count())));
    ASSIGN_OR_RETURN(cost, probe.Measure(choice.options));
  }
  if (free_epochs) {
    Set(choice, "epochs", &TrainOptions::epochs, static_cast<std::uint64_t>(whole(fitting())));
    choice.reasons += fmt::format("; {} of {} for the time given", CountText(choice.options.epochs, "epoch"),
                                  DurationText(trained_share * cost.epoch));
  }
  choice.chosen += fmt::format(" (for {}{})", time, fitting() < 0.9 ? ", less than an epoch takes" : "");
  return std::move(choice);
}

}  // namespace octavo
