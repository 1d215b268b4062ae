#include "evaluate/separation.h"

#include <cstddef>

namespace octavo {

double RocAuc(std::span<const float> positives, std::span<const float> negatives) {
  unsigned __int128 twice_wins = 0;  // two for a negative below, one for a tie: up to 2^65 for 2^32 of each
  std::size_t below = 0;
  std::size_t up_to = 0;  // negatives that are not above
  for (const float score : positives) {
    while (below < negatives.size() && negatives[below] < score) ++below;
    while (up_to < negatives.size() && negatives[up_to] <= score) ++up_to;
    twice_wins += below + up_to;
  }
  return static_cast<double>(twice_wins) / 2 / static_cast<double>(positives.size()) /
         static_cast<double>(negatives.size());
}

double AveragePrecision(std::span<const float> positives, std::span<const float> negatives) {
  double sum = 0;
  std::size_t true_positives = 0;
  std::size_t false_positives = 0;
  while (true_positives < positives.size()) {
    // Where only negatives are at or above a threshold nothing is gained, so thresholds are the positives' scores.
    const float threshold = positives[positives.size() - 1 - true_positives];
    const std::size_t before = true_positives;
    while (true_positives < positives.size() && positives[positives.size() - 1 - true_positives] >= threshold) {
      ++true_positives;
    }
    while (false_positives < negatives.size() && negatives[negatives.size() - 1 - false_positives] >= threshold) {
      ++false_positives;
    }
    sum += static_cast<double>(true_positives - before) * static_cast<double>(true_positives) /
           static_cast<double>(true_positives + false_positives);
  }
  return sum / static_cast<double>(positives.size());
}

}  // namespace octavo
