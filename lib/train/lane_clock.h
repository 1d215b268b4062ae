// How long the lanes of an epoch take, and how long they would take at the same time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/stopwatch.h"
#include "plan/epoch_plan.h"

namespace octavo {

// Of a lane in a round.
struct LaneSeconds {
  std::uint32_t round = 0;
  std::uint32_t lane = 0;
  double seconds = 0;
};

// One owner.
class LaneClock {
 public:
  // The lane of `turn` is trained from now on.
  void Begin(const LaneTurn& turn) {
    if (turn_ && turn_->round == turn.round && turn_->lane == turn.lane) return;
    End();
    turn_ = turn;
    begin_ = std::chrono::steady_clock::now();
  }
  // No lane is trained from now on.
  void End() {
    if (!turn_) return;
    turns_.push_back({.round = turn_->round, .lane = turn_->lane, .seconds = SecondsSince(begin_)});
    turn_.reset();
  }

  // What this process has trained.
  std::span<const LaneSeconds> turns() const { return turns_; }
  // Adds what another one has.
  void Add(std::span<const LaneSeconds> turns) { turns_.insert(turns_.end(), turns.begin(), turns.end()); }

  // Rounds so far in which lanes were trained.
  std::uint64_t rounds() const { return SlowestOfRounds().size(); }
  // The sum over rounds of the lane that took longest.
  double SlowestSeconds() const {
    double sum = 0;
    for (const auto& [round, seconds] : SlowestOfRounds()) sum += seconds;
    return sum;
  }
  // The share of these seconds in which the mean one of `lanes` lanes would not wait.
  double Balance(std::uint64_t lanes) const {
    double all = 0;
    for (const LaneSeconds& turn : turns_) all += turn.seconds;
    const double slowest = SlowestSeconds() * static_cast<double>(lanes);
    return slowest > 0 ? all / slowest : 1;
  }

 private:
  std::map<std::uint32_t, double> SlowestOfRounds() const {
    std::map<std::uint32_t, double> slowest;
    for (const LaneSeconds& turn : turns_) slowest[turn.round] = std::max(slowest[turn.round], turn.seconds);
    return slowest;
  }

  std::optional<LaneTurn> turn_;
  std::chrono::steady_clock::time_point begin_{};
  std::vector<LaneSeconds> turns_;
};

}  // namespace octavo
