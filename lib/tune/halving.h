// Successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
// AISTATS 2016): all trials are trained for a few epochs, the best 1/eta of them for eta times as many, and so on.
// Pure arithmetic on results; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo {

struct Rung {
  std::uint64_t epochs = 0;  // done at its end, those of the rungs before with them
  std::uint64_t trials = 0;  // that begin it, where none fails

  friend bool operator==(const Rung&, const Rung&) = default;
};

// Returns the rungs: rung r ends at epochs_least * eta^r epochs with trials / eta^r trials, rounded down and at least
// one; the last one, floor(log_eta(epochs / epochs_least)), at `epochs`.
// REQUIRES: trials >= 1, 1 <= epochs_least <= epochs <= 2^32, 2 <= eta <= 2^31
std::vector<Rung> MakeRungs(std::uint64_t trials, std::uint64_t epochs_least, std::uint64_t epochs, std::uint64_t eta);

class Halving {
 public:
  // Trial `trial` is to be trained to the end of rung `rung`.
  struct Task {
    std::size_t rung = 0;
    std::uint64_t trial = 0;

    friend bool operator==(const Task&, const Task&) = default;
  };
  // Where a trial stands.
  struct Place {
    std::uint64_t trial = 0;
    std::optional<std::size_t> rung;  // the last one that it came to the end of
    double mrr = 0;                   // there
    bool failed = false;

    friend bool operator==(const Place&, const Place&) = default;
  };

  explicit Halving(std::vector<Rung> rungs);

  // Returns what is to be done next, rung by rung and in each by number of trial; nothing when all is done. Trials go
  // on from a rung when all that began it are through it.
  std::optional<Task> Next() const;
  // The result of Next().
  void AddResult(double mrr);
  // Next() has failed: it is worse than every trial that has not.
  void AddFailure();

  // Whether the trial has no part in what is still to come, nor is the best: known as soon as enough others are better.
  bool IsOut(std::uint64_t trial) const;
  // All trials, the best first: those that came further are before the others, then the higher MRR, then the lower
  // number; behind them those without a result, and last those that failed.
  std::vector<Place> Ranking() const;
  // Trials that are through the rung, failed in it or not.
  std::uint64_t Done(std::size_t rung) const { return done_[rung]; }

  const std::vector<Rung>& rungs() const { return rungs_; }

 private:
  std::uint64_t Kept(std::size_t rung) const { return rung + 1 < rungs_.size() ? rungs_[rung + 1].trials : 1; }
  void Advance();

  std::vector<Rung> rungs_;
  std::vector<std::uint64_t> done_;     // of each rung
  std::vector<Place> places_;           // of each trial
  std::vector<bool> out_;               // of each trial
  std::size_t rung_ = 0;                // under way
  std::vector<std::uint64_t> members_;  // that began it, ascending
  std::size_t next_ = 0;                // of the members
  std::vector<std::uint64_t> best_;     // of the members that are through it, at most Kept(rung_), the best first
};

}  // namespace octavo
