#include "choose/timed_choice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/count_text.h"
#include "base/duration.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "io/scratch_folder.h"
#include "run/option_rules.h"
#include "run/trained_edges.h"
#include "train/machine_probe.h"
#include "train/training_plan.h"

namespace octavo {
namespace {

// A probe's speed differs from that of the training by up to a tenth or two, in both directions.
constexpr double kUsableShare = 0.95;
// By so much of the time that is left a training may end later than a probe's speed says.
constexpr double kMostOver = 1.1;
// Up to so many epochs the negatives are adapted, if whole epochs would miss the time by more than a share of kMostOff.
constexpr double kFewEpochs = 5;
constexpr double kMostOff = 0.04;
constexpr std::uint64_t kLeastOfWalks = 32;  // negatives; 64 without a time
// How often the sizes may follow from the speed: it depends on them.
constexpr int kProbes = 3;
// The longer probe: a share of the time, and the most seconds.
constexpr double kLongerShare = 0.05;
constexpr double kMostLonger = 12;
// Of the time, for walks that only count.
constexpr double kWalkShare = 0.2;

class ThisMachine : public TimedMachine {
 public:
  ThisMachine(const Graph& graph, std::uint64_t memory, const TimeLimit& limit)
      : graph_(graph), memory_(memory), limit_(limit) {}

  double Left() override { return kUsableShare * limit_.seconds - limit_.spent - reserved_ - SecondsSince(begin_); }

  absl::StatusOr<TrainingCost> Measure(const TrainOptions& options) override {
    return MeasureFor(ProbeSeconds(limit_.seconds), options);
  }
  absl::StatusOr<TrainingCost> MeasureLonger(const TrainOptions& options) override {
    return MeasureFor(std::clamp(kLongerShare * limit_.seconds, ProbeSeconds(limit_.seconds), kMostLonger), options);
  }

  absl::StatusOr<TrainingCost> MeasureWalks(const TrainOptions& options) override {
    const double begin = SecondsSince(begin_);
    const double end = begin + kWalkShare * limit_.seconds;
    const auto enough = [&] { return Stopped() || SecondsSince(begin_) > end; };
    const absl::StatusOr<std::uint64_t> pairs = CountPairs(options, enough);
    if (Stopped()) return absl::CancelledError("interrupted");
    reserved_ = SecondsSince(begin_) - begin;
    // Where they could not be taken, as on a full disk, the training will say it.
    const auto most = static_cast<double>(MostTrainedEdges(options, graph_.description()));
    if (pairs.ok()) trained_share_ = static_cast<double>(*pairs) / most;
    return CostOf(options);
  }

  bool Stopped() const { return limit_.stop && limit_.stop(); }

 private:
  absl::StatusOr<TrainingCost> MeasureFor(double seconds, const TrainOptions& options) {
    if (Stopped()) return absl::CancelledError("interrupted");
    ASSIGN_OR_RETURN(MachineRates rates, ProbeMachine(options, graph_, limit_.folder,
                                                      {.memory = memory_, .seconds = seconds, .stop = limit_.stop}));
    // Later probes fill memory that earlier ones have used, which is faster.
    if (rates_.tables > 0) rates.tables = std::min(rates.tables, rates_.tables);
    rates_ = rates;
    return CostOf(options);
  }

  absl::StatusOr<TrainingCost> CostOf(const TrainOptions& options) const {
    MachineRates rates = rates_;
    rates.training /= trained_share_;
    ASSIGN_OR_RETURN(const TrainingPlan plan,
                     PlanTraining(options, graph_, memory_, limit_.threads, limit_.folder, &rates));
    return TrainingCost{plan.epoch_seconds, plan.seconds - static_cast<double>(options.epochs) * plan.epoch_seconds};
  }

  absl::StatusOr<std::uint64_t> CountPairs(const TrainOptions& options, const std::function<bool()>& enough) const {
    ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(limit_.folder, "octavo-walks"));
    ASSIGN_OR_RETURN(const CellReader pairs,
                     WriteTrainedPairs(graph_, options, memory_, scratch.path() / "pairs", enough));
    return pairs.header().edge_count;
  }

