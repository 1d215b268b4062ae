// Sums over ranks, and the reported means.
#pragma once

#include <cstdint>

namespace octavo {

// Returns the mean of the best and the worst rank of an answer with `above` better and `equal` tied candidates.
constexpr double TiedRank(std::uint64_t above, std::uint64_t equal) {
  return 1.0 + static_cast<double>(above) + static_cast<double>(equal) / 2.0;
}

// Sums over queries. Values are added in a fixed order, so that the means have the same bits for any number of threads.
struct RankSums {
  std::uint64_t count = 0;
  std::uint64_t hits_1 = 0;  // ranks <= 1
  std::uint64_t hits_3 = 0;
  std::uint64_t hits_10 = 0;
  double reciprocal_ranks = 0;
  double ranks = 0;

  void Add(double rank) {
    ++count;
    hits_1 += rank <= 1.0 ? 1U : 0U;
    hits_3 += rank <= 3.0 ? 1U : 0U;
    hits_10 += rank <= 10.0 ? 1U : 0U;
    reciprocal_ranks += 1.0 / rank;
    ranks += rank;
  }

  friend RankSums operator+(const RankSums& a, const RankSums& b) {
    return {a.count + b.count,
            a.hits_1 + b.hits_1,
            a.hits_3 + b.hits_3,
            a.hits_10 + b.hits_10,
            a.reciprocal_ranks + b.reciprocal_ranks,
            a.ranks + b.ranks};
  }

  // The means; 0 if nothing was counted.
  double MeanReciprocalRank() const { return Mean(reciprocal_ranks); }
  double MeanRank() const { return Mean(ranks); }
  double HitsAt1() const { return Mean(static_cast<double>(hits_1)); }
  double HitsAt3() const { return Mean(static_cast<double>(hits_3)); }
  double HitsAt10() const { return Mean(static_cast<double>(hits_10)); }

 private:
  double Mean(double sum) const { return count == 0 ? 0.0 : sum / static_cast<double>(count); }
};

// Ranks of one side: against all candidates (raw), without the other known answers (filtered), and of those that
// remain against the ones of a plausible type (typed).
struct SideSums {
  RankSums filtered;
  RankSums raw;
  RankSums typed;  // none unless types are asked for

  friend SideSums operator+(const SideSums& a, const SideSums& b) {
    return {a.filtered + b.filtered, a.raw + b.raw, a.typed + b.typed};
  }
};

}  // namespace octavo
