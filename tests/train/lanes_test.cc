// Trainings in lanes: against the naive trainer, and the same bytes for any threads, memory, stops, kills and resumes.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "checkpoint/state_file.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/child_process.h"
#include "tests/support/naive_trainer.h"
#include "tests/train/tiny_training.h"
#include "train/lane_exchange.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

// Nine fine partitions, the last one short.
const TinyTraining& LanesTraining() {
  static const TinyTraining training({.nodes = 8500, .relations = 5, .edges = 12000});
  return training;
}

TrainOptions LanesOptions(std::uint64_t lanes, std::uint64_t partitions = 0, std::uint64_t resident = 0) {
  TrainOptions options = TinyOptions();
  options.batch = 300;
  options.chunk = 60;
  options.epochs = 3;
  options.lanes = lanes;
  options.partitions = partitions;
  options.resident = resident;
  options.learning_rate_schedule = LearningRateSchedule::kLinear;
  return options;
}

// The largest difference to the oracle's rows, relative to values above 1: sums of squares grow with the epochs.
double Distance(const std::string& file, const NaiveRows& rows) {
  double distance = 0;
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  EXPECT_EQ(file.size(), kNpyHeaderBytes + rows.size() * columns * sizeof(float));
  for (std::size_t i = 0; i < rows.size() * columns; ++i) {
    float value = 0;
    std::memcpy(&value, file.data() + kNpyHeaderBytes + i * sizeof(float), sizeof(float));
    const double expected = rows[i / columns][i % columns];
    const double difference = std::abs(value - expected) / std::max(1.0, std::abs(expected));
    if (!(difference <= distance)) distance = difference;
  }
  return distance;
}

// Tolerances of trainer_oracle_test.cc.
void ExpectNaive(const TrainOptions& options) {
  std::vector<EpochEvent> events;
  TrainCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochEvent& event) { events.push_back(event); };
  const std::string name = NextRunName();
  ASSERT_OK(LanesTraining().Start(options, name, {.memory = kPlenty}, callbacks));
  const RunBytes run = ReadRunBytes(LanesTraining().run_folder(name));
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(LanesTraining().graph_folder()));
  const NaiveRun naive = TrainNaively(*graph, options);
  ASSERT_EQ(events.size(), naive.losses.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_NEAR(events[i].loss, naive.losses[i], 2e-5 * std::max(1.0, naive.losses[i]));
    EXPECT_EQ(events[i].edges, graph->description().train_edges);
  }
  EXPECT_LE(Distance(run.embeddings, naive.embeddings), 2e-4);
  EXPECT_LE(Distance(run.relations, naive.relations), 2e-4);
  EXPECT_LE(Distance(run.optimizer, naive.optimizer), 2e-4);
  EXPECT_LE(Distance(run.relation_optimizer, naive.relation_optimizer), 2e-4);
}

TEST(Lanes, TrainAsTheNaiveTrainerDoes) {
  for (const OptimizerKind optimizer : {OptimizerKind::kRowAdagrad, OptimizerKind::kAdagrad, OptimizerKind::kSgd}) {
    for (const auto& [lanes, partitions, resident] :
         {std::tuple{2U, 0U, 0U}, {4U, 0U, 0U}, {2U, 4U, 2U}, {2U, 4U, 3U}}) {
      if (optimizer != OptimizerKind::kRowAdagrad && (lanes == 4 || resident == 3)) continue;
      SCOPED_TRACE(::testing::Message() << lanes << " lanes, optimizer " << static_cast<int>(optimizer));
      TrainOptions options = LanesOptions(lanes, partitions, resident);
      options.epochs = 2;
      options.optimizer = optimizer;
      ExpectNaive(options);
    }
  }
}