  const Graph& graph_;
  const std::uint64_t memory_;
  const TimeLimit& limit_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double reserved_ = 0;       // seconds
  double trained_share_ = 1;  // of the pairs that walks could make
  MachineRates rates_;
};

// A choice and what it takes; without a cost, the smallest one for a time that is too short to measure it.
struct Sized {
  Choice choice;
  std::optional<TrainingCost> cost;
};

// Lets the sizes follow from the speed that is measured.
absl::StatusOr<Sized> ChooseSize(const GraphFacts& facts, const GraphDescription& graph, std::uint64_t memory,
                                 const TrainOptions& options, const GivenOptions& given, TimedMachine& machine) {
  double flops = kUsualFlops;
  for (int probes = 1;; ++probes) {
    Sized sized;
    sized.choice = ChooseOptions(facts, graph, memory, options, given, flops, /*timed=*/true);
    RETURN_IF_ERROR(ValidateTrainOptions(sized.choice.options));
    ASSIGN_OR_RETURN(sized.cost, machine.Measure(sized.choice.options));
    const double left = machine.Left();
    const auto epochs = static_cast<double>(sized.choice.options.epochs);
    const double share = std::max(left, 0.0) / (sized.cost->outside + epochs * sized.cost->epoch);
    flops = std::clamp(sized.choice.flops * share, 1e9, 1e18);
    if (left <= 0) {
      sized.choice = ChooseOptions(facts, graph, memory, options, given, flops, /*timed=*/true);
      RETURN_IF_ERROR(ValidateTrainOptions(sized.choice.options));
      sized.cost.reset();
      return sized;
    }
    if (probes == kProbes || (share >= 0.8 && share <= 1.5) || sized.choice.flops == 0) return sized;
  }
}

// The epochs that fit in `left` seconds.
double EpochsIn(double left, const TrainingCost& cost) { return (left - cost.outside) / cost.epoch; }

// Where not even one epoch of the pairs that the walks make fits, chooses shorter or fewer walks. An epoch is taken to
// be shorter by as much as they are: the share of pairs that fall together is that of the longer ones.
absl::Status ShortenWalks(const GraphFacts& facts, const GraphDescription& graph, std::uint64_t memory,
                          const TrainOptions& options, const GivenOptions& given, double left, Choice& choice,
                          TrainingCost& cost) {
  const double fitting = EpochsIn(left, cost);
  if (fitting >= 1) return absl::OkStatus();
  const double flops = choice.flops * std::max(fitting, 0.01);
  Choice shorter = ChooseOptions(facts, graph, memory, options, given, flops, /*timed=*/true);
  const double share = static_cast<double>(MostTrainedEdges(shorter.options, graph)) /
                       static_cast<double>(MostTrainedEdges(choice.options, graph));
  if (share >= 1) return absl::OkStatus();
  RETURN_IF_ERROR(ValidateTrainOptions(shorter.options));
  cost.epoch *= share;
  choice = std::move(shorter);
  return absl::OkStatus();
}

// The seconds of an epoch by its number of negatives: a line through the last two measurements.
class EpochTime {
 public:
  EpochTime(double negatives, double seconds) : negatives_(negatives), seconds_(seconds), slope_(seconds / negatives) {}

  // Measurements are noisy. So the negatives are taken to cost between kLeastShare and all of the time, and the slope
  // stays if the two numbers of negatives are near each other.
  void Add(double negatives, double seconds) {
    constexpr double kLeastShare = 0.25;
    constexpr double kNear = 0.1;
    const double whole = seconds / negatives;
    const bool near = std::abs(negatives - negatives_) < kNear * negatives;
    const double slope = near ? slope_ : (seconds - seconds_) / (negatives - negatives_);
    slope_ = std::clamp(slope, kLeastShare * whole, whole);
    negatives_ = negatives;
    seconds_ = seconds;
  }
  double NegativesFor(double seconds) const { return negatives_ + (seconds - seconds_) / slope_; }
  double SecondsOf(double negatives) const { return seconds_ + (negatives - negatives_) * slope_; }

