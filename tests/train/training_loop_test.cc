// Trainings whose tables are in partitions: the same bytes for any threads, prefetching, stops and resumes.
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "plan/bucket_order.h"
#include "tests/train/tiny_training.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

// Seven fine partitions, the last one short.
const TinyTraining& LoopTraining() {
  static const TinyTraining training({.nodes = 6500, .relations = 3, .edges = 9000});
  return training;
}

TrainOptions LoopOptions(std::uint64_t partitions, std::uint64_t resident) {
  TrainOptions options = TinyOptions();
  options.batch = 300;
  options.chunk = 100;
  options.epochs = 3;
  options.accumulate = 2;
  options.optimizer = OptimizerKind::kAdam;
  options.learning_rate_schedule = LearningRateSchedule::kCosine;
  options.partitions = partitions;
  options.resident = resident;
  return options;
}

// Each run folder of a test has its own name.
std::vector<EpochEvent> TrainForEvents(const TrainOptions& options, const TrainSettings& settings) {
  std::vector<EpochEvent> events;
  TrainCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochEvent& event) { events.push_back(event); };
  EXPECT_OK(LoopTraining().Start(options, NextRunName(), settings, callbacks));
  return events;
}

TEST(PartitionedTraining, GivesTheSameBytesForAnyThreadsAndPrefetching) {
  TrainOptions options = LoopOptions(7, 3);
  const RunBytes expected = LoopTraining().Train(options, NextRunName());
  for (const int threads : {1, 2, 4}) {
    for (const PrefetchMode prefetch : {PrefetchMode::kOff, PrefetchMode::kOn}) {
      options.prefetch = prefetch;
      const std::string run = NextRunName();
      WithThreads(threads, [&] { EXPECT_OK(LoopTraining().Start(options, run)); });
      EXPECT_EQ(ReadRunBytes(LoopTraining().run_folder(run)), expected) << threads;
    }
  }
}

TEST(PartitionedTraining, AllResidentIsTheTrainingWithoutPartitions) {
  const RunBytes whole = LoopTraining().Train(LoopOptions(1, 1), NextRunName());
  EXPECT_EQ(LoopTraining().Train(LoopOptions(0, 0), NextRunName()), whole);
  EXPECT_EQ(LoopTraining().Train(LoopOptions(7, 7), NextRunName()), whole);
  EXPECT_EQ(LoopTraining().Train(LoopOptions(3, 3), NextRunName()), whole);
  EXPECT_NE(LoopTraining().Train(LoopOptions(7, 6), NextRunName()), whole);
}

TEST(PartitionedTraining, AStopAnywhereAndAResumeGiveTheSameBytes) {
  for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kRandom}) {
    TrainOptions options = LoopOptions(5, 2);
    options.order = order;
    const RunBytes expected = LoopTraining().Train(options, NextRunName());
    for (int every = 1; every < 60; every += 13) {
      const std::string run = NextRunName();
      std::atomic<int> stop = 0;
      int windows = 0;
      TrainCallbacks callbacks;
      callbacks.on_batch = [&](const TrainProgress&) { stop = ++windows % every == 0 ? 1 : 0; };
      const TrainSettings settings = {.memory = kPlenty, .stop = &stop};
      auto outcome = LoopTraining().Start(options, run, settings, callbacks);
      int resumes = 0;
      for (; outcome.ok() && !outcome->finished && resumes < 500; ++resumes) {
        stop = 0;
        outcome = LoopTraining().Resume(0, run, settings, callbacks);
      }
      ASSERT_OK(outcome);
      ASSERT_TRUE(outcome->finished);
      EXPECT_GE(resumes, 1);
      EXPECT_EQ(ReadRunBytes(LoopTraining().run_folder(run)), expected) << every;
    }
  }
}

TEST(PartitionedTraining, CommitsWithinAnEpochChangeNothing) {
  TrainOptions options = LoopOptions(6, 3);
  const RunBytes expected = LoopTraining().Train(options, NextRunName());
  options.checkpoint_minutes = 1e-9;  // after every window
  EXPECT_EQ(LoopTraining().Train(options, NextRunName()), expected);
}

