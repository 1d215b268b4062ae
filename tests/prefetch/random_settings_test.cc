// Batches and partitions together, as a training uses them, under many random divisions: the batches are those of the
// naive order, every edge is returned exactly once per epoch, while the partitions of both its ends are in memory.
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "prefetch/batch_prefetcher.h"
#include "prefetch/partition_loader.h"
#include "tests/support/expect_status.h"
#include "tests/support/naive_order.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNodes = 19'500;  // 20 fine partitions
constexpr std::uint64_t kGraphEdges = 6000;

// Goes through two epochs without training and counts the edges.
void CountEdges(const CellReader& cells, const PartitionShape& shape, BucketOrder order, const OrderSettings& settings,
                PrefetchMode mode) {
  std::set<PartitionId> memory;
  PartitionLoader partitions(
      [&](PartitionId p) {
        EXPECT_TRUE(memory.insert(p).second);
        return absl::OkStatus();
      },
      [&](PartitionId p) {
        EXPECT_EQ(memory.erase(p), 1U);
        return absl::OkStatus();
      });
  BatchPrefetcher batches(cells, settings, mode);
  EpochPlanner planner(cells.header().partition_count, shape, order, settings.seed, /*first_epoch=*/0,
                       mode != PrefetchMode::kOff);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const EpochPlan plan = planner.Plan(epoch);
    batches.BeginEpoch(epoch, plan, &planner.Plan(epoch + 1));
    const std::vector<NaiveBatch> expected =
        NaiveBatches(cells, settings.seed, settings.batch_edges, settings.pool_edges, {}, epoch, plan);
    ASSERT_EQ(batches.BatchCount(), expected.size());
    ASSERT_OK(partitions.Begin(plan, 0));
    std::vector<int> times(kGraphEdges);
    for (std::size_t state = 0; state < plan.states.size(); ++state) {
      if (state > 0) {
        ASSERT_OK(partitions.Advance());
      }
      ASSERT_OK(partitions.Wait());  // the set is not for two threads
      for (std::uint64_t batch = batches.FirstBatch(state); batch < batches.FirstBatch(state + 1); ++batch) {
        ASSERT_OK(batches.Advance(batch));
        ASSERT_TRUE(std::ranges::equal(batches.Batch(), expected[batch].edges)) << epoch << " " << batch;
        ASSERT_EQ(expected[batch].state, state);
        for (const Edge& edge : batches.Batch()) {
          ++times[static_cast<std::size_t>(edge.weight)];  // its number
          ASSERT_TRUE(memory.contains(static_cast<PartitionId>(Value(edge.head) / 1024)));
          ASSERT_TRUE(memory.contains(static_cast<PartitionId>(Value(edge.tail) / 1024)));
        }
      }
    }
    EXPECT_EQ(std::ranges::count(times, 1), static_cast<std::ptrdiff_t>(kGraphEdges));
  }
}

TEST(RandomSettings, EveryEdgeExactlyOnceAnEpoch) {
  const TemporaryFolder folder;
  WriteSmallCells(folder / "train.cells", {.node_count = kNodes, .has_weights = true, .block_edges = 16},
                  DistinctEdges(kGraphEdges, kNodes, 1));
  ASSERT_OK_AND_ASSIGN(const CellReader cells, CellReader::Open(folder / "train.cells"));
  RandomStream random(17, RandomPurpose::kSplit, 0, 0);
  for (int setting = 0; setting < 100; ++setting) {
    PartitionShape shape;
    shape.partitions = static_cast<std::uint32_t>(1 + random.Below(20));
    shape.resident = shape.partitions == 1 ? 1 : static_cast<std::uint32_t>(2 + random.Below(shape.partitions - 1));
    const auto order = static_cast<BucketOrder>(random.Below(3));
    OrderSettings settings;
    settings.seed = random.Next64();
    settings.batch_edges = 1 + random.Below(700);
    settings.pool_edges = settings.batch_edges * (1 + random.Below(10));
    settings.window_edges = 1 + random.Below(2000);
    const PrefetchMode mode = random.Below(2) == 0 ? PrefetchMode::kOff : PrefetchMode::kOn;
    SCOPED_TRACE(::testing::Message() << shape.partitions << " partitions, " << shape.resident << " resident, order "
                                      << static_cast<int>(order) << ", batch " << settings.batch_edges << ", pool "
                                      << settings.pool_edges << ", window " << settings.window_edges);
    CountEdges(cells, shape, order, settings, mode);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace octavo
