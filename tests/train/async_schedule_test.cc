#include "train/async_schedule.h"

#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

TrainOptions Async(std::uint64_t chunk) {
  TrainOptions options = TinyOptions();
  options.schedule = Schedule::kAsync;
  options.chunk = chunk;
  return options;
}

TEST(AsyncSchedule, OneChunkABatchIsSync) {
  TrainOptions options = Async(28);
  ScheduleFixture async(options);
  options.schedule = Schedule::kSync;
  ScheduleFixture sync(options);
  for (std::uint64_t batch = 0; batch < 4; ++batch) {
    ASSERT_OK_AND_ASSIGN(const ChunkLoss ours, async.Train(batch, 20 * batch, 20));
    ASSERT_OK_AND_ASSIGN(const ChunkLoss theirs, sync.Train(batch, 20 * batch, 20));
    EXPECT_EQ(ours.loss, theirs.loss);
    EXPECT_EQ(async.Rows(), sync.Rows());
  }
}

// A chunk sees what the one before it did, in the same batch.
TEST(AsyncSchedule, ChunksUpdateAtOnce) {
  TrainOptions options = Async(10);
  options.model = ModelKind::kDot;
  options.negatives = 0;
  ScheduleFixture async(options);
  options.schedule = Schedule::kSync;
  ScheduleFixture sync(options);
  std::vector<Edge> twice(sync.edges().begin(), sync.edges().begin() + 10);
  twice.insert(twice.end(), twice.begin(), twice.end());
  const BatchTask task{.place = {.epoch = 0, .batch = 0}, .edges = twice, .learning_rate = 0.1F, .step = 1};
  ASSERT_OK_AND_ASSIGN(const ChunkLoss ours, WithThreads(1, [&] { return async.schedule().Train(task); }));
  ASSERT_OK_AND_ASSIGN(const ChunkLoss theirs, sync.schedule().Train(task));
  EXPECT_LT(ours.loss, theirs.loss);
}

TEST(AsyncSchedule, ManyThreadsLearn) {
  TrainOptions options = Async(2);
  options.optimizer = OptimizerKind::kSgd;
  options.model = ModelKind::kDot;
  ScheduleFixture fixture(options);
  double first = 0;
  double last = 0;
  WithThreads(4, [&] {
    for (std::uint64_t round = 0; round < 30; ++round) {
      double loss = 0;
      for (std::uint64_t batch = 0; batch < 4; ++batch) {
        ASSERT_OK_AND_ASSIGN(const ChunkLoss one, fixture.Train(4 * round + batch, 20 * batch, 20));
        loss += one.loss;
      }
      (round == 0 ? first : last) = loss;
    }
  });
  EXPECT_LT(last, 0.8 * first);
  for (const float value : fixture.Rows()) ASSERT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace octavo
