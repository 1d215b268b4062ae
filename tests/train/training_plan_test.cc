#include "train/training_plan.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plan/bucket_order.h"
#include "tests/train/tiny_training.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

const TinyTraining& PlannedTraining() {
  static const TinyTraining training({.nodes = 6500, .relations = 3, .edges = 9000});
  return training;
}

TrainOptions PlannedOptions(std::uint64_t partitions, std::uint64_t resident,
                            NpyElement storage = NpyElement::kFloat32) {
  TrainOptions options = TinyOptions();
  options.batch = 300;
  options.chunk = 100;
  options.epochs = 3;
  options.storage = storage;
  options.partitions = partitions;
  options.resident = resident;
  return options;
}

TrainingPlan Plan(const TrainOptions& options, const MachineRates* rates = nullptr) {
  const auto graph = Graph::Open(PlannedTraining().graph_folder());
  EXPECT_OK(graph);
  const auto plan = PlanTraining(options, **graph, kPlenty, 1, PlannedTraining().run_folder(), rates);
  EXPECT_OK(plan);
  return *plan;
}

// The plan before the work is the plan that the epochs' events have, and what they moved.
TEST(PlanTraining, IsWhatTheTrainingDoes) {
  int run = 0;
  for (const auto& [partitions, resident, storage] :
       std::vector<std::tuple<std::uint32_t, std::uint32_t, NpyElement>>{{7, 2, NpyElement::kFloat32},
                                                                         {7, 4, NpyElement::kFloat32},
                                                                         {3, 2, NpyElement::kFloat32},
                                                                         {1, 1, NpyElement::kFloat32},
                                                                         {7, 3, NpyElement::kBfloat16},
                                                                         {1, 1, NpyElement::kBfloat16}}) {
    const TrainOptions options = PlannedOptions(partitions, resident, storage);
    const TrainingPlan plan = Plan(options);
    EXPECT_EQ(plan.shape, (PartitionShape{partitions, resident}));
    std::vector<EpochEvent> events;
    std::uint64_t most_disk = 0;
    const std::string name = "run" + std::to_string(++run);
    TrainCallbacks callbacks;
    callbacks.on_epoch = [&](const EpochEvent& event) {
      events.push_back(event);
      std::uint64_t bytes = 0;
      for (const auto& file : std::filesystem::directory_iterator(PlannedTraining().run_folder(name))) {
        bytes += file.file_size();
      }
      most_disk = std::max(most_disk, bytes);
    };
    ASSERT_OK(PlannedTraining().Start(options, name, {.memory = kPlenty}, callbacks));
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].exchange, plan.loading.loading);
    EXPECT_EQ(events[0].partition_loads, plan.first_epoch_loads);
    EXPECT_EQ(events[1].partition_loads, plan.epoch_loads);
    EXPECT_EQ(events[0].planned_read_bytes, plan.first_epoch.read);
    EXPECT_EQ(events[1].planned_read_bytes, plan.epoch.read);
    EXPECT_EQ(events[0].planned_written_bytes, plan.first_epoch.written);
    EXPECT_EQ(events[1].planned_written_bytes, plan.epoch.written);
    EXPECT_NEAR(static_cast<double>(most_disk), static_cast<double>(plan.disk_bytes),
                0.1 * static_cast<double>(plan.disk_bytes) + 20'000);
    EXPECT_GT(plan.training.read, plan.first_epoch.read + plan.epoch.read);
    EXPECT_GT(plan.training.written, plan.first_epoch.written + plan.epoch.written);
  }
}

// With lanes, that is for the memory of all tables and for that of one lane.
TEST(PlanTraining, OfLanesIsWhatTheTrainingDoes) {
  int run = 0;
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(PlannedTraining().graph_folder()));
  for (const auto& [partitions, resident] : {std::pair(1U, 1U), {4U, 2U}}) {
    TrainOptions options = PlannedOptions(partitions, resident);
    options.lanes = 2;
    const std::uint64_t least =
        EstimateTrainingMemory(options, graph->description(), 1, {partitions, resident}).total();
    for (const std::uint64_t memory : {least, kPlenty}) {
      ASSERT_OK_AND_ASSIGN(const TrainingPlan plan,
                           PlanTraining(options, *graph, memory, 1, PlannedTraining().run_folder(), nullptr));
      EXPECT_EQ(plan.hold_all, memory == kPlenty);
      EXPECT_TRUE(plan.lane_balance > 0.5 && plan.lane_balance <= 1) << plan.lane_balance;
      std::vector<EpochEvent> events;
      TrainCallbacks callbacks;
      callbacks.on_epoch = [&](const EpochEvent& event) { events.push_back(event); };
      ASSERT_OK(PlannedTraining().Start(options, "lanes" + std::to_string(++run), {.memory = memory}, callbacks));
      ASSERT_EQ(events.size(), 3U);
      EXPECT_EQ(events[0].partition_loads, plan.first_epoch_loads);
      EXPECT_EQ(events[1].partition_loads, plan.epoch_loads);
      EXPECT_EQ(events[0].planned_read_bytes, plan.first_epoch.read) << partitions << memory;
      EXPECT_EQ(events[0].read_bytes, plan.first_epoch.read);
      EXPECT_EQ(events[1].read_bytes, plan.epoch.read);
      // A partition without an edge in a state is not written back.
      for (const auto& [event, planned] : {std::pair(0, plan.first_epoch), {1, plan.epoch}}) {
        EXPECT_LE(events[event].written_bytes, planned.written);
        EXPECT_GE(static_cast<double>(events[event].written_bytes), 0.98 * static_cast<double>(planned.written));
      }
    }
  }
}