 private:
  double negatives_;
  double seconds_;
  double slope_;
};

// Adapts the negatives so that whole epochs fill the time, if there are few. Measures at most three times. A last step
// follows the line without a measurement. It takes no more negatives than were measured, because more may not fit in
// memory.
absl::Status AdaptNegatives(const GraphDescription& graph, double most_epochs, TimedMachine& machine, Choice& choice,
                            TrainingCost& cost) {
  constexpr int kMeasured = 3;
  std::uint64_t fit = choice.options.negatives;
  EpochTime time(static_cast<double>(fit), cost.epoch);
  for (int adapted = 0; adapted <= kMeasured && machine.Left() > 0; ++adapted) {
    const double epochs = EpochsIn(machine.Left(), cost);
    const double off = std::max(epochs, 0.1) / std::clamp(std::round(epochs), 1.0, most_epochs);
    if (epochs > kFewEpochs || std::abs(off - 1) < kMostOff) break;
    TrainOptions other = choice.options;
    const std::uint64_t least = std::max(choice.options.walk == Walk::kNone ? kLeastTimedNegatives : kLeastOfWalks,
                                         other.known_negatives ? other.EntriesPerChunk() : 0);
    const double wanted = std::round(time.NegativesFor(off * cost.epoch));
    other.negatives = std::max(least, static_cast<std::uint64_t>(std::max(wanted, 0.0)));
    other.negatives = std::min(other.negatives, adapted == kMeasured ? fit : graph.node_count);
    if (other.negatives == choice.options.negatives) break;
    if (adapted == kMeasured) {
      cost.epoch = time.SecondsOf(static_cast<double>(other.negatives));
    } else {
      const absl::StatusOr<TrainingCost> other_cost = machine.Measure(other);
      if (absl::IsCancelled(other_cost.status())) return other_cost.status();
      if (!other_cost.ok()) break;  // more negatives need more memory than there is
      cost = *other_cost;
      time.Add(static_cast<double>(other.negatives), cost.epoch);
    }
    fit = std::max(fit, other.negatives);
    choice.options = other;
    choice.names.emplace("negatives");
  }
  return absl::OkStatus();
}

// The whole number of epochs for `fitting` ones, up to `most`: the nearest, but not one that would end too late.
double WholeEpochs(double fitting, double most) {
  double whole = std::round(fitting);
  if (kUsableShare * whole > kMostOver * fitting) whole = std::floor(fitting);
  return std::clamp(whole, 1.0, most);
}

}  // namespace

absl::StatusOr<Choice> ChooseForMachine(const GraphFacts& facts, const GraphDescription& graph, std::uint64_t memory,
                                        const TrainOptions& options, const GivenOptions& given, TimedMachine& machine,
                                        const std::string& text, const GivenOptions& found) {
  ASSIGN_OR_RETURN(Sized sized, ChooseSize(facts, graph, memory, options, given, machine));
  Choice& choice = sized.choice;
  const auto chosen_text = [&] {
    GivenOptions names = choice.names;
    names.insert(found.begin(), found.end());
    GivenOptions others = given;
    for (const std::string& name : found) others.erase(name);
    return ChosenText(choice.options, others, names);
  };
  const auto set_epochs = [&](double epochs) {
    choice.names.emplace("epochs");
    choice.options.epochs = static_cast<std::uint64_t>(epochs);
    if (!given.contains("learning-rate")) choice.options.learning_rate = RateFor(choice.options, facts);
  };
  if (!sized.cost) {
    set_epochs(1);
    choice.chosen = fmt::format("{} (for {}, too short to measure this machine)", chosen_text(), text);
    return std::move(choice);
  }
  TrainingCost& cost = *sized.cost;
  if (choice.options.walk != Walk::kNone) {
    ASSIGN_OR_RETURN(cost, machine.MeasureWalks(choice.options));
    RETURN_IF_ERROR(ShortenWalks(facts, graph, memory, options, given, machine.Left(), choice, cost));
  }
  const double most_epochs = static_cast<double>(kMostRepeats * choice.options.epochs);
  if (!given.contains("negatives") && choice.options.negatives != 0) {
    RETURN_IF_ERROR(AdaptNegatives(graph, most_epochs, machine, choice, cost));
  }
  ASSIGN_OR_RETURN(cost, machine.MeasureLonger(choice.options));
  const double epochs = EpochsIn(machine.Left(), cost);
  set_epochs(WholeEpochs(epochs, most_epochs));
  choice.reasons += fmt::format(
      "; dim {}, {} and {} of {} for the time given", choice.options.dim,
      choice.options.negatives == 0 ? std::string("all negatives") : CountText(choice.options.negatives, "negative"),
      CountText(choice.options.epochs, "epoch"), DurationText(cost.epoch));
  choice.chosen = fmt::format("{} (for {}{})", chosen_text(), text, epochs < 0.9 ? ", less than an epoch takes" : "");
  return std::move(choice);
}

absl::StatusOr<Choice> ChooseForTime(const Graph& graph, const GraphFacts& facts, std::uint64_t memory,
                                     const TrainOptions& options, const GivenOptions& given, const TimeLimit& limit) {
  ThisMachine machine(graph, memory, limit);
  ASSIGN_OR_RETURN(Choice choice, ChooseForMachine(facts, graph.description(), memory, options, given, machine,
                                                   DurationText(limit.seconds), limit.found));
  if (machine.Stopped()) return absl::CancelledError("interrupted");
  return choice;
}

}  // namespace octavo
