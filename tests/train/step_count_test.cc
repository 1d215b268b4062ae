#include "train/step_count.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

// As the training counts: one batch after another, and an update where a window ends.
std::vector<std::uint64_t> CountNaively(const std::vector<std::uint64_t>& first_batches, std::uint64_t accumulate) {
  std::vector<std::uint64_t> before = {0};
  for (std::uint64_t batch = 0; batch < first_batches.back(); ++batch) {
    const bool ends_state = std::ranges::find(first_batches, batch + 1) != first_batches.end();
    before.push_back(before.back() + (ends_state || (batch + 1) % accumulate == 0 ? 1 : 0));
  }
  return before;
}

TEST(StepCount, CountsAsTheTrainingDoes) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t accumulate = 1 + static_cast<std::uint64_t>(trial) % 5;
    std::vector<std::uint64_t> first_batches = {0};
    const std::uint32_t states = 1 + random() % 8;
    for (std::uint32_t s = 0; s < states; ++s)
      first_batches.push_back(first_batches.back() + random() % 7);  // or empty
    const std::vector<std::uint64_t> expected = CountNaively(first_batches, accumulate);
    const StepCount count(first_batches, accumulate);
    for (std::uint64_t batch = 0; batch < expected.size(); ++batch) {
      EXPECT_EQ(count.Before(batch), expected[batch])
          << "batch " << batch << " of " << ::testing::PrintToString(first_batches) << ", accumulate " << accumulate;
    }
  }
}

TEST(StepCount, WithoutBatchesThereAreNoUpdates) {
  EXPECT_EQ(StepCount({0, 0}, 3).Before(0), 0U);
  EXPECT_EQ(StepCount({0, 0, 0}, 1).Before(0), 0U);
}

}  // namespace
}  // namespace octavo