TEST(Lanes, TrainAsTheNaiveTrainerDoesWithOtherOptions) {
  TrainOptions options = LanesOptions(4);
  options.epochs = 2;
  options.reciprocal = true;
  options.accumulate = 2;
  options.regularizer = RegularizerKind::kL2;
  options.regularization = 0.05;
  options.relation_rate_factor = 2;
  ExpectNaive(options);
  for (const ModelKind model : {ModelKind::kDistMult, ModelKind::kTransE, ModelKind::kRotatE}) {
    SCOPED_TRACE(ModelName(model));
    options = LanesOptions(2);
    options.epochs = 2;
    options.model = model;
    options.norm = Norm::kL2;  // gradients of L1 jump between floats and the oracle's doubles
    ExpectNaive(options);
  }
}

// How an edge is compared with its negatives depends on the loss, and on what shares a query.
TEST(Lanes, TrainAsTheNaiveTrainerDoesWithOtherComparisons) {
  for (const LossKind loss : {LossKind::kLogistic, LossKind::kSelfAdversarial, LossKind::kSoftmax}) {
    for (const bool grouped : {false, true}) {
      SCOPED_TRACE(::testing::Message() << LossName(loss) << (grouped ? ", grouped" : ""));
      TrainOptions options = LanesOptions(4);
      options.epochs = 2;
      options.loss = loss;
      options.reciprocal = options.group_queries = grouped;
      options.competing_answers = grouped && loss == LossKind::kSoftmax;
      options.degree_fraction = grouped ? 0.0 : 0.5;
      ExpectNaive(options);
      options.reciprocal = false;
      if (grouped) ExpectNaive(options);
    }
  }
}

// Without relations there is nothing to combine, and any optimizer will do.
TEST(Lanes, WithoutRelationsTheNodesAreTrained) {
  TrainOptions options = LanesOptions(4);
  options.epochs = 2;
  options.model = ModelKind::kDot;
  options.optimizer = OptimizerKind::kAdam;
  ExpectNaive(options);
}

// What fits in memory and how it is loaded is not part of the bits: all tables, or those of a lane.
TEST(Lanes, GiveTheSameBytesForAnyThreadsMemoryAndPrefetching) {
  for (const auto& [partitions, resident] : {std::pair{0U, 0U}, {3U, 2U}}) {
    TrainOptions options = LanesOptions(4, partitions, resident);
    options.storage = NpyElement::kBfloat16;
    const RunBytes expected = LanesTraining().Train(options, NextRunName());
    ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(LanesTraining().graph_folder()));
    for (const int threads : {1, 2, 3}) {
      const PartitionShape shape = {static_cast<std::uint32_t>(std::max(1U, partitions)),
                                    static_cast<std::uint32_t>(std::max(1U, resident))};
      const std::uint64_t least =
          EstimateTrainingMemory(options, graph->description(), threads, shape, /*hold_all=*/false).total();
      ASSERT_FALSE(HoldsAllTables(options, graph->description(), threads, shape, least));
      for (const std::uint64_t memory : {least, kPlenty}) {
        for (const PrefetchMode prefetch : {PrefetchMode::kOff, PrefetchMode::kOn}) {
          options.prefetch = prefetch;
          const std::string run = NextRunName();
          std::vector<EpochEvent> events;
          TrainCallbacks callbacks;
          callbacks.on_epoch = [&](const EpochEvent& event) { events.push_back(event); };
          WithThreads(threads, [&] {
            EXPECT_OK(LanesTraining().Start(options, run, {.threads = threads, .memory = memory}, callbacks));
          });
          EXPECT_EQ(ReadRunBytes(LanesTraining().run_folder(run)), expected) << threads << " " << memory;
          for (const EpochEvent& event : events) {
            EXPECT_EQ(event.partition_loads, event.planned_partition_loads);
            EXPECT_EQ(event.read_bytes, event.planned_read_bytes);
            EXPECT_EQ(event.lanes, 4U);
            EXPECT_EQ(event.rounds, 7U);
            EXPECT_GT(event.slowest_lane_seconds, 0);
            EXPECT_TRUE(event.lane_balance > 0 && event.lane_balance <= 1.0001) << event.lane_balance;
          }
        }
      }
    }
    EXPECT_OK(LanesTraining().Start(options, NextRunName(), {.memory = kPlenty}));
    EXPECT_NE(LanesTraining().Train(LanesOptions(2, partitions, resident), NextRunName()), expected);
  }
}

