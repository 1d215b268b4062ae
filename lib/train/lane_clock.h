// How long the lanes of an epoch take, and how long they would take at the same time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/stopwatch.h"
#include "plan/epoch_plan.h"

namespace octavo {

// One owner.
class LaneClock {
 public:
  // The lane of `turn` is trained from now on.
  void Begin(const LaneTurn& turn) {
    if (turn_ && turn_->round == turn.round && turn_->lane == turn.lane) return;
    const bool next_round = !turn_ || turn_->round != turn.round;
    End();
    if (next_round) EndRound();
    turn_ = turn;
    begin_ = std::chrono::steady_clock::now();
  }
  // No lane is trained from now on.
  void End() {
    if (!turn_) return;
    const double seconds = SecondsSince(begin_);
    all_ += seconds;
    slowest_of_round_ = std::max(slowest_of_round_, seconds);
    turn_.reset();
  }

  // Rounds so far in which this process has trained.
  std::uint64_t rounds() const { return rounds_; }
  // The sum over rounds of the lane that took longest.
  double SlowestSeconds() const { return slowest_ + slowest_of_round_; }
  // The share of these seconds in which the mean one of `lanes` lanes would not wait.
  double Balance(std::uint64_t lanes) const {
    const double slowest = SlowestSeconds() * static_cast<double>(lanes);
    return slowest > 0 ? all_ / slowest : 1;
  }

 private:
  void EndRound() {
    ++rounds_;
    slowest_ += std::exchange(slowest_of_round_, 0);
  }

  std::optional<LaneTurn> turn_;
  std::chrono::steady_clock::time_point begin_{};
  std::uint64_t rounds_ = 0;
  double all_ = 0;
  double slowest_ = 0;
  double slowest_of_round_ = 0;
};

}  // namespace octavo
