#include "train/pipelined_schedule.h"

#include <vector>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

TrainOptions Pipelined() {
  TrainOptions options = TinyOptions();
  MakeUpdatesLag(options);
  return options;
}

TEST(PipelinedSchedule, UpdatesComeABatchLater) {
  ScheduleFixture fixture(Pipelined());
  const std::vector<float> before = fixture.Rows();
  ASSERT_OK(fixture.Train(0, 0, 20));
  EXPECT_EQ(fixture.Rows(), before);
  ASSERT_OK(fixture.Train(1, 20, 15));
  const std::vector<float> first = fixture.Rows();
  EXPECT_NE(first, before);
  ASSERT_OK(fixture.schedule().Finish());
  const std::vector<float> second = fixture.Rows();
  EXPECT_NE(second, first);
  ASSERT_OK(fixture.schedule().Finish());
  EXPECT_EQ(fixture.Rows(), second);
}

// Batches of the same edges and negatives, where no relations move: the second one computes with the same rows as the
// first, and a third one does not.
TEST(PipelinedSchedule, RowsAreOneBatchStale) {
  TrainOptions options = Pipelined();
  options.model = ModelKind::kDot;
  options.negatives = 0;
  ScheduleFixture fixture(options);
  std::vector<double> losses;
  for (std::uint64_t batch = 0; batch < 4; ++batch) {
    ASSERT_OK_AND_ASSIGN(const ChunkLoss loss, fixture.Train(batch, 0, 20));
    losses.push_back(loss.loss);
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_NE(losses[1], losses[2]);
  EXPECT_NE(losses[2], losses[3]);
}

TEST(PipelinedSchedule, RelationsAreNeverStale) {
  TrainOptions options = Pipelined();
  options.negatives = 0;
  ScheduleFixture fixture(options);
  ASSERT_OK_AND_ASSIGN(const ChunkLoss first, fixture.Train(0, 0, 20));
  ASSERT_OK_AND_ASSIGN(const ChunkLoss second, fixture.Train(1, 0, 20));
  EXPECT_NE(first.loss, second.loss);  // the same rows of nodes, other relations
}

TEST(PipelinedSchedule, FinishedBehindEachBatchItIsSync) {
  TrainOptions options = Pipelined();
  ScheduleFixture pipelined(options);
  options.schedule = Schedule::kSync;
  ScheduleFixture sync(options);
  for (std::uint64_t batch = 0; batch < 5; ++batch) {
    const std::size_t edges = batch == 2 ? 3 : 17;
    ASSERT_OK_AND_ASSIGN(const ChunkLoss ours, pipelined.Train(batch, 17 * batch, edges));
    ASSERT_OK(pipelined.schedule().Finish());
    ASSERT_OK_AND_ASSIGN(const ChunkLoss theirs, sync.Train(batch, 17 * batch, edges));
    EXPECT_EQ(ours.loss, theirs.loss);
    EXPECT_EQ(pipelined.Rows(), sync.Rows()) << batch;
  }
}

// Also of gradients as factors.
TEST(PipelinedSchedule, SameBitsForAnyThreads) {
  TrainOptions factors = Pipelined();
  factors.dim = 60;
  ASSERT_TRUE(KeepsFactors(factors));
  for (const TrainOptions& options : {Pipelined(), factors}) {
    std::vector<std::vector<float>> rows;
    for (const int threads : {1, 2, 4}) {
      ScheduleFixture fixture(options);
      WithThreads(threads, [&] {
        for (std::uint64_t batch = 0; batch < 20; ++batch) ASSERT_OK(fixture.Train(batch, batch % 10, 20));
        ASSERT_OK(fixture.schedule().Finish());
      });
      rows.push_back(fixture.Rows());
    }
    EXPECT_EQ(rows[0], rows[1]);
    EXPECT_EQ(rows[0], rows[2]);
  }
}

}  // namespace
}  // namespace octavo