TEST(Lanes, AStopAnywhereAndAResumeGiveTheSameBytes) {
  for (const auto& [lanes, partitions, resident] : {std::tuple{2U, 0U, 0U}, {4U, 3U, 2U}}) {
    const TrainOptions options = LanesOptions(lanes, partitions, resident);
    const RunBytes expected = LanesTraining().Train(options, NextRunName());
    for (int every = 1; every < 40; every += 9) {
      const std::string run = NextRunName();
      std::atomic<int> stop = 0;
      int windows = 0;
      TrainCallbacks callbacks;
      callbacks.on_batch = [&](const TrainProgress&) { stop = ++windows % every == 0 ? 1 : 0; };
      const TrainSettings settings = {.memory = kPlenty, .stop = &stop};
      auto outcome = LanesTraining().Start(options, run, settings, callbacks);
      bool within = false;
      for (int resumes = 0; outcome.ok() && !outcome->finished && resumes < 1000; ++resumes) {
        const auto manifest = ReadNewestManifest(RunPaths(LanesTraining().run_folder(run)).State());
        ASSERT_OK(manifest);
        within = within || manifest->round.open == 1;
        stop = 0;
        outcome = LanesTraining().Resume(0, run, settings, callbacks);
      }
      ASSERT_OK(outcome);
      ASSERT_TRUE(outcome->finished);
      EXPECT_TRUE(within) << "stopped within a round";
      EXPECT_EQ(ReadRunBytes(LanesTraining().run_folder(run)), expected) << every;
    }
  }
}

// Killed within and between rounds, before and in commits.
TEST(Lanes, AKillAndAResumeGiveTheSameBytes) {
  TrainOptions options = LanesOptions(2, 4, 2);
  options.checkpoint_minutes = 1e-9;  // after every window
  const RunBytes expected = LanesTraining().Train(options, NextRunName());
  for (const std::string place : {"train.lanes:1", "train.lanes:2", "train.lanes:5", "commit.lanes:1", "commit.lanes:9",
                                  "train.batch:20", "commit.C4:14", "commit.C6:15", "commit.C7:16"}) {
    SCOPED_TRACE(place);
    const std::string run = NextRunName();
    const ChildEnd end = RunChild([&] {
      const oneapi::tbb::global_control serial(oneapi::tbb::global_control::max_allowed_parallelism, 1);
      if (!SetFailpoints(place + "=kill").ok()) return 2;
      return LanesTraining().Start(options, run).ok() ? 0 : 1;
    });
    ASSERT_EQ(end.signal, SIGKILL) << end.code;
    ASSERT_OK(LanesTraining().Resume(0, run));
    EXPECT_EQ(ReadRunBytes(LanesTraining().run_folder(run)), expected);
  }
}

TEST(Lanes, CommitsWithinAnEpochChangeNothingAndLeaveNoFiles) {
  TrainOptions options = LanesOptions(2);
  const RunBytes expected = LanesTraining().Train(options, NextRunName());
  options.checkpoint_minutes = 1e-9;  // after every window
  const std::string run = NextRunName();
  EXPECT_EQ(LanesTraining().Train(options, run), expected);
  const RunPaths paths(LanesTraining().run_folder(run));
  for (const TableName table : {TableName::kLaneRelations, TableName::kLaneRelationOptimizer}) {
    for (const int slot : {0, 1}) EXPECT_FALSE(std::filesystem::exists(paths.Table(table, slot)));
  }
  // More epochs after the end: as if they had been there from the beginning.
  options.learning_rate_schedule = LearningRateSchedule::kConstant;
  options.epochs = 4;
  const RunBytes longer = LanesTraining().Train(options, NextRunName());
  options.epochs = 2;
  const std::string extended = NextRunName();
  EXPECT_OK(LanesTraining().Start(options, extended));
  EXPECT_OK(LanesTraining().Resume(4, extended));
  EXPECT_EQ(ReadRunBytes(LanesTraining().run_folder(extended)), longer);
}

