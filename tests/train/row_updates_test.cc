#include "train/row_updates.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

// A finite loss can have a gradient that makes a row overflow; a commit after that would keep it for good.
TEST(RowUpdates, FindsRowsThatAnUpdateBroke) {
  for (const Schedule schedule : {Schedule::kSync, Schedule::kPipelined, Schedule::kAsync}) {
    TrainOptions options = TinyOptions();
    options.model = ModelKind::kDot;  // without relations, which would be found broken first
    options.optimizer = OptimizerKind::kSgd;
    options.schedule = schedule;
    options.chunk = options.batch;  // in async the next chunk would find the broken row
    ScheduleFixture fixture(options);
    ASSERT_OK(fixture.Train(0, 0, 20));
    ASSERT_OK(fixture.schedule().Finish());
    EXPECT_OK(fixture.schedule().CheckRows());
    ASSERT_OK(fixture.Train(1, 20, 20, std::numeric_limits<float>::infinity()));
    // In pipelined the rows are still whole, and a batch of others comes before they break.
    if (schedule == Schedule::kPipelined) {
      ASSERT_OK(fixture.Train(2, 40, 20));
    }
    ASSERT_OK(fixture.schedule().Finish());
    EXPECT_ERROR(fixture.schedule().CheckRows(), kRuntime, "epoch 1, batch 2");
    EXPECT_ERROR(fixture.schedule().CheckRows(), kRuntime, "the last commit stands");
  }
}

TEST(RowUpdates, NamesTheFirstBatchThatBrokeARow) {
  TrainOptions options = TinyOptions();
  RowUpdates updates(options);
  std::vector<float> row(4, 1.0F);
  std::vector<float> state(1, 0.0F);
  const std::vector<float> good(4, 0.5F);
  const std::vector<float> bad(4, std::numeric_limits<float>::infinity());
  updates.Begin(0.1F, 1)(good, row, state);
  updates.End({.epoch = 0, .batch = 0});
  updates.Begin(0.1F, 2)(bad, row, state);
  updates.End({.epoch = 0, .batch = 1});
  updates.Begin(0.1F, 3)(good, row, state);
  updates.End({.epoch = 0, .batch = 2});
  ScheduleFixture fixture(options);
  fixture.SetRow(NodeId{3}, std::numeric_limits<float>::quiet_NaN());
  const std::vector<NodeRange> all = {{0, fixture.graph().node_count()}};
  EXPECT_ERROR(updates.Check(fixture.graph(), fixture.tables().embeddings(), fixture.tables().relations(), all,
                             {.epoch = 0, .batch = 2}),
               kRuntime, "epoch 1, batch 2");
}

}  // namespace
}  // namespace octavo
