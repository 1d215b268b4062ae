#include "train/machine_plan.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "plan/lane_plan.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNodes = 8500;
constexpr std::uint64_t kPartitionRows = 1024;

const Graph& TheGraph() {
  static const TinyTraining training({.nodes = kNodes, .relations = 3, .edges = 20000});
  static const std::unique_ptr<Graph> graph = *Graph::Open(training.graph_folder());
  return *graph;
}

TrainOptions Options() {
  TrainOptions options = TinyOptions();
  options.batch = 300;
  options.chunk = 100;
  options.epochs = 3;
  options.lanes = 4;
  return options;
}

constexpr MachineRates kRates{.disk_read = 1e9, .disk_write = 1e9, .training = 1e4};

TrainingPlan OneMachine(const TrainOptions& options, std::uint64_t memory = kPlenty) {
  const auto plan = PlanTraining(options, TheGraph(), memory, 1, "/tmp", &kRates);
  EXPECT_OK(plan);
  return *plan;
}

MachinePlan Plan(const TrainOptions& options, std::uint32_t machines, double network = 1e6,
                 std::uint64_t memory = kPlenty) {
  const auto plan = PlanMachines(options, TheGraph(), OneMachine(options, memory), 1, machines, network, &kRates);
  EXPECT_OK(plan);
  return *plan;
}

std::uint64_t RowsOf(PartitionId p) {
  return std::min(kPartitionRows, kNodes - std::uint64_t{Value(p)} * kPartitionRows);
}

// Follows each partition through the rounds of three epochs, from lane to lane.
TEST(PlanMachines, CountsTheRowsThatChangeMachines) {
  const TrainOptions options = Options();
  const auto width = [](std::uint64_t floats) { return floats + StateWidth(TinyOptions().optimizer, floats); };
  const std::uint64_t node_bytes = width(options.dim) * sizeof(float);
  const std::uint64_t relation_bytes =
      3 * (options.reciprocal ? 2 : 1) * width(options.model_spec().RelationWidth()) * sizeof(float);
  const PartitionEdges edges(TheGraph().Edges(Split::kTrain));
  ASSERT_EQ(edges.partitions(), 9U);
  for (const std::uint32_t machines : {1U, 2U, 3U, 4U}) {
    std::vector<std::uint32_t> at(9, machines);
    std::vector<std::uint64_t> moved;  // bytes of each epoch
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      moved.push_back(0);
      const LaneGroups groups = DrawLaneGroups(edges, 4, options.seed, epoch);
      for (const LaneRound& round : MakeLaneRounds(4)) {
        for (std::uint32_t lane = 0; lane < 4; ++lane) {
          for (const std::uint32_t group : round[lane]) {
            for (const PartitionId p : groups[group]) {
              const std::uint32_t before = std::exchange(at[Value(p)], ((lane + 1) * machines - 1) / 4);
              if (before != machines && before != at[Value(p)]) moved.back() += RowsOf(p) * node_bytes;
            }
          }
        }
      }
    }
    std::uint64_t elsewhere = 0;
    for (std::uint32_t p = 0; p < 9; ++p) elsewhere += at[p] == 0 ? 0 : RowsOf(PartitionId{p}) * node_bytes;
    const MachinePlan plan = Plan(options, machines);
    MachineBytes first;
    MachineBytes second;
    for (const MachineBytes& of_one : plan.first_epoch) first += of_one;
    for (const MachineBytes& of_one : plan.epoch) second += of_one;
    EXPECT_EQ(first.partitions_sent, moved[0]);
    EXPECT_EQ(second.partitions_sent, moved[1]);
    EXPECT_EQ(plan.training.partitions_sent, moved[0] + moved[1] + moved[2]);
    EXPECT_EQ(plan.training.partitions_received, plan.training.partitions_sent);
    EXPECT_EQ(plan.gathered_bytes, elsewhere);
    const std::uint64_t copies = 4 - plan.machines.LanesOf(0) + machines - 1;
    EXPECT_EQ(second.relations_sent, 7 * copies * relation_bytes);
    EXPECT_EQ(second.relations_received, second.relations_sent);
    EXPECT_EQ(plan.training.relations_sent, 3 * second.relations_sent);
  }
}

TEST(PlanMachines, LaterEpochsAreTheMeanOfThoseThatArePlanned) {
  TrainOptions options = Options();
  options.epochs = 32;
  const MachinePlan planned = Plan(options, 4);
  MachineBytes first;
  for (const MachineBytes& of_one : planned.first_epoch) first += of_one;
  options.epochs = 63;
  EXPECT_EQ(Plan(options, 4).training.partitions_sent, 2 * planned.training.partitions_sent - first.partitions_sent);
  EXPECT_EQ(Plan(options, 4).training.relations_sent, 63 * first.relations_sent);
}

TEST(PlanMachines, MemoryIsForTheLanesOfAMachineOrForOneLane) {
  const TrainOptions options = Options();
  const MachinePlan one = Plan(options, 1);
  const MachinePlan two = Plan(options, 2);
  const MachinePlan four = Plan(options, 4);
  EXPECT_EQ(one.memory_bytes, OneMachine(options).estimate.total());
  EXPECT_LT(two.memory_bytes, one.memory_bytes);
  EXPECT_LT(four.memory_bytes, two.memory_bytes);
  EXPECT_TRUE(one.lanes_in_memory && two.lanes_in_memory && four.lanes_in_memory);
  const MachinePlan less = Plan(options, 2, 1e6, two.memory_bytes - 1);
  EXPECT_FALSE(less.lanes_in_memory);
  EXPECT_LT(less.memory_bytes, two.memory_bytes);
}

TEST(PlanMachines, TimesAreThoseOfTheEdgesIfTheNetworkIsFast) {
  const TrainOptions options = Options();
  const double edges = static_cast<double>(TheGraph().Edges(Split::kTrain).edge_count());
  const MachinePlan plan = Plan(options, 4, 1e15);
  EXPECT_NEAR(plan.compute_seconds, edges / kRates.training / 4, 1e-9);
  EXPECT_LE(plan.EfficiencyOverlapped(), 1);
  EXPECT_GT(plan.EfficiencyOverlapped(), 0.6);
  EXPECT_NEAR(plan.EfficiencyOneByOne(), plan.EfficiencyOverlapped(), 1e-6);
  EXPECT_LT(Plan(options, 4, 1e4).EfficiencyOverlapped(), 0.2);
}

TEST(PlanMachines, AFastNetworkMakesManyMachinesUsefulAndASlowOneNone) {
  const TrainOptions options = Options();
  const TrainingPlan one = OneMachine(options);
  EXPECT_EQ(MostUsefulMachines(options, TheGraph(), one, 1, 1e15, kRates), 4U);
  EXPECT_EQ(MostUsefulMachines(options, TheGraph(), one, 1, 1e3, kRates), 1U);
}

TEST(PlanMachines, NeedALaneEach) {
  TrainOptions options = Options();
  EXPECT_OK(CheckMachines(options, 4));
  const auto refused = PlanMachines(options, TheGraph(), OneMachine(options), 1, 5, 1e6, nullptr);
  EXPECT_ERROR(refused, kUsage, "machines: found 5; expected at most 4, the number of");
}

}  // namespace
}  // namespace octavo