TEST(Lanes, RefuseWhatHasNoMeaning) {
  const auto refused = [](const std::function<void(TrainOptions&)>& change, const std::string& text) {
    TrainOptions options = LanesOptions(2);
    change(options);
    EXPECT_ERROR(LanesTraining().Start(options, NextRunName()), kUsage, text);
  };
  refused([](TrainOptions& o) { o.lanes = 3; }, "lanes is 3; expected a power of two, such as 4");
  refused([](TrainOptions& o) { o.lanes = 8; }, "lanes: found 8; expected at most 4");
  refused([](TrainOptions& o) { o.schedule = Schedule::kAsync; }, "expected schedule sync");
  refused([](TrainOptions& o) { o.optimizer = OptimizerKind::kAdam; }, "expected row-adagrad, adagrad or sgd");
  refused([](TrainOptions& o) { o.partitions = 3; }, "expected a number of resident partitions");
  refused([](TrainOptions& o) { o.resident = 2; }, "expected a number of partitions");
  refused([](TrainOptions& o) { o.partitions = 7, o.resident = 2; }, "expected at most 6");
}

TEST(Lanes, TooLittleMemoryNamesASmallerLane) {
  TrainOptions options = LanesOptions(2);
  options.dim = 1024;
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(LanesTraining().graph_folder()));
  const std::uint64_t needed = EstimateTrainingMemory(options, graph->description(), 1, {1, 1}).total();
  EXPECT_ERROR(LanesTraining().Start(options, NextRunName(), {.memory = needed - 1}), kUsage,
               "a lane of --partitions 6 --resident 2 takes ");
}

// s = s0 + sum of differences, r = r0 + sum of differences times sqrt(s_l / s): worked out by hand.
TEST(CombineLanes, AddsWhatEachLaneHasDone) {
  const auto table = [](std::uint64_t columns, std::vector<float> values) {
    RelationTable made({}, {.rows = 2, .columns = columns});
    std::ranges::copy(values, made.values().begin());
    return made;
  };
  const std::vector<float> a = {2, 1, 5, 5};
  const std::vector<float> b = {1, 3, 5, 5};
  // Row 0: s0 = 1, lanes 4 and 6, so s = 9; row 1: untouched.
  const std::vector<float> state_a = {4, 0};
  const std::vector<float> state_b = {6, 0};
  const std::vector<LaneRelations> lanes = {{a, state_a}, {b, state_b}};
  RelationTable rows = table(2, {1, 1, 5, 5});
  RelationTable state = table(1, {1, 0});
  ASSERT_OK(CombineLanes({.kind = OptimizerKind::kRowAdagrad}, lanes, rows, state));
  EXPECT_EQ(state.Row(0)[0], 9.0F);
  EXPECT_EQ(state.Row(1)[0], 0.0F);
  EXPECT_NEAR(rows.Row(0)[0], 1 + std::sqrt(4.0 / 9), 1e-6);
  EXPECT_NEAR(rows.Row(0)[1], 1 + 2 * std::sqrt(6.0 / 9), 1e-6);
  EXPECT_EQ(rows.Row(1)[0], 5.0F);
  RelationTable plain = table(2, {1, 1, 5, 5});
  RelationTable none = table(0, {});
  ASSERT_OK(CombineLanes({.kind = OptimizerKind::kSgd}, {{{a, {}}, {b, {}}}}, plain, none));
  EXPECT_EQ(plain.Row(0)[0], 2.0F);
  EXPECT_EQ(plain.Row(0)[1], 3.0F);
}

TEST(CombineLanes, RefusesWhatIsNotFinite) {
  RelationTable rows({}, {.rows = 2, .columns = 1});
  RelationTable none({}, {.rows = 2, .columns = 0});
  const std::vector<float> large = {0, 3e38F};
  EXPECT_ERROR(CombineLanes({.kind = OptimizerKind::kSgd}, {{{large, {}}, {large, {}}}}, rows, none), kRuntime,
               "row 1");
}

}  // namespace
}  // namespace octavo
