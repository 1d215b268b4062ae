#include "train/batch_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "tests/tables/listed_batch.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

TrainOptions With(Schedule schedule) {
  TrainOptions options = TinyOptions();
  options.schedule = schedule;
  return options;
}

// The first batch computes with the same rows and negatives in both.
TEST(BatchSchedule, BothHaveTheSameFirstLoss) {
  ScheduleFixture sync(With(Schedule::kSync));
  ASSERT_OK_AND_ASSIGN(const ChunkLoss expected, sync.Train(0, 0, 6));
  ScheduleFixture async(With(Schedule::kAsync));
  ASSERT_OK_AND_ASSIGN(const ChunkLoss loss, async.Train(0, 0, 6));  // one chunk in each
  EXPECT_EQ(loss.loss, expected.loss);
}

TEST(BatchSchedule, TimesStartAnewWhenTaken) {
  for (const Schedule schedule : {Schedule::kSync, Schedule::kAsync}) {
    ScheduleFixture fixture(With(schedule));
    ASSERT_OK(fixture.Train(0, 0, 20));
    const StepTimes times = fixture.schedule().TakeTimes();
    EXPECT_GT(times.compute_seconds, 0) << ScheduleName(schedule);
    EXPECT_GT(times.apply_seconds, 0) << ScheduleName(schedule);
    const StepTimes none = fixture.schedule().TakeTimes();
    EXPECT_EQ(none.compute_seconds, 0) << ScheduleName(schedule);
    EXPECT_EQ(none.apply_seconds, 0) << ScheduleName(schedule);
  }
}

TEST(BatchSchedule, NegativesAreOfTheResidentNodes) {
  for (const Schedule schedule : {Schedule::kSync, Schedule::kAsync}) {
    TrainOptions options = With(schedule);
    options.model = ModelKind::kDot;
    ScheduleFixture fixture(options);
    // A NaN row makes every loss with it NaN, so it must never be drawn.
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

// A finite loss can have a gradient that makes a row overflow; a commit after that would make it permanent.
TEST(BatchSchedule, FindsRowsThatAnUpdateBroke) {
  for (const auto& [schedule, storage] : {std::pair(Schedule::kSync, NpyElement::kFloat32),
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
    EXPECT_OK(fixture.schedule().CheckRows());
    ASSERT_OK(fixture.Train(1, 20, 20, std::numeric_limits<float>::infinity()));
    EXPECT_ERROR(fixture.schedule().CheckRows(), kRuntime, "epoch 1, batch 2");
    EXPECT_ERROR(fixture.schedule().CheckRows(), kRuntime, "the last commit stands");
  }
}

// The draws of a rounding depend on the seed of the training and the number of the update.
TEST(BatchSchedule, RoundsBySeedAndStep) {
  TrainOptions options = TinyOptions();
  options.storage = NpyElement::kBfloat16;
  for (const std::uint64_t chunk : {options.chunk, options.batch}) {
    options.chunk = chunk;
    const auto rows_after = [&](std::uint64_t step) {
      ScheduleFixture fixture(options);
      EXPECT_OK(fixture.schedule().Train({.place = {.epoch = 0, .batch = 0},
                                          .edges = fixture.edges().first(20),
                                          .learning_rate = 0.01F,
                                          .step = step}));
      return fixture.Rows();
    };
    const std::vector<float> rows = rows_after(1);
    EXPECT_EQ(rows_after(1), rows);
    EXPECT_NE(rows_after(2), rows);
  }
}

TEST(BatchSchedule, NamesTheFirstBatchThatBrokeARow) {
  TrainOptions options = TinyOptions();
  options.model = ModelKind::kDot;
  options.optimizer = OptimizerKind::kSgd;
  options.chunk = options.batch;
  options.negatives = 1;
  ScheduleFixture fixture(options);
  ASSERT_OK(fixture.Train(0, 0, 10));
  ASSERT_OK(fixture.Train(1, 10, 1, std::numeric_limits<float>::infinity()));
  // Batches that do not use the broken row.
  fixture.schedule().SetResidentNodes({{29, 30}});
  for (std::uint64_t batch = 2; batch < 5; ++batch) {
    const Edge edge{.head = NodeId{29}, .tail = NodeId{29}};
    fixture.SetRow(NodeId{29}, 0.1F);
    ASSERT_OK(fixture.schedule().Train({.place = {.epoch = 0, .batch = batch},
                                        .edges = std::span(&edge, 1),
                                        .learning_rate = 0.1F,
                                        .step = batch + 1}));
  }
  fixture.schedule().SetResidentNodes({{0, 30}});
  EXPECT_ERROR(fixture.schedule().CheckRows(), kRuntime, "epoch 1, batch 2");
}

// ---- sync

TEST(SyncSchedule, UpdatesRowsWithEachBatch) {
  ScheduleFixture fixture(TinyOptions());
  const std::vector<float> before = fixture.Rows();
  ASSERT_OK(fixture.Train(0, 0, 20));
  EXPECT_NE(fixture.Rows(), before);
}

TEST(SyncSchedule, LongWindowsKeepTheirSumsUntilTheyEnd) {
  TrainOptions options = TinyOptions();
  options.accumulate = 2;
  ScheduleFixture fixture(options);
  const std::vector<float> before = fixture.Rows();
  const BatchTask first{.place = {.epoch = 0, .batch = 0}, .edges = fixture.edges().first(20), .ends_window = false};
  ASSERT_OK(fixture.schedule().Train(first));
  EXPECT_EQ(fixture.Rows(), before);
  ASSERT_OK(fixture.Train(1, 20, 20));
  EXPECT_NE(fixture.Rows(), before);
  EXPECT_TRUE(TakeSums(fixture.gradients(), 30, options.dim).empty());
}

TEST(SyncSchedule, AFailedBatchAddsNothing) {
  TrainOptions options = TinyOptions();
  options.accumulate = 2;
  ScheduleFixture fixture(options);
  fixture.SetRow(fixture.edges()[0].head, std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(fixture.Train(0, 0, 20).ok());
  EXPECT_TRUE(TakeSums(fixture.gradients(), 30, options.dim).empty());
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
  options.batch = options.chunk = 80;
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

// A long batch, then a short one: the second's sums must not contain anything of the first.
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
  const auto sums = TakeSums(fresh.gradients(), 30, options.dim);
  EXPECT_FALSE(sums.empty());
  EXPECT_EQ(TakeSums(used.gradients(), 30, options.dim), sums);
}

// ---- async

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

// A chunk sees the updates of the previous chunk of the same batch.
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
