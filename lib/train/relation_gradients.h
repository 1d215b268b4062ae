// Gradients of the relations in an accumulation window: few rows, each with many contributions, summed in the order in
// which they are handed over and applied between batches, so relation parameters are never stale.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimize/optimizer.h"
#include "tables/relation_table.h"

namespace octavo {

// A gradient of one relation row: [columns] floats that stay where they are until the call that takes them returns.
struct RelationContribution {
  std::uint64_t row = 0;
  const float* gradient = nullptr;
};

// One caller; parallel inside. Memory is the touched rows.
class RelationGradients {
 public:
  RelationGradients(std::uint64_t rows, std::size_t columns);

  // Adds the contributions; those to one row in their order, whatever the number of threads.
  void Accumulate(std::span<const RelationContribution> contributions);

  // Updates the touched rows and starts the next window.
  void ApplyAndZero(const OptimizerSpec& optimizer, float learning_rate, std::uint64_t step, RelationTable& relations,
                    RelationTable& state);

 private:
  const std::size_t columns_;
  std::vector<std::uint32_t> slot_of_row_;  // kUntouched, or the row's place in touched_
  std::vector<std::uint64_t> touched_;
  std::vector<float> sums_;  // [touched, columns]
  // Kept between calls for their memory.
  std::vector<std::vector<const float*>> gradients_of_slot_;
};

}  // namespace octavo
