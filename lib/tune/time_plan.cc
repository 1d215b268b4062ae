#include "tune/time_plan.h"

#include <algorithm>

namespace octavo {
namespace {

// Measured seconds differ from those to come by a few percent.
constexpr double kUsableShare = 0.95;
// Of the usable time, at the end of the first rung; each later one but the last has kRungShare more. By the arithmetic
// of halving, the rungs take about equal times.
constexpr double kFirstShare = 0.45;
constexpr double kRungShare = 0.3;
// What must follow can take so much longer than expected in each rung that is left. Without that, the first rung would
// use up all time that the best needs later, and a small error would leave none of the others.
constexpr double kReserveOfRung = 0.05;
// A trial that takes so many times what is expected would have to be as much better.
constexpr double kTooSlow = 4;
constexpr double kLeastShareTooSlow = 0.04;
// The first candidate and the others should have the time of six trainings of the first: 15 others with four of them
// in the last rung take five.
constexpr double kTrainingsOfOthers = 6;
// The least and the most of the time that a larger candidate gets, all its trainings together.
constexpr double kLeastOfLarger = 0.25;
constexpr double kMostOfLarger = 0.5;

}  // namespace

double TimePlan::Usable() const { return seconds_ * kUsableShare; }

double TimePlan::EndOfRung(const Task& task) const {
  if (task.rung + 1 == task.rungs) return Usable();
  return Usable() * std::min(1.0, kFirstShare + kRungShare * static_cast<double>(task.rung));
}

bool TimePlan::Admits(const Task& task) const {
  if (!limited()) return true;
  const double end = task.spent + task.needed;
  const double reserve = 1 + kReserveOfRung * static_cast<double>(task.rungs - 1 - task.rung);
  return end <= EndOfRung(task) && Holds(end + reserve * task.later);
}

bool TimePlan::MustEnd(const Task& task, double taken) const {
  if (!limited()) return false;
  if (!Holds(task.spent + task.later)) return true;
  if (task.rung + 1 == task.rungs) return false;
  if (task.needed == 0) return task.spent > EndOfRung(task);
  return taken > std::max(kTooSlow * task.needed, kLeastShareTooSlow * Usable());
}

double TimePlan::MostSecondsOfLarger(double first, int times) const {
  const double left = Usable() - kTrainingsOfOthers * first;
  return std::clamp(left, kLeastOfLarger * seconds_, kMostOfLarger * seconds_) / times;
}

}  // namespace octavo
