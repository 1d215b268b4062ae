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
#include "choose/choice_limits.h"
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
// The longer probe trains for a share of the time, up to so many seconds. With its warm-up and tables it takes up to
// kLongerWhole times as long.
constexpr double kLongerShare = 0.05;
constexpr double kMostLonger = 12;
constexpr double kLongerWhole = 1.2;
// It cannot change the choice if by the short ones so many times the most epochs fit.
constexpr double kAmple = 2;
// Of the time, for walks that only count.
constexpr double kWalkShare = 0.2;

class ThisMachine : public TimedMachine {
 public:
  ThisMachine(const Graph& graph, std::uint64_t memory, const TimeLimit& limit)
      : graph_(graph), memory_(memory), limit_(limit) {}

  double Left() override {
    const double reserved = walks_seconds_ + (measured_longer_ ? 0 : kLongerWhole * LongerSeconds());
    return kUsableShare * limit_.seconds - limit_.spent - reserved - SecondsSince(begin_);
  }

  absl::StatusOr<TrainingCost> Measure(const TrainOptions& options) override {
    return MeasureFor(ProbeSeconds(limit_.seconds), options);
  }
  absl::StatusOr<TrainingCost> MeasureLonger(const TrainOptions& options) override {
    measured_longer_ = true;
    return MeasureFor(LongerSeconds(), options);
  }

  absl::StatusOr<TrainingCost> MeasureWalks(const TrainOptions& options) override {
    const double begin = SecondsSince(begin_);
    const double end = begin + kWalkShare * limit_.seconds;
    const auto enough = [&] { return Stopped() || SecondsSince(begin_) > end; };
    const absl::StatusOr<std::uint64_t> pairs = CountPairs(options, enough);
    if (Stopped()) return absl::CancelledError("interrupted");
    walks_seconds_ = SecondsSince(begin_) - begin;
    // Where they could not be taken, as on a full disk, the training will say it.
    const auto most = static_cast<double>(MostTrainedEdges(options, graph_.description()));
    if (pairs.ok()) trained_share_ = static_cast<double>(*pairs) / most;
    return CostOf(options);
  }

  bool Stopped() const { return limit_.stop && limit_.stop(); }

 private:
  double LongerSeconds() const {
    return std::clamp(kLongerShare * limit_.seconds, ProbeSeconds(limit_.seconds), kMostLonger);
  }

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
  double walks_seconds_ = 0;
  bool measured_longer_ = false;
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
  EpochTime(std::uint64_t negatives, double seconds)
      : negatives_(static_cast<double>(negatives)), seconds_(seconds), slope_(seconds / negatives_), most_(negatives) {}

  // Measurements are noisy. So the negatives are taken to cost between kLeastShare and all of the time, and the slope
  // stays if the two numbers of negatives are near each other.
  void Add(std::uint64_t count, double seconds) {
    constexpr double kLeastShare = 0.25;
    constexpr double kNear = 0.1;
    const auto negatives = static_cast<double>(count);
    const double whole = seconds / negatives;
    const bool near = std::abs(negatives - negatives_) < kNear * negatives;
    const double slope = near ? slope_ : (seconds - seconds_) / (negatives - negatives_);
    slope_ = std::clamp(slope, kLeastShare * whole, whole);
    negatives_ = negatives;
    seconds_ = seconds;
    most_ = std::max(most_, count);
  }
  double NegativesFor(double seconds) const { return negatives_ + (seconds - seconds_) / slope_; }
  double SecondsOf(std::uint64_t negatives) const {
    return seconds_ + (static_cast<double>(negatives) - negatives_) * slope_;
  }
  std::uint64_t most_measured() const { return most_; }

 private:
  double negatives_;
  double seconds_;
  double slope_;
  std::uint64_t most_;
};

