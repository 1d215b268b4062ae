#include "report/residency.h"

#include <algorithm>
#include <set>

#include "gtest/gtest.h"
#include "plan/epoch_plan.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

// 12 partitions, edges between all of them.
std::unique_ptr<Graph> Partitioned(const std::filesystem::path& folder) {
  SmallGraph graph = {.names = NumberedNames(12 * kPartitionRowQuantum)};
  for (std::uint64_t i = 0; i < 12; ++i) {
    for (std::uint64_t j = 0; j < 12; ++j) {
      for (std::uint64_t k = 0; k <= (i + j) % 3; ++k) {
        graph.train.push_back({NodeId{i * kPartitionRowQuantum + k}, NodeId{j * kPartitionRowQuantum}});
      }
    }
  }
  return WriteGraph(graph, folder);
}

TrainOptions With(BucketOrder order, std::uint64_t seed) {
  TrainOptions options;
  options.order = order;
  options.seed = seed;
  return options;
}

// Whether partition g is in memory at the share `when`.
bool IsResident(const Residency::Partition& partition, double when) {
  return std::any_of(partition.spans.begin(), partition.spans.end(),
                     [&](const auto& span) { return span.first <= when && when < span.second; });
}

TEST(Residency, HoldsAtEachTimeThePartitionsOfThePlan) {
  TemporaryFolder folder;
  const std::unique_ptr<Graph> graph = Partitioned(folder / "graph");
  const CellReader& train = graph->Edges(Split::kTrain);
  const Progress progress = {.epoch = 3, .partitions = 6, .resident = 2, .plan_epoch = 1};
  const Residency residency = PlannedResidency(progress, With(BucketOrder::kBeta, 7), train);
  EXPECT_EQ(residency.epoch, 3U);
  EXPECT_EQ(residency.resident, 2U);
  EXPECT_EQ(residency.loads, BetaExchanges(6, 2));
  ASSERT_EQ(residency.partitions.size(), 6U);
  for (const Residency::Partition& partition : residency.partitions) EXPECT_EQ(partition.fine_partitions, 2U);
  // By the plan itself, state by state.
  EpochPlanner planner(12, {6, 2}, BucketOrder::kBeta, 7, 1);
  double done = 0;
  std::size_t states = 0;
  const PlannedStates planned = planner.Plan(2).states;
  for (std::size_t s = 0; s < planned.size(); ++s) {
    const PlannedState state = planned[s];
    double edges = 0;
    for (const CellId& cell : state.cells) edges += 1 + (Value(cell.head) + Value(cell.tail)) % 3;
    if (edges == 0) continue;
    const double middle = (done + edges / 2) / static_cast<double>(train.edge_count());
    std::uint64_t there = 0;
    for (const Residency::Partition& partition : residency.partitions)
      there += IsResident(partition, middle) ? partition.fine_partitions : 0;
    EXPECT_EQ(there, state.resident.size()) << middle;
    done += edges;
    ++states;
  }
  EXPECT_GT(states, 5U);
  EXPECT_EQ(done, static_cast<double>(train.edge_count()));
  for (std::size_t i = 1; i < 6; ++i) EXPECT_LE(residency.partitions[i - 1].spans[0], residency.partitions[i].spans[0]);
}

TEST(Residency, IsOfTheNextEpochWhereTheDivisionIsNew) {
  TemporaryFolder folder;
  const std::unique_ptr<Graph> graph = Partitioned(folder / "graph");
  for (const auto& [epoch, plan_epoch, shown] : {std::tuple(0U, 0U, 1U), {4U, 4U, 5U}, {5U, 4U, 5U}, {1U, 0U, 1U}}) {
    const Progress progress = {.epoch = epoch, .partitions = 4, .resident = 2, .plan_epoch = plan_epoch};
    EXPECT_EQ(PlannedResidency(progress, With(BucketOrder::kRandom, 1), graph->Edges(Split::kTrain)).epoch, shown);
  }
}

}  // namespace
}  // namespace octavo
