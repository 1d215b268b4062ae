#include "train/row_updates.h"

#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

// A finite loss can have a gradient that makes a row overflow; a commit after that would keep it for good.
TEST(RowUpdates, FindsRowsThatAnUpdateBroke) {
  for (const auto& [schedule, storage] : {std::pair(Schedule::kSync, NpyElement::kFloat32),
                                          {Schedule::kPipelined, NpyElement::kFloat32},
                                          {Schedule::kAsync, NpyElement::kFloat32},
                                          {Schedule::kSync, NpyElement::kBfloat16}}) {
    TrainOptions options = TinyOptions();
    options.storage = storage;
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

// The draws of a rounding go by the seed of the training and the number of the update.
TEST(RowUpdates, RoundsBySeedAndStep) {
  TrainOptions options = TinyOptions();
  options.storage = NpyElement::kBfloat16;
  for (const Schedule schedule : {Schedule::kSync, Schedule::kPipelined}) {
    options.schedule = schedule;
    options.chunk = options.batch;
    const auto rows_after = [&](std::uint64_t step) {
      ScheduleFixture fixture(options);
      EXPECT_OK(fixture.schedule().Train({.place = {.epoch = 0, .batch = 0},
                                          .edges = fixture.edges().first(20),
                                          .learning_rate = 0.01F,
                                          .step = step}));
      EXPECT_OK(fixture.schedule().Finish());
      return fixture.Rows();
    };
    const std::vector<float> rows = rows_after(1);
    EXPECT_EQ(rows_after(1), rows);
    EXPECT_NE(rows_after(2), rows);
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
