// Gradients of the relations in an accumulation window: few rows, each with many contributions. They are summed in the
// order in which they are passed and applied after all chunks of a batch, so relation parameters are never stale.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimize/optimizer.h"
#include "tables/relation_table.h"

namespace octavo {

// A gradient of one relation row: [columns] floats, which must be valid until the call returns.
struct RelationContribution {
  std::uint64_t row = 0;
  const float* gradient = nullptr;
};

// One caller; parallel inside. Takes memory for the touched rows only.
class RelationGradients {
 public:
  RelationGradients(std::uint64_t rows, std::size_t columns);

  // Adds the contributions; those to one row in the given order, whatever the number of threads.
  void Accumulate(std::span<const RelationContribution> contributions);

  // Updates the touched rows and starts the next window.
  void ApplyAndZero(const OptimizerSpec& optimizer, float learning_rate, std::uint64_t step, RelationTable& relations,
                    RelationTable& state);

 private:
  const std::size_t columns_;
  std::vector<std::uint32_t> slot_of_row_;  // kUntouched, or the row's place in touched_
  std::vector<std::uint64_t> touched_;
  std::vector<float> sums_;  // [touched, columns]
  // Kept between calls to reuse the memory.
  std::vector<std::vector<const float*>> gradients_of_slot_;
};

}  // namespace octavo