// If each state was one batch or window, there was no commit before the end of the epoch.
TEST(PartitionedTraining, CommitsBetweenStatesOfOneBatch) {
  TrainOptions options = LoopOptions(6, 3);
  options.batch = 20'000;
  const RunBytes expected = LoopTraining().Train(options, NextRunName());
  options.checkpoint_minutes = 1e-9;
  const std::string run = NextRunName();
  ASSERT_OK_AND_ASSIGN(const TrainOutcome outcome, LoopTraining().Start(options, run));
  EXPECT_GT(outcome.generation, 3 * BetaExchanges(6, 3) / 2) << "epochs of as many states and one";
  EXPECT_EQ(ReadRunBytes(LoopTraining().run_folder(run)), expected);
}

// A stop after a failed eviction once reported "an earlier write failed", but not which write or why.
TEST(PartitionedTraining, AFailedEvictionIsNamedWhereverItIsFound) {
  TrainOptions options = LoopOptions(6, 3);
  options.batch = 20'000;  // each is a state
  options.prefetch = PrefetchMode::kOn;
  std::atomic<int> stop = 0;
  TrainCallbacks callbacks;
  callbacks.on_batch = [&](const TrainProgress& progress) {
    if (progress.batch == 1) {
      EXPECT_OK(SetFailpoints("file.write=eio"));
    }
    stop = progress.batch == 2 ? 1 : 0;
  };
  const auto outcome = LoopTraining().Start(options, NextRunName(), {.memory = kPlenty, .stop = &stop}, callbacks);
  ASSERT_OK(SetFailpoints(""));
  EXPECT_ERROR(outcome, kRuntime, "failpoint file.write");
}

TEST(PartitionedTraining, EventsHaveThePlanBesideTheWork) {
  for (const auto& [partitions, resident] : {std::pair{7U, 2U}, {7U, 4U}, {3U, 2U}}) {
    const auto events = TrainForEvents(LoopOptions(partitions, resident), {.memory = kPlenty});
    ASSERT_EQ(events.size(), 3U);
    const std::uint64_t exchanges = BetaExchanges(partitions, resident);
    for (const EpochEvent& event : events) {
      EXPECT_EQ(event.edges, events[0].edges);
      EXPECT_EQ(event.partitions, partitions);
      EXPECT_EQ(event.resident, resident);
      // The first epoch fills the memory; the others begin with what the previous one left.
      EXPECT_EQ(event.partition_loads, exchanges + (event.epoch == 1 ? resident : 0));
      EXPECT_EQ(event.planned_partition_loads, event.partition_loads);
      EXPECT_EQ(event.planned_read_bytes, event.read_bytes);
      EXPECT_GT(event.written_bytes, 0U);
      EXPECT_LE(event.written_bytes, event.planned_written_bytes);
      EXPECT_GT(event.exchange_seconds, 0);
    }
  }
}

TEST(PartitionedTraining, ABudgetChoosesThePartitions) {
  const auto graph = Graph::Open(LoopTraining().graph_folder());
  ASSERT_OK(graph);
  TrainOptions options = LoopOptions(0, 0);
  options.dim = 512;
  options.chunk = 8;
  options.batch = 8;
  options.epochs = 1;
  const std::uint64_t whole = EstimateTrainingMemory(options, (*graph)->description(), 64, {1, 1}).total();
  std::uint64_t before = 7;
  for (const std::uint64_t less : {0U, 8U, 16U, 24U}) {
    const auto events = TrainForEvents(options, {.threads = 1, .memory = whole - (std::uint64_t{less} << 20)});
    ASSERT_EQ(events.size(), 1U) << less;
    EXPECT_EQ(events[0].partitions > 1, less > 0);
    if (less == 0) continue;
    EXPECT_LT(events[0].resident, before);
    before = events[0].resident;
  }
  EXPECT_ERROR(LoopTraining().Start(options, NextRunName(), {.threads = 1, .memory = whole / 4}), kUsage,
               "smallest sufficient --memory");
}

