// A batch whose gradients lie anywhere, listed and ordered, for tests of sums and updates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tables/mmap_gradient_accumulator.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/loaded_table.h"

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

// Takes out the accumulated sums of nodes below `rows`: they update a table of zeros.
inline std::map<std::uint64_t, std::vector<float>> TakeSums(MmapGradientAccumulator& accumulator, std::uint64_t rows,
                                                            std::size_t dim) {
  const TemporaryFolder folder;
  const auto table = MakeLoadedTable(folder.path(), "sums", rows, dim);
  const auto state = MakeLoadedTable(folder.path(), "counts", rows, 1);
  const auto copy = [](std::span<const float> sum, std::span<float> row, std::span<float> count) {
    std::ranges::copy(sum, row.begin());
    count[0] += 1;
  };
  ListAndOrder({}, accumulator.batch());  // which would be applied where nothing is accumulated
  EXPECT_OK(accumulator.Apply(copy, *table, *state, {}));
  std::map<std::uint64_t, std::vector<float>> sums;
  for (std::uint64_t node = 0; node < rows; ++node) {
    float count = 0;
    EXPECT_OK(state->ReadRowUnlocked(NodeId{node}, {&count, 1}));
    if (count == 0) continue;
    EXPECT_EQ(count, 1) << node;
    EXPECT_OK(table->ReadRowUnlocked(NodeId{node}, sums.try_emplace(node, dim).first->second));
  }
  return sums;
}

}  // namespace octavo
