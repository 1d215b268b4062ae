#include "train/sync_schedule.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

TEST(SyncSchedule, UpdatesRowsWithEachBatch) {
  ScheduleFixture fixture(TinyOptions());
  const std::vector<float> before = fixture.Rows();
  ASSERT_OK(fixture.Train(0, 0, 20));
  const std::vector<float> after = fixture.Rows();
  EXPECT_NE(after, before);
  ASSERT_OK(fixture.schedule().Finish());
  EXPECT_EQ(fixture.Rows(), after);
}

TEST(SyncSchedule, LongWindowsKeepTheirSumsUntilTheyEnd) {
  TrainOptions options = TinyOptions();
  options.accumulate = 2;
  ScheduleFixture fixture(options);
  const std::vector<float> before = fixture.Rows();
  const BatchTask first{.place = {.epoch = 0, .batch = 0}, .edges = fixture.edges().first(20), .ends_window = false};
  ASSERT_OK(fixture.schedule().Train(first));
  EXPECT_FALSE(fixture.gradients().touched().empty());
  EXPECT_EQ(fixture.Rows(), before);
  ASSERT_OK(fixture.Train(1, 20, 20));
  EXPECT_NE(fixture.Rows(), before);
  EXPECT_TRUE(fixture.gradients().touched().empty());
}

TEST(SyncSchedule, AFailedBatchAddsNothing) {
  TrainOptions options = TinyOptions();
  options.accumulate = 2;
  ScheduleFixture fixture(options);
  fixture.SetRow(fixture.edges()[0].head, std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(fixture.Train(0, 0, 20).ok());
  EXPECT_TRUE(fixture.gradients().touched().empty());
}

TEST(SyncSchedule, PlaceDecidesTheNegatives) {
  ScheduleFixture fixture(TinyOptions());
  const auto loss_at = [&](std::uint64_t epoch, std::uint64_t batch) {
    const auto loss = fixture.schedule().Train({.place = {.epoch = epoch, .batch = batch},
                                                .edges = fixture.edges().first(20),
                                                .learning_rate = 0,  // changes no row
                                                .step = 1});
    EXPECT_OK(loss);
    return loss->loss;
  };
  EXPECT_EQ(loss_at(0, 0), loss_at(0, 0));
  EXPECT_NE(loss_at(0, 0), loss_at(0, 1));
  EXPECT_NE(loss_at(0, 0), loss_at(1, 0));
}

// Gradients as factors, and chunks in pieces.
TEST(SyncSchedule, SameBitsForAnyThreads) {
  TrainOptions options = TinyOptions();
  options.dim = 160;
  options.chunk = 80;
  ASSERT_TRUE(KeepsFactors(options));
  ASSERT_EQ(PiecesOf(options, 1), 2U);
  std::vector<std::vector<float>> rows;
  for (const int threads : {1, 2, 4}) {
    ScheduleFixture fixture(options);
    WithThreads(threads, [&] {
      for (std::uint64_t batch = 0; batch < 20; ++batch) ASSERT_OK(fixture.Train(batch, batch % 10, 80));
    });
    rows.push_back(fixture.Rows());
  }
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_EQ(rows[0], rows[2]);
}

// A long batch, then a short one: nothing of the first may be left in the second's sums.
TEST(SyncSchedule, ShorterBatchAfterALongerOne) {
  TrainOptions options = TinyOptions();
  options.batch = 90;
  options.accumulate = 2;  // whose sums can be looked at
  ScheduleFixture used(options);
  ScheduleFixture fresh(options);
  ASSERT_OK(used.Train(0, 0, 85, /*rate=*/0));  // changes no row, but the optimizer's state
  const auto train_short = [](ScheduleFixture& fixture) {
    return fixture.schedule().Train(
        {.place = {.epoch = 3, .batch = 1}, .edges = fixture.edges().first(7), .ends_window = false});
  };
  ASSERT_OK_AND_ASSIGN(const ChunkLoss a, train_short(used));
  ASSERT_OK_AND_ASSIGN(const ChunkLoss b, train_short(fresh));
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_FALSE(fresh.gradients().touched().empty());
  EXPECT_TRUE(std::equal(used.gradients().touched().begin(), used.gradients().touched().end(),
                         fresh.gradients().touched().begin(), fresh.gradients().touched().end()));
  for (const NodeId node : fresh.gradients().touched()) {
    const auto left = *used.gradients().Gradient(node);
    const auto right = *fresh.gradients().Gradient(node);
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
  }
}

}  // namespace
}  // namespace octavo
