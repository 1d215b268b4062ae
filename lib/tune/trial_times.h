// What the trainings of a search will take, by what its trials have taken so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tune/halving.h"
#include "tune/time_plan.h"
#include "tune/trials.h"

namespace octavo {

// All results are in seconds, and 0 as long as nothing is known. One thread.
class TrialTimes {
 public:
  // All three must outlive the object. They may change between calls.
  TrialTimes(const std::vector<Trial>& trials, const Halving& halving, const TimePlan& plan)
      : trials_(trials), halving_(halving), plan_(plan) {}
  TrialTimes(const TrialTimes&) = delete;
  TrialTimes& operator=(const TrialTimes&) = delete;

  // Training the trial from where it is to the end of the rung, with the start and the validation of the rung.
  double ThroughRung(const Trial& trial, std::size_t rung) const;
  // From the end of the rung to the end of the trial, with the starts and validations of the later rungs.
  double AfterRung(const Trial& trial, std::size_t rung) const;
  // A training of all epochs, with one start and, to be on the safe side, a validation.
  double Whole(const Trial& trial) const;
  // What must follow the task, besides the rest of its trial: the rest of the reference and of the larger trial. With
  // `trains_best_again`, also a training of the best on all edges. `spent` is what the search has taken so far.
  double Later(const Halving::Task& task, bool trains_best_again, double spent) const;

 private:
  double OfEpochs(const Trial& trial, std::uint64_t first, std::uint64_t end) const;
  double OfEpoch(const Trial& trial) const;
  double Fixed(const Trial& trial) const;
  double AllEpochs(const Trial& trial) const;
  double MeanOfAllEpochs() const;
  bool Continues(const Trial& trial, std::size_t rung) const;

  const std::vector<Trial>& trials_;
  const Halving& halving_;
  const TimePlan& plan_;
};

}  // namespace octavo