TEST(PlanTraining, Bfloat16HalvesTheEmbeddings) {
  const TrainingPlan floats = Plan(PlannedOptions(7, 3));
  const TrainingPlan words = Plan(PlannedOptions(7, 3, NpyElement::kBfloat16));
  const std::uint64_t saved = 6500 * TinyOptions().dim * 2;
  EXPECT_EQ(floats.disk_bytes_after - words.disk_bytes_after, saved);
  EXPECT_EQ(floats.disk_bytes - words.disk_bytes, 2 * saved);
  // Row-wise Adagrad keeps a float beside the 8.
  EXPECT_EQ(floats.largest_partition_bytes * 20, words.largest_partition_bytes * 36);
}

TEST(PlanTraining, ExpectsTheLongerOfComputingAndMoving) {
  TrainOptions options = PlannedOptions(7, 2);
  const double edges = static_cast<double>((*Graph::Open(PlannedTraining().graph_folder()))->description().train_edges);
  const MachineRates slow_compute{.disk_read = 1e12, .disk_write = 1e12, .training = 100};
  EXPECT_NEAR(Plan(options, &slow_compute).epoch_seconds, edges / 100, 0.1);
  EXPECT_NEAR(Plan(options, &slow_compute).seconds, 3 * edges / 100, 0.3);
  const MachineRates slow_disk{.disk_read = 1e4, .disk_write = 1e4, .training = 1e9};
  const TrainingPlan plan = Plan(options, &slow_disk);
  EXPECT_NEAR(plan.epoch_seconds, static_cast<double>(plan.epoch.read + plan.epoch.written) / 1e4, 0.1);
  EXPECT_GE(plan.seconds, 3 * plan.epoch_seconds);
  EXPECT_EQ(Plan(options).epoch_seconds, 0);
  // The syncs of a commit, unless it is to survive only a kill.
  MachineRates slow_sync = slow_compute;
  slow_sync.sync = 2;
  options.durability = Durability::kFull;
  EXPECT_NEAR(Plan(options, &slow_sync).epoch_seconds - Plan(options, &slow_compute).epoch_seconds, 12, 0.01);
  options.durability = Durability::kProcess;
  EXPECT_EQ(Plan(options, &slow_sync).epoch_seconds, Plan(options, &slow_compute).epoch_seconds);
  // Tables are filled once.
  MachineRates slow_tables = slow_compute;
  slow_tables.tables = 1e4;
  const auto nodes = static_cast<double>((*Graph::Open(PlannedTraining().graph_folder()))->description().node_count);
  const double filled = nodes * static_cast<double>(NodeBytes(options)) / 1e4;
  EXPECT_NEAR(Plan(options, &slow_tables).seconds - Plan(options, &slow_compute).seconds, filled, 0.01);
  EXPECT_EQ(Plan(options, &slow_tables).epoch_seconds, Plan(options, &slow_compute).epoch_seconds);
}

TEST(PlanTraining, RefusesWhatTheTrainingWouldRefuse) {
  const auto graph = Graph::Open(PlannedTraining().graph_folder());
  ASSERT_OK(graph);
  EXPECT_ERROR(
      PlanTraining(PlannedOptions(0, 0), **graph, 1 << 20, 1, PlannedTraining().run_folder(), nullptr).status(), kUsage,
      "smallest sufficient --memory");
  EXPECT_ERROR(
      PlanTraining(PlannedOptions(9, 2), **graph, kPlenty, 1, PlannedTraining().run_folder(), nullptr).status(), kUsage,
      "partitions: found 9");
}

}  // namespace
}  // namespace octavo