// The negatives with which whole epochs of `options` would fill `left` seconds, if few epochs fit and miss them.
std::optional<std::uint64_t> FillingNegatives(const EpochTime& time, const TrainingCost& cost, double left,
                                              double most_epochs, const TrainOptions& options) {
  const double epochs = EpochsIn(left, cost);
  double whole = std::clamp(std::round(epochs), 1.0, most_epochs);
  if (epochs > kFewEpochs || std::abs(epochs / whole - 1) < kMostOff) return std::nullopt;
  const std::uint64_t least = std::max(options.walk == Walk::kNone ? kLeastTimedNegatives : kLeastOfWalks,
                                       options.known_negatives ? options.EntriesPerChunk() : 0);
  const auto wanted = [&] { return std::round(time.NegativesFor(std::max(epochs, 0.1) / whole * cost.epoch)); };
  if (wanted() < static_cast<double>(least) && whole > 1) --whole;
  return std::max(least, static_cast<std::uint64_t>(std::max(wanted(), 0.0)));
}

// Adapts the negatives so that whole epochs fill the time, if there are few: by at most three measurements.
absl::Status AdaptNegatives(const GraphDescription& graph, double most_epochs, TimedMachine& machine, EpochTime& time,
                            Choice& choice, TrainingCost& cost) {
  constexpr int kMeasured = 3;
  for (int measured = 0; measured < kMeasured && machine.Left() > 0; ++measured) {
    TrainOptions other = choice.options;
    const auto filling = FillingNegatives(time, cost, machine.Left(), most_epochs, other);
    other.negatives = std::min(filling.value_or(other.negatives), graph.node_count);
    if (other.negatives == choice.options.negatives) break;
    const absl::StatusOr<TrainingCost> other_cost = machine.Measure(other);
    if (absl::IsCancelled(other_cost.status())) return other_cost.status();
    if (!other_cost.ok()) break;  // more negatives need more memory than there is
    cost = *other_cost;
    time.Add(other.negatives, cost.epoch);
    choice.options = other;
    choice.names.emplace("negatives");
  }
  return absl::OkStatus();
}

// Measures the choice for longer, if the result can matter. If that fails, the shorter measurement stands.
absl::Status MeasureAgain(double most_epochs, TimedMachine& machine, const Choice& choice, TrainingCost& cost) {
  if (machine.Left() <= 0 || EpochsIn(machine.Left(), cost) > kAmple * most_epochs) return absl::OkStatus();
  const absl::StatusOr<TrainingCost> longer = machine.MeasureLonger(choice.options);
  if (absl::IsCancelled(longer.status())) return longer.status();
  if (longer.ok()) cost = *longer;
  return absl::OkStatus();
}

// A last step along the line, without a measurement. It takes no more negatives than were measured, because more may
// not fit in memory.
void FollowLine(double most_epochs, TimedMachine& machine, EpochTime& time, Choice& choice, TrainingCost& cost) {
  if (machine.Left() <= 0) return;
  time.Add(choice.options.negatives, cost.epoch);
  const auto filling = FillingNegatives(time, cost, machine.Left(), most_epochs, choice.options);
  const std::uint64_t negatives = std::min(filling.value_or(choice.options.negatives), time.most_measured());
  if (negatives == choice.options.negatives) return;
  choice.options.negatives = negatives;
  choice.names.emplace("negatives");
  cost.epoch = time.SecondsOf(negatives);
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
  std::optional<EpochTime> time;  // if the negatives may change
  if (!given.contains("negatives") && choice.options.negatives != 0) time.emplace(choice.options.negatives, cost.epoch);
  if (time) RETURN_IF_ERROR(AdaptNegatives(graph, most_epochs, machine, *time, choice, cost));
  RETURN_IF_ERROR(MeasureAgain(most_epochs, machine, choice, cost));
  if (time) FollowLine(most_epochs, machine, *time, choice, cost);
  const double epochs = EpochsIn(machine.Left(), cost);
  set_epochs(WholeEpochs(epochs, most_epochs));
  choice.reasons += fmt::format(
      "{}dim {}, {} and {} of {} for the time given", choice.reasons.empty() ? "" : "; ", choice.options.dim,
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
