// Divides the time of a search among its rungs, so that the best trial and the reference can be trained in full before
// it is over. Pure arithmetic on measured seconds.
#pragma once

#include <cstddef>

namespace octavo {

class TimePlan {
 public:
  // `seconds` of all processes that work on the search; 0: no limit.
  explicit TimePlan(double seconds) : seconds_(seconds) {}

  // A task that has not begun, in seconds.
  struct Task {
    std::size_t rung = 0;
    std::size_t rungs = 1;
    double spent = 0;   // of the search so far
    double needed = 0;  // by the task, as expected; 0: not known
    // By what must follow it: the rest of the reference and of the larger trial, that of this trial if it is the best,
    // and a training on all edges if some were held out.
    double later = 0;
  };

  bool limited() const { return seconds_ > 0; }
  // Whether there is time for the task: for it and what follows, and without using up the share of later rungs.
  bool Admits(const Task& task) const;
  // Whether a task that takes longer than `needed` must end, because what follows without it would be late, or, before
  // the last rung, because it takes several times what is expected. If nothing is expected, it may use up the time of
  // its rung. `taken` counts in `spent`.
  bool MustEnd(const Task& task, double taken) const;
  // Whether the search could still be in time after `spent` seconds.
  bool Holds(double spent) const { return spent <= Usable(); }
  // The most that one training in full should take, if the best is trained `times` times: three or four trainings fit
  // beside the first rungs, and one more if `times` is 2. For a larger candidate it is MostSecondsOfLarger.
  double MostSecondsOfTrial(int times) const { return seconds_ * (times > 1 ? kShareOfTrialTwice : kShareOfTrial); }
  // The seconds that one training of a candidate that is larger than the others should take. `first` is the seconds of
  // the first candidate, `times` how often the larger one is trained: twice if the best is trained again, on all edges.
  // All its trainings together get the time that six of the first leave: at least a quarter and at most half of the
  // whole. REQUIRES: times > 0
  double MostSecondsOfLarger(double first, int times) const;

 private:
  static constexpr double kShareOfTrial = 0.25;
  static constexpr double kShareOfTrialTwice = 0.18;
  double Usable() const;
  double EndOfRung(const Task& task) const;

  double seconds_;
};

}  // namespace octavo
