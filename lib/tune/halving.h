// Successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
// AISTATS 2016): trains all trials for a few epochs, the best 1/eta of them for eta times as many, and so on. Pure
// arithmetic on results; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo {

struct Rung {
  std::uint64_t epochs = 0;  // at its end, including earlier rungs
  std::uint64_t trials = 0;  // that begin it if none fails

  friend bool operator==(const Rung&, const Rung&) = default;
};

// Returns the rungs. Rung r ends at epochs_least * eta^r epochs and has trials / eta^r trials, rounded down, at least
// one. The last one, floor(log_eta(epochs / epochs_least)), ends at `epochs`.
// REQUIRES: trials >= 1, 1 <= epochs_least <= epochs <= 2^32, 2 <= eta <= 2^31
std::vector<Rung> MakeRungs(std::uint64_t trials, std::uint64_t epochs_least, std::uint64_t epochs, std::uint64_t eta);

// The rungs of a search in which trial 0 is the reference: at most three, each of which ends after eta times the epochs
// of the one before, the last one at `epochs`. The last one has two trials or more if there are two.
// REQUIRES: trials >= 1, epochs >= 1, eta >= 2
std::vector<Rung> MakeReferenceRungs(std::uint64_t trials, std::uint64_t epochs, std::uint64_t eta);

// Epochs that all rungs train in all if no trial fails.
std::uint64_t EpochsOf(const std::vector<Rung>& rungs);

class Halving {
 public:
  // Train trial `trial` to the end of rung `rung`.
  struct Task {
    std::size_t rung = 0;
    std::uint64_t trial = 0;

    friend bool operator==(const Task&, const Task&) = default;
  };
  // A trial's position in the ranking.
  struct Place {
    std::uint64_t trial = 0;
    std::optional<std::size_t> rung;  // the last rung that it completed
    double mrr = 0;                   // at the end of that rung
    bool failed = false;

    friend bool operator==(const Place&, const Place&) = default;
  };

  // With kReference, trial 0 takes part in every rung unless it fails, is trained first, and the others by their place
  // in the rung before, the best first.
  enum class Kind { kPlain, kReference };

  explicit Halving(std::vector<Rung> rungs, Kind kind = Kind::kPlain);

  // Returns the next task; nothing when all is done. Tasks are ordered by rung, then by number of trial. The next rung
  // begins when every trial of a rung has finished, failed or left.
  std::optional<Task> Next() const;
  // The result of Next().
  void AddResult(double mrr);
  // Next() has failed. It ranks below every trial that has not failed.
  void AddFailure();
  // Next() is not trained: the trial leaves the search with the results that it has. If trials leave, fewer of the
  // others continue: the same share of those with a result. REQUIRES: the trial is not a reference
  void AddSkip();

  // Whether the trial is neither the best nor needed for any further task. Known as soon as enough others are better.
  bool IsOut(std::uint64_t trial) const;
  // All trials, best first: by the rung reached, then higher MRR, then those that continue, then lower number. Trials
  // without a result follow, then failed ones.
  std::vector<Place> Ranking() const;
  // The first of the ranking; nothing if it has no result.
  std::optional<std::uint64_t> Best() const;
  // Epochs of EpochsOf(rungs()) that need no training any more: those of trials that have failed count as trained.
  std::uint64_t EpochsDone() const;
  // The number of trials that completed the rung, failed in it, or left before it.
  std::uint64_t Done(std::size_t rung) const { return done_[rung]; }

  const std::vector<Rung>& rungs() const { return rungs_; }

 private:
  std::uint64_t Kept(std::size_t rung) const { return rung + 1 < rungs_.size() ? rungs_[rung + 1].trials : 1; }
  bool IsReference(std::uint64_t trial) const {
    return kind_ == Kind::kReference && trial == 0 && rung_ + 1 < rungs_.size();
  }
  void DropWorst();
  void Advance();
  void BeginRung();

  std::vector<Rung> rungs_;
  Kind kind_;
  std::uint64_t skipped_ = 0;           // in the current rung
  std::vector<std::uint64_t> done_;     // by rung
  std::vector<Place> places_;           // by trial
  std::vector<bool> out_;               // by trial
  std::size_t rung_ = 0;                // the current rung
  std::vector<std::uint64_t> members_;  // trials of the current rung, in the order of their tasks
  std::size_t next_ = 0;                // index into the members
  std::vector<std::uint64_t> best_;     // completed members, best first, at most Kept(rung_)
};

}  // namespace octavo
