#include "train/relation_gradients.h"
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random_rows.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

constexpr std::uint64_t kRows = 6;

// Two windows of SGD with rate 1 from zeros: the relations are then the negated sums of both.
class RelationGradientsTest : public ::testing::Test {
 protected:
  RelationTable Table(std::size_t columns) const {
    return RelationTable({folder_ / "a.npy", folder_ / "b.npy"}, {kRows, columns});
  }

  TemporaryFolder folder_;
};

struct Batch {
  std::vector<float> gradients;
  std::vector<RelationContribution> contributions;
};

Batch MakeBatch(std::size_t count, std::size_t columns, std::uint64_t seed) {
  Batch batch;
  batch.gradients = RandomRows(count * columns, seed);
  RandomStream random(seed, RandomPurpose::kSplit, 0, 0);
  for (std::size_t i = 0; i < count; ++i) {
    // Half of them to one row; none to the last.
    const std::uint64_t row = random.Below(2) == 0 ? 2 : random.Below(kRows - 1);
    batch.contributions.push_back({row, batch.gradients.data() + i * columns});
  }
  return batch;
}

TEST_F(RelationGradientsTest, AddsInTheOrderOfTheContributions) {
  for (const std::size_t columns : {1U, 3U, 64U, 65U, 200U}) {
    std::vector<float> expected(kRows * columns);
    const Batch first = MakeBatch(301, columns, 1);
    const Batch second = MakeBatch(77, columns, 2);
    for (const Batch* batch : {&first, &second}) {
      for (const RelationContribution& contribution : batch->contributions) {
        for (std::size_t c = 0; c < columns; ++c) expected[contribution.row * columns + c] += contribution.gradient[c];
      }
    }
    for (const int threads : {1, 2, 4}) {
      RelationTable relations = Table(columns);
      RelationTable state = Table(0);
      RelationGradients gradients(kRows, columns);
      WithThreads(threads, [&] {
        gradients.Accumulate(first.contributions);
        gradients.Accumulate(second.contributions);
        gradients.ApplyAndZero({.kind = OptimizerKind::kSgd}, 1, 1, relations, state);
      });
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(relations.values()[i], 0 - expected[i]) << i;
    }
  }
}

TEST_F(RelationGradientsTest, WindowsDoNotMix) {
  constexpr std::size_t kColumns = 5;
  RelationTable relations = Table(kColumns);
  RelationTable state = Table(0);
  RelationGradients gradients(kRows, kColumns);
  const std::vector<float> ones(kColumns, 1);
  const std::vector<RelationContribution> first = {{4, ones.data()}, {1, ones.data()}};
  const std::vector<RelationContribution> second = {{1, ones.data()}};
  gradients.Accumulate(first);
  gradients.ApplyAndZero({.kind = OptimizerKind::kSgd}, 1, 1, relations, state);
  gradients.Accumulate(second);
  gradients.ApplyAndZero({.kind = OptimizerKind::kSgd}, 1, 2, relations, state);
  gradients.ApplyAndZero({.kind = OptimizerKind::kSgd}, 1, 3, relations, state);  // nothing was added
  const float expected[kRows] = {0, -2, 0, 0, -1, 0};
  for (std::uint64_t row = 0; row < kRows; ++row) {
    for (const float value : relations.Row(row)) EXPECT_EQ(value, expected[row]);
  }
}

TEST_F(RelationGradientsTest, UntouchedRowsKeepTheirState) {
  constexpr std::size_t kColumns = 4;
  RelationTable relations = Table(kColumns);
  RelationTable state = Table(2 * kColumns);
  for (float& value : relations.Row(3)) value = 7;
  for (float& value : state.Row(3)) value = 9;
  RelationGradients gradients(kRows, kColumns);
  const std::vector<float> ones(kColumns, 1);
  const std::vector<RelationContribution> contributions = {{0, ones.data()}};
  gradients.Accumulate(contributions);
  gradients.ApplyAndZero({.kind = OptimizerKind::kAdam}, 0.5F, 1, relations, state);
  for (const float value : relations.Row(0)) EXPECT_NEAR(value, -0.5F, 1e-6F);  // Adam's first step is the rate
  for (const float value : relations.Row(3)) EXPECT_EQ(value, 7);
  for (const float value : state.Row(3)) EXPECT_EQ(value, 9);
}

TEST_F(RelationGradientsTest, NothingToDoWithoutParameters) {
  RelationTable relations = Table(0);
  RelationTable state = Table(0);
  RelationGradients gradients(kRows, 0);
  const std::vector<RelationContribution> contributions = {{0, nullptr}, {5, nullptr}};
  gradients.Accumulate(contributions);
  gradients.ApplyAndZero({}, 1, 1, relations, state);
  EXPECT_TRUE(relations.values().empty());
}

}  // namespace
}  // namespace octavo
