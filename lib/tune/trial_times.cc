#include "tune/trial_times.h"

#include <algorithm>
#include <optional>

namespace octavo {

double TrialTimes::ThroughRung(const Trial& trial, std::size_t rung) const {
  return OfEpochs(trial, trial.epochs_done, EndOfRung(trial, halving_.rungs(), rung)) + Fixed(trial);
}

double TrialTimes::AfterRung(const Trial& trial, std::size_t rung) const {
  const auto rungs = static_cast<double>(halving_.rungs().size() - rung - 1);
  return OfEpochs(trial, EndOfRung(trial, halving_.rungs(), rung), trial.options.epochs) + rungs * Fixed(trial);
}

double TrialTimes::Whole(const Trial& trial) const { return AllEpochs(trial) + Fixed(trial); }

double TrialTimes::AllEpochs(const Trial& trial) const { return OfEpochs(trial, 0, trial.options.epochs); }

double TrialTimes::OfEpochs(const Trial& trial, std::uint64_t first, std::uint64_t end) const {
  return OfEpoch(trial) * static_cast<double>(end - std::min(end, first));
}

// A trial without a result is expected to take what was measured for it, or else the same as the others for the same
// share of their epochs.
double TrialTimes::OfEpoch(const Trial& trial) const {
  if (trial.epochs_done > 0) {
    return std::max(0.0, trial.seconds - trial.fixed_seconds) / static_cast<double>(trial.epochs_done);
  }
  const double whole = trial.expected_seconds > 0 ? trial.expected_seconds : MeanOfAllEpochs();
  return whole / static_cast<double>(trial.options.epochs);
}

// The mean of the trials that have a result. The larger one says nothing about the others.
double TrialTimes::MeanOfAllEpochs() const {
  double seconds = 0;
  double trained = 0;
  for (const Trial& trial : trials_) {
    if (trial.epochs_done == 0 || trial.expected_seconds > 0) continue;
    seconds += AllEpochs(trial);
    ++trained;
  }
  return trained > 0 ? seconds / trained : 0;
}

// What a rung takes whatever its epochs: the mean of the trial's rungs, or of the others' if it has no result. Where
// this is not known of its results, it counts in its epochs.
double TrialTimes::Fixed(const Trial& trial) const {
  if (trial.timed_rungs > 0) return trial.fixed_seconds / static_cast<double>(trial.timed_rungs);
  if (trial.epochs_done > 0) return 0;
  double seconds = 0;
  double rungs = 0;
  for (const Trial& other : trials_) {
    if (other.expected_seconds > 0 || other.timed_rungs == 0) continue;
    seconds += other.fixed_seconds;
    rungs += static_cast<double>(other.timed_rungs);
  }
  return rungs > 0 ? seconds / rungs : 0;
}

double TrialTimes::Later(const Halving::Task& task, bool trains_best_again, double spent) const {
  double seconds = 0;
  double longest = Whole(trials_[task.trial]);
  if (trials_[0].failure.empty() && task.trial != 0) seconds += AfterRung(trials_[0], task.rung);
  for (const Trial& trial : trials_) {
    if (trial.expected_seconds == 0 || trial.number == task.trial || !Continues(trial, task.rung)) continue;
    const double whole = trains_best_again ? Whole(trial) : 0;
    const double rest = AfterRung(trial, task.rung);
    if (!plan_.Holds(spent + seconds + rest + whole)) continue;  // it will have to leave
    seconds += rest;
    longest = std::max(longest, whole);
  }
  if (!trains_best_again) return seconds;
  if (const std::optional<std::uint64_t> best = halving_.Best()) longest = std::max(longest, Whole(trials_[*best]));
  return seconds + longest;
}

// Whether the trial has ended the rung, and is among the best so far.
bool TrialTimes::Continues(const Trial& trial, std::size_t rung) const {
  return trial.epochs_done >= EndOfRung(trial, halving_.rungs(), rung) && trial.failure.empty() &&
         !halving_.IsOut(trial.number);
}

}  // namespace octavo
