// Measures how well scores separate positives from negatives.
#pragma once

#include <span>

namespace octavo {

// Returns the area under the ROC curve: the probability that a positive scores higher than a negative, with ties
// counted half (the Mann-Whitney statistic). Exact.
// REQUIRES: both ascend, are not empty and hold no NaN
double RocAuc(std::span<const float> positives, std::span<const float> negatives);

// Returns the average precision: the sum, over the thresholds from the highest score down, of the gain in recall times
// the precision at that threshold. Equal scores are one threshold, as in scikit-learn's average_precision_score.
// REQUIRES: both ascend and hold no NaN; positives are not empty
double AveragePrecision(std::span<const float> positives, std::span<const float> negatives);

}  // namespace octavo
