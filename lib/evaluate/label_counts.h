// Counts of a classifier's correct and wrong predictions for each label, and their F1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo {

// Counts for one label over the test nodes.
struct LabelCounts {
  std::uint64_t right = 0;   // predicted and correct
  std::uint64_t wrong = 0;   // predicted but not correct
  std::uint64_t missed = 0;  // correct but not predicted

  // 2 precision recall / (precision + recall) = 2 right / (2 right + wrong + missed). 0 if the label neither occurred
  // nor was predicted (scikit-learn's zero_division=0).
  double F1() const {
    const std::uint64_t all = 2 * right + wrong + missed;
    return all == 0 ? 0.0 : static_cast<double>(2 * right) / static_cast<double>(all);
  }
};

// F1 of the summed counts of all labels.
inline double MicroF1(std::span<const LabelCounts> labels) {
  LabelCounts sum;
  for (const LabelCounts& label : labels) {
    sum.right += label.right;
    sum.wrong += label.wrong;
    sum.missed += label.missed;
  }
  return sum.F1();
}

// The mean F1 of all labels, including those without test nodes. REQUIRES: labels
inline double MacroF1(std::span<const LabelCounts> labels) {
  double sum = 0;
  for (const LabelCounts& label : labels) sum += label.F1();
  return sum / static_cast<double>(labels.size());
}

}  // namespace octavo
