#include "evaluate/auc.h"

#include <cstddef>

namespace octavo {

double RocAuc(std::span<const float> positives, std::span<const float> negatives) {
  unsigned __int128 twice_wins = 0;  // 2 for each negative below, 1 for each tie: up to 2^65 with 2^32 of each
  std::size_t below = 0;
  std::size_t up_to = 0;  // negatives at or below the score
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
    // A threshold that adds only negatives gains no recall, so only the positives' scores are thresholds.
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