// A division is part of the run: it is chosen once and kept, unless a resume brings another budget.
TEST(PartitionedTraining, AnotherBudgetOnResumeTakesEffectAtTheNextEpoch) {
  const auto graph = Graph::Open(LoopTraining().graph_folder());
  ASSERT_OK(graph);
  TrainOptions options = LoopOptions(0, 0);
  options.dim = 256;
  std::uint64_t tight = EstimateTrainingMemory(options, (*graph)->description(), 64, {1, 1}).total();
  while (ChooseShape(options, (*graph)->description(), tight, 1)->WholeGraph()) tight -= 1 << 18;
  const std::string run = NextRunName();
  std::atomic<int> stop = 0;
  TrainCallbacks callbacks;
  std::vector<TrainDivision> divisions;
  std::vector<EpochEvent> events;
  callbacks.on_division = [&](const TrainDivision& division) { divisions.push_back(division); };
  callbacks.on_epoch = [&](const EpochEvent& event) { events.push_back(event); };
  callbacks.on_batch = [&](const TrainProgress& progress) { stop = progress.batch == 8 ? 1 : 0; };
  ASSERT_OK(LoopTraining().Start(options, run, {.threads = 1, .memory = tight, .stop = &stop}, callbacks));
  ASSERT_EQ(divisions.size(), 1U);
  const PartitionShape first = divisions[0].shape;
  EXPECT_GT(first.partitions, first.resident);
  callbacks.on_batch = nullptr;
  stop = 0;
  // An epoch that has begun needs the memory that it began with.
  const std::uint64_t needed = EstimateTrainingMemory(options, (*graph)->description(), 1, first).total();
  EXPECT_ERROR(LoopTraining().Resume(0, run, {.threads = 1, .memory = needed - 1}, callbacks), kUsage,
               "the epoch that was begun");
  ASSERT_OK(LoopTraining().Resume(0, run, {.threads = 1, .memory = kPlenty, .divide_anew = true}, callbacks));
  EXPECT_TRUE(divisions.back().changed);
  EXPECT_EQ(divisions.back().from_epoch, 2U);
  EXPECT_TRUE(divisions.back().shape.WholeGraph());
  EXPECT_EQ(divisions.back().before, first);
  EXPECT_EQ(divisions.back().memory_before, needed);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].partitions, first.partitions);
  EXPECT_EQ(events[1].partitions, 1U);
  EXPECT_EQ(events[2].partitions, 1U);
  // Where no epoch is left, another budget changes nothing.
  ASSERT_OK(LoopTraining().Resume(0, run, {.threads = 1, .memory = tight, .divide_anew = true}, callbacks));
  EXPECT_FALSE(divisions.back().changed);
  // And a resume without its own budget keeps the division.
  divisions.clear();
  ASSERT_OK(LoopTraining().Resume(4, run, {.threads = 1, .memory = kPlenty}, callbacks));
  EXPECT_FALSE(divisions.back().changed);
  EXPECT_EQ(events.back().partitions, 1U);
}

TEST(PartitionedTraining, NegativesAllAreTheResidentNodes) {
  TrainOptions options = LoopOptions(7, 2);
  options.negatives = 0;
  options.chunk = 300;
  options.epochs = 1;
  EXPECT_EQ(TrainForEvents(options, {.memory = kPlenty}).size(), 1U);
}

TEST(PartitionedTraining, RefusesMorePartitionsThanTheGraphHas) {
  EXPECT_ERROR(LoopTraining().Start(LoopOptions(8, 2), NextRunName()), kUsage,
               "partitions: found 8; expected at most 7");
  EXPECT_ERROR(LoopTraining().Start(LoopOptions(4, 5), NextRunName()), kUsage, "resident: found 5");
  EXPECT_ERROR(LoopTraining().Start(LoopOptions(4, 1), NextRunName()), kUsage, "resident: found 1");
}

}  // namespace
}  // namespace octavo
