// What a classifier got right, label by label, and F1 of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace octavo {

// Counts of one label over the test nodes.
struct LabelCounts {
  std::uint64_t right = 0;   // predicted, and theirs
  std::uint64_t wrong = 0;   // predicted, and not theirs
  std::uint64_t missed = 0;  // theirs, and not predicted

  // 2 precision recall / (precision + recall) = 2 right / (2 right + wrong + missed); 0 where the label was neither
  // there nor predicted (scikit-learn's zero_division=0).
  double F1() const {
    const std::uint64_t all = 2 * right + wrong + missed;
    return all == 0 ? 0.0 : static_cast<double>(2 * right) / static_cast<double>(all);
  }
};

// F1 of the counts of all labels together.
inline double MicroF1(std::span<const LabelCounts> labels) {
  LabelCounts sum;
  for (const LabelCounts& label : labels) {
    sum.right += label.right;
    sum.wrong += label.wrong;
    sum.missed += label.missed;
  }
  return sum.F1();
}

// The mean of F1 over all labels, those without a test node among them. REQUIRES: labels
inline double MacroF1(std::span<const LabelCounts> labels) {
  double sum = 0;
  for (const LabelCounts& label : labels) sum += label.F1();
  return sum / static_cast<double>(labels.size());
}

}  // namespace octavo
