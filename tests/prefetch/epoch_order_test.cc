#include "prefetch/epoch_order.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_plan.h"

namespace octavo {
namespace {

constexpr std::uint64_t kOrderedEdges = 3001;
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

OrderSettings Settings(std::uint64_t batch, std::uint64_t pool, std::uint64_t window) {
  return {.seed = 42, .batch_edges = batch, .inverse_offset = {}, .pool_edges = pool, .window_edges = window};
}

TEST(SizesFor, AreWholeBatchesAndAWindowIsNoLargerThanAPool) {
  const auto sizes = [](std::uint64_t batch, std::uint64_t pool, std::uint64_t window, std::uint64_t edges) {
    const OrderSizes s = SizesFor(Settings(batch, pool, window), edges);
    return std::pair(s.pool_edges, s.window_edges);
  };
  EXPECT_EQ(sizes(100, 1000, 250, 5000), std::pair(1000UL, 300UL));
  EXPECT_EQ(sizes(100, 1001, 1, 5000), std::pair(1100UL, 100UL));
  EXPECT_EQ(sizes(100, 200, 1000, 5000), std::pair(200UL, 200UL));
  EXPECT_EQ(sizes(100, kHuge, 1000, 555), std::pair(600UL, 600UL));
  EXPECT_EQ(sizes(4096, 1000, 1000, 5000), std::pair(4096UL, 4096UL)) << "one batch at least";
  EXPECT_EQ(sizes(100, 1000, 100, 0), std::pair(100UL, 100UL));
}

TEST(SizesFor, ByDefaultAGraphOf100000EdgesHasSeveralWindows) {
  const OrderSizes sizes = SizesFor({.seed = 1, .batch_edges = 4096, .inverse_offset = {}}, 100'000);
  EXPECT_GE(sizes.pool_edges, 100'000U);
  EXPECT_LE(3 * sizes.window_edges, 100'000U);
}

class EpochOrderTest : public ::testing::Test {
 protected:
  EpochOrderTest() {
    WriteSmallCells(path_, {.node_count = 2500, .relation_count = 3, .has_weights = true, .block_edges = 100},
                    DistinctEdges(kOrderedEdges, 2500, 3));
    absl::StatusOr<CellReader> cells = CellReader::Open(path_);
    EXPECT_OK(cells);
    cells_.push_back(*std::move(cells));
  }
  const CellReader& cells() const { return cells_[0]; }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "train.cells";
  std::vector<CellReader> cells_;                                                  // one
  const EpochPlan plan_ = EpochPlanner(3, {1, 1}, BucketOrder::kBeta, 0).Plan(0);  // all of it in memory
};

// Windows tile pools, batches tile windows, and the parts of a pool have as many edges as the pool.
void ExpectTiles(const EpochOrder& order, const CellReader& cells, const EpochPlan& plan,
                 const OrderSettings& settings) {
  const std::uint64_t per_edge = settings.EntriesPerEdge();
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;  // block, edge
  std::uint64_t batch = 0;
  std::uint64_t filled = 0;  // of the pool
  for (std::uint64_t w = 0; w < order.window_count(); ++w) {
    const EpochOrder::WindowPlace window = order.PlaceOfWindow(w);
    if (filled == 0) {
      std::uint64_t pool_edges = 0;
      for (const EpochOrder::BlockPart& part : order.PartsOfPool(window.pool)) {
        const BlockRecord& block = cells.block(part.block);
        const CellId cell{static_cast<PartitionId>(block.head_partition),
                          static_cast<PartitionId>(block.tail_partition)};
        EXPECT_EQ(std::ranges::count(plan.states[order.StateOf(batch)].cells, cell), 1);
        for (std::uint32_t e = 0; e < part.edges; ++e) {
          EXPECT_TRUE(edges.emplace(part.block, part.first + e).second) << "twice";
          EXPECT_LT(part.first + e, block.edges);
        }
        pool_edges += part.edges;
      }
      EXPECT_EQ(window.pool_entries, pool_edges * per_edge);
      EXPECT_LE(pool_edges, SizesFor(settings, cells.edge_count()).pool_edges);
    }
    EXPECT_EQ(window.first, filled);
    EXPECT_LE(window.entries, SizesFor(settings, cells.edge_count()).window_edges * per_edge);
    for (std::uint64_t in_window = 0; in_window < window.entries; ++batch) {
      const EpochOrder::BatchPlace place = order.PlaceOf(batch);
      ASSERT_EQ(place.window, w);
      ASSERT_EQ(place.first, in_window);
      ASSERT_GT(place.entries, 0U);
      const bool last = batch + 1 == order.FirstBatch(order.StateOf(batch) + 1);
      ASSERT_TRUE(place.entries == settings.batch_edges * per_edge || last) << "only a state's last batch is short";
      in_window += place.entries;
      ASSERT_LE(in_window, window.entries);
    }
    filled += window.entries;
    if (filled == window.pool_entries) filled = 0;
  }
  EXPECT_EQ(filled, 0U);
  EXPECT_EQ(batch, order.batch_count());
  EXPECT_EQ(order.FirstBatch(plan.states.size()), order.batch_count());
  EXPECT_EQ(edges.size(), cells.edge_count()) << "every edge once";
}

TEST_F(EpochOrderTest, PoolsWindowsAndBatchesTileTheEpoch) {
  for (const std::uint64_t batch : {1UL, 7UL, 100UL, 2999UL, 3001UL, 5000UL}) {
    for (const std::uint64_t pool : {1UL, 99UL, 1000UL, kOrderedEdges - 1, kOrderedEdges, kHuge}) {
      for (const std::uint64_t window : {1UL, 150UL, 700UL, kHuge}) {
        OrderSettings settings = Settings(batch, pool, window);
        if (batch == 100) settings.inverse_offset = 3;
        SCOPED_TRACE(::testing::Message() << batch << " " << pool << " " << window);
        ExpectTiles(EpochOrder(cells(), settings, 1, plan_), cells(), plan_, settings);
      }
    }
  }
}

TEST_F(EpochOrderTest, StatesTrainTheirCells) {
  for (const PartitionShape shape : {PartitionShape{3, 2}, PartitionShape{2, 2}, PartitionShape{3, 3}}) {
    for (const BucketOrder kind : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
      EpochPlanner planner(3, shape, kind, 5);
      const OrderSettings settings = Settings(50, 300, 120);
      for (const std::uint64_t epoch : {0U, 1U}) {
        const EpochPlan& plan = planner.Plan(epoch);
        ExpectTiles(EpochOrder(cells(), settings, epoch, plan), cells(), plan, settings);
      }
    }
  }
}

TEST_F(EpochOrderTest, TheLastOnesHaveTheRest) {
  const EpochOrder order(cells(), Settings(10, 995, 400), 0, plan_);  // pools of 1,000: windows of 400, 400, 200
  EXPECT_EQ(order.window_count(), 10U);
  EXPECT_EQ(order.batch_count(), 301U);
  EXPECT_EQ(order.PlaceOfWindow(7).entries, 400U);
  EXPECT_EQ(order.PlaceOfWindow(8).entries, 200U);
  EXPECT_EQ(order.PlaceOfWindow(8).pool, 2U);
  EXPECT_EQ(order.PlaceOfWindow(9).entries, 1U);
  EXPECT_EQ(order.PlaceOfWindow(9).pool, 3U);
  EXPECT_EQ(order.PlaceOf(299).window, 8U);
  EXPECT_EQ(order.PlaceOf(299).first, 190U);
  EXPECT_EQ(order.PlaceOf(300).window, 9U);
  EXPECT_EQ(order.PlaceOf(300).entries, 1U);
}

TEST_F(EpochOrderTest, GroupedPlacesAreTwiceAsFarInAsManyBatches) {
  OrderSettings settings = Settings(100, 500, 200);
  const EpochOrder plain(cells(), settings, 0, plan_);
  settings.inverse_offset = 3;
  const EpochOrder grouped(cells(), settings, 0, plan_);
  ASSERT_EQ(grouped.batch_count(), plain.batch_count());
  for (std::uint64_t batch = 0; batch < plain.batch_count(); ++batch) {
    EXPECT_EQ(grouped.PlaceOf(batch).window, plain.PlaceOf(batch).window);
    EXPECT_EQ(grouped.PlaceOf(batch).first, 2 * plain.PlaceOf(batch).first);
    EXPECT_EQ(grouped.PlaceOf(batch).entries, 2 * plain.PlaceOf(batch).entries);
  }
}

TEST_F(EpochOrderTest, IsAPureFunctionOfSeedEpochAndPlan) {
  const OrderSettings settings = Settings(1, 700, 200);
  const EpochOrder fifth(cells(), settings, 5, plan_);
  EXPECT_EQ(EpochOrder(cells(), settings, 5, plan_), fifth);
  EXPECT_NE(EpochOrder(cells(), settings, 6, plan_), fifth);
  OrderSettings other = settings;
  other.seed = 43;
  EXPECT_NE(EpochOrder(cells(), other, 5, plan_), fifth);
  EpochPlanner divided(3, {3, 2}, BucketOrder::kBeta, 0);
  EXPECT_NE(EpochOrder(cells(), settings, 5, divided.Plan(5)), fifth);
  // Not only the order inside a pool but its blocks change with each epoch and seed.
  const auto first_pool = [](const EpochOrder& order) {
    std::set<std::uint32_t> blocks;
    for (const EpochOrder::BlockPart& part : order.PartsOfPool(0)) blocks.insert(part.block);
    return blocks;
  };
  EXPECT_NE(first_pool(EpochOrder(cells(), settings, 6, plan_)), first_pool(fifth));
  EXPECT_NE(first_pool(EpochOrder(cells(), other, 5, plan_)), first_pool(fifth));
}

TEST_F(EpochOrderTest, AnEpochWithoutEdgesHasNoWindows) {
  WriteSmallCells(folder_ / "empty.cells", {.node_count = 10}, {});
  ASSERT_OK_AND_ASSIGN(const CellReader empty, CellReader::Open(folder_ / "empty.cells"));
  const EpochOrder order(empty, Settings(1, 100, 10), 3, WholePlan(empty));
  EXPECT_EQ(order.window_count(), 0U);
  EXPECT_EQ(order.batch_count(), 0U);
}

}  // namespace
}  // namespace octavo
