#include "train/batch_schedule.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"
#include "train/async_schedule.h"
#include "train/pipelined_schedule.h"
#include "train/sync_schedule.h"

namespace octavo {
namespace {

// Batches of one chunk in `pipelined`, of several in the others.
TrainOptions With(Schedule schedule) {
  TrainOptions options = TinyOptions();
  options.schedule = schedule;
  if (schedule == Schedule::kPipelined) MakeUpdatesLag(options);
  return options;
}

TEST(BatchSchedule, IsTheOneThatTheOptionsName) {
  ScheduleFixture sync(With(Schedule::kSync));
  EXPECT_NE(dynamic_cast<SyncSchedule*>(&sync.schedule()), nullptr);
  ScheduleFixture pipelined(With(Schedule::kPipelined));
  EXPECT_NE(dynamic_cast<PipelinedSchedule*>(&pipelined.schedule()), nullptr);
  ScheduleFixture async(With(Schedule::kAsync));
  EXPECT_NE(dynamic_cast<AsyncSchedule*>(&async.schedule()), nullptr);
}

TEST(UpdatesLag, WhereOneThreadComputesABatch) {
  TrainOptions options = With(Schedule::kPipelined);
  options.batch = options.chunk = 100;
  options.dim = 8;
  EXPECT_TRUE(UpdatesLag(options));
  options.chunk = 1000;  // larger than the batch
  EXPECT_TRUE(UpdatesLag(options));
  options.chunk = 99;
  EXPECT_FALSE(UpdatesLag(options));
  options.chunk = 100;
  options.dim = 400;
  ASSERT_GT(PiecesOf(options, 1), 1U);
  EXPECT_FALSE(UpdatesLag(options));
  options.dropout = 0.1;  // no pieces
  EXPECT_TRUE(UpdatesLag(options));
  for (const Schedule schedule : {Schedule::kSync, Schedule::kAsync}) {
    options.schedule = schedule;
    EXPECT_FALSE(UpdatesLag(options));
  }
}

// Where updates need not lag they do not.
TEST(UpdatesLag, OtherwisePipelinedIsSync) {
  TrainOptions options = With(Schedule::kPipelined);
  options.chunk = options.batch / 2;
  ScheduleFixture pipelined(options);
  EXPECT_NE(dynamic_cast<SyncSchedule*>(&pipelined.schedule()), nullptr);
}

// The first batch computes with the same rows and negatives in all of them.
TEST(BatchSchedule, AllHaveTheSameFirstLoss) {
  ScheduleFixture sync(With(Schedule::kSync));
  ASSERT_OK_AND_ASSIGN(const ChunkLoss expected, sync.Train(0, 0, 6));
  for (const Schedule schedule : {Schedule::kPipelined, Schedule::kAsync}) {
    ScheduleFixture fixture(With(schedule));
    ASSERT_OK_AND_ASSIGN(const ChunkLoss loss, fixture.Train(0, 0, 6));  // one chunk in each
    EXPECT_EQ(loss.loss, expected.loss) << ScheduleName(schedule);
  }
}

TEST(BatchSchedule, TimesStartAnewWhenTaken) {
  for (const Schedule schedule : {Schedule::kSync, Schedule::kPipelined, Schedule::kAsync}) {
    ScheduleFixture fixture(With(schedule));
    ASSERT_OK(fixture.Train(0, 0, 20));
    ASSERT_OK(fixture.schedule().Finish());
    const StepTimes times = fixture.schedule().TakeTimes();
    EXPECT_GT(times.compute_seconds, 0) << ScheduleName(schedule);
    EXPECT_GT(times.apply_seconds, 0) << ScheduleName(schedule);
    const StepTimes none = fixture.schedule().TakeTimes();
    EXPECT_EQ(none.compute_seconds, 0) << ScheduleName(schedule);
    EXPECT_EQ(none.apply_seconds, 0) << ScheduleName(schedule);
  }
}

TEST(BatchSchedule, NegativesAreOfTheResidentNodes) {
  for (const Schedule schedule : {Schedule::kSync, Schedule::kPipelined, Schedule::kAsync}) {
    TrainOptions options = With(schedule);
    options.model = ModelKind::kDot;
    ScheduleFixture fixture(options);
    // A row that is not a number makes every loss with it one too: nobody may draw it.
    const Edge& edge = fixture.edges()[0];
    const NodeId bad{Value(edge.head) != 29 && Value(edge.tail) != 29 ? 29U : 28U};
    fixture.SetRow(bad, std::numeric_limits<float>::quiet_NaN());
    fixture.schedule().SetResidentNodes({{0, 28}});
    for (std::uint64_t batch = 0; batch < 20; ++batch) {
      ASSERT_OK(fixture.schedule().Train({.place = {.epoch = 0, .batch = batch},
                                          .edges = std::span(&edge, 1),
                                          .learning_rate = 0.1F,
                                          .step = batch + 1}))
          << ScheduleName(schedule);
    }
  }
}

}  // namespace
}  // namespace octavo
