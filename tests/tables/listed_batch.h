// A batch whose gradients lie anywhere, listed and ordered, for tests of sums and updates.
#pragma once

#include <span>

#include "tables/gradients_by_node.h"
#include "tables/mmap_gradient_accumulator.h"

namespace octavo {

inline void ListAndOrder(std::span<const RowGradient> gradients, GradientsByNode& by_node) {
  by_node.Clear();
  for (const RowGradient& gradient : gradients) by_node.Add(gradient);
  by_node.Order();
}

// Adds them to the accumulated sums.
inline absl::Status AddBatch(MmapGradientAccumulator& accumulator, std::span<const RowGradient> gradients) {
  ListAndOrder(gradients, accumulator.batch());
  return accumulator.Accumulate();
}

}  // namespace octavo
