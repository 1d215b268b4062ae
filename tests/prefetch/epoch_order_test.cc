#include "prefetch/epoch_order.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_plan.h"

namespace octavo {
namespace {

constexpr std::uint64_t kEdges = 3001;

class EpochOrderTest : public ::testing::Test {
 protected:
  EpochOrderTest() {
    WriteSmallCells(path_, {.node_count = 2500, .relation_count = 3, .has_weights = true, .block_edges = 100}, edges_);
  }
  CellReader Open() const {
    absl::StatusOr<CellReader> cells = CellReader::Open(path_);
    EXPECT_OK(cells);
    return *std::move(cells);
  }
  static std::vector<Edge> Epoch(EpochOrder& order) {
    std::vector<Edge> all;
    std::vector<Edge> window;
    for (std::uint64_t w = 0; w < order.window_count(); ++w) {
      EXPECT_OK(order.ReadWindow(w, window));
      all.insert(all.end(), window.begin(), window.end());
    }
    return all;
  }
  static std::vector<Edge> Sorted(std::vector<Edge> edges) {
    std::ranges::sort(edges, {}, &Edge::weight);
    return edges;
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "train.cells";
  const std::vector<Edge> edges_ = DistinctEdges(kEdges, 2500, 3);
  const EpochPlan plan_ = EpochPlanner(3, {1, 1}, BucketOrder::kBeta, 0).Plan(0);  // all of it in memory
};

TEST_F(EpochOrderTest, VisitsEveryEdgeExactlyOnceWhateverTheWindow) {
  const CellReader cells = Open();
  ASSERT_GT(cells.block_count(), 30U);
  for (const std::uint64_t window : {std::uint64_t{1}, std::uint64_t{99}, std::uint64_t{100}, std::uint64_t{512},
                                     kEdges - 1, kEdges, kEdges + 1, std::uint64_t{1} << 40}) {
    EpochOrder order(cells, 42, 1, window);
    for (std::uint64_t epoch = 0; epoch < (window == 1 ? 1U : 3U); ++epoch) {
      order.SetEpoch(epoch, plan_);
      EXPECT_EQ(order.window_count(), (kEdges + window - 1) / window);
      EXPECT_EQ(Sorted(Epoch(order)), edges_) << window;
    }
  }
}

TEST_F(EpochOrderTest, GroupedEveryEdgeIsThereTwiceInAsManyBatches) {
  const CellReader cells = Open();
  EpochOrder plain(cells, 42, 100, 500);
  EpochOrder grouped(cells, 42, 100, 500, 3);
  plain.SetEpoch(0, plan_);
  grouped.SetEpoch(0, plan_);
  EXPECT_EQ(grouped.batch_count(), plain.batch_count());
  const std::vector<Edge> entries = Epoch(grouped);
  std::vector<Edge> forward;
  for (const Edge& entry : entries) {
    if (Value(entry.relation) < 3) forward.push_back(entry);
  }
  EXPECT_EQ(entries.size(), 2 * kEdges);
  EXPECT_EQ(Sorted(forward), edges_);
  for (std::uint64_t batch = 0; batch < plain.batch_count(); ++batch) {
    EXPECT_EQ(grouped.PlaceOf(batch).window, plain.PlaceOf(batch).window);
    EXPECT_EQ(grouped.PlaceOf(batch).first, 2 * plain.PlaceOf(batch).first);
    EXPECT_EQ(grouped.PlaceOf(batch).edges, 2 * plain.PlaceOf(batch).edges);
  }
}

TEST_F(EpochOrderTest, TheLastWindowHasTheRest) {
  const CellReader cells = Open();
  EpochOrder order(cells, 1, 10, 995);  // whole batches
  order.SetEpoch(0, plan_);
  ASSERT_EQ(order.window_count(), 4U);
  EXPECT_EQ(order.batch_count(), 301U);
  std::vector<Edge> window;
  ASSERT_OK(order.ReadWindow(2, window));
  EXPECT_EQ(window.size(), 1000U);
  ASSERT_OK(order.ReadWindow(3, window));
  EXPECT_EQ(window.size(), 1U);
  EXPECT_EQ(order.PlaceOf(299).window, 2U);
  EXPECT_EQ(order.PlaceOf(299).first, 990U);
  EXPECT_EQ(order.PlaceOf(300).window, 3U);
  EXPECT_EQ(order.PlaceOf(300).edges, 1U);
}

TEST_F(EpochOrderTest, IsAPureFunctionOfSeedAndEpoch) {
  const CellReader cells = Open();
  EpochOrder order(cells, 42, 1, 700);
  order.SetEpoch(5, plan_);
  const std::vector<Edge> fifth = Epoch(order);
  order.SetEpoch(2, plan_);
  const std::vector<Edge> second = Epoch(order);
  EXPECT_EQ(Epoch(order), second) << "reading changes nothing";
  order.SetEpoch(5, plan_);
  EXPECT_EQ(Epoch(order), fifth) << "whatever was before";
  EpochOrder other(cells, 42, 1, 700);
  other.SetEpoch(5, plan_);
  std::vector<Edge> window;
  ASSERT_OK(other.ReadWindow(3, window));  // windows in any order
  EXPECT_TRUE(std::equal(window.begin(), window.end(), fifth.begin() + 3 * 700));
  ASSERT_OK(other.ReadWindow(1, window));
  EXPECT_TRUE(std::equal(window.begin(), window.end(), fifth.begin() + 700));
}

TEST_F(EpochOrderTest, EpochsAndSeedsDiffer) {
  const CellReader cells = Open();
  EpochOrder order(cells, 42, 1, 700);
  std::vector<std::vector<Edge>> seen;
  for (const std::uint64_t epoch : {0U, 1U, 2U}) {
    order.SetEpoch(epoch, plan_);
    seen.push_back(Epoch(order));
  }
  EpochOrder other(cells, 43, 1, 700);
  other.SetEpoch(0, plan_);
  seen.push_back(Epoch(other));
  seen.push_back(edges_);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(seen[i], seen[j]) << i << " " << j;
  }
}

// Not only the order inside a window but the blocks that it gets change with each epoch and seed.
TEST_F(EpochOrderTest, WindowsHoldOtherEdgesInOtherEpochs) {
  const CellReader cells = Open();
  std::vector<std::vector<Edge>> seen;
  for (const std::uint64_t seed : {42U, 43U}) {
    EpochOrder order(cells, seed, 1, 700);
    for (const std::uint64_t epoch : {0U, 1U}) {
      order.SetEpoch(epoch, plan_);
      std::vector<Edge> window;
      ASSERT_OK(order.ReadWindow(0, window));
      seen.push_back(Sorted(window));
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(seen[i], seen[j]) << i << " " << j;
  }
}

TEST_F(EpochOrderTest, AWindowMixesManyCells) {
  const CellReader cells = Open();
  EpochOrder order(cells, 42, 1, 1000);
  order.SetEpoch(0, plan_);
  std::vector<Edge> window;
  ASSERT_OK(order.ReadWindow(0, window));
  // Ten blocks of 100, shuffled: neighbours of one block would agree in their cell nearly always.
  int same = 0;
  for (std::size_t i = 1; i < window.size(); ++i) {
    same += Value(window[i].head) / 1024 == Value(window[i - 1].head) / 1024 &&
                    Value(window[i].tail) / 1024 == Value(window[i - 1].tail) / 1024
                ? 1
                : 0;
  }
  EXPECT_LT(same, 500);
}

TEST_F(EpochOrderTest, CountsTheBytesOfBlocks) {
  const CellReader cells = Open();
  EpochOrder order(cells, 42, 1, 1 << 20);
  order.SetEpoch(0, plan_);
  EXPECT_EQ(order.bytes_read(), 0U);
  Epoch(order);
  EXPECT_EQ(order.bytes_read(), kEdges * 16);
}

TEST_F(EpochOrderTest, AnEpochWithoutEdgesHasNoWindows) {
  WriteSmallCells(folder_ / "empty.cells", {.node_count = 10}, {});
  const absl::StatusOr<CellReader> cells = CellReader::Open(folder_ / "empty.cells");
  ASSERT_OK(cells);
  EpochOrder order(*cells, 1, 1, 100);
  EXPECT_EQ(order.window_count(), 0U);
  order.SetEpoch(3, WholePlan(*cells));
  EXPECT_EQ(order.window_count(), 0U);
  EXPECT_EQ(order.batch_count(), 0U);
}

TEST_F(EpochOrderTest, AHarmedBlockIsAnErrorThatNamesTheFile) {
  const CellReader cells = Open();
  FlipByte(path_, 4096 + 500);
  EpochOrder order(cells, 42, 1, 1 << 20);
  order.SetEpoch(0, plan_);
  std::vector<Edge> window;
  EXPECT_ERROR(order.ReadWindow(0, window), kCorrupt, "train.cells");
  FlipByte(path_, 4096 + 500);
  ASSERT_OK(order.ReadWindow(0, window));
  EXPECT_EQ(Sorted(window), edges_);
}

// Every edge once, in the state that the plan gives its cell to, whatever the division; batches stay in their state.
TEST_F(EpochOrderTest, StatesTrainTheirCells) {
  const CellReader cells = Open();
  for (const PartitionShape shape : {PartitionShape{3, 2}, PartitionShape{2, 2}, PartitionShape{3, 3}}) {
    for (const BucketOrder kind : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
      EpochPlanner planner(3, shape, kind, 5);
      EpochOrder order(cells, 42, 50, 120);  // windows of three batches
      for (const std::uint64_t epoch : {0U, 1U}) {
        const EpochPlan& plan = planner.Plan(epoch);
        order.SetEpoch(epoch, plan);
        std::vector<Edge> all;
        std::vector<Edge> window;
        std::uint64_t read = ~std::uint64_t{0};
        for (std::uint64_t batch = 0; batch < order.batch_count(); ++batch) {
          const std::size_t state = order.StateOf(batch);
          EXPECT_GE(batch, order.FirstBatch(state));
          EXPECT_LT(batch, order.FirstBatch(state + 1));
          const EpochOrder::BatchPlace place = order.PlaceOf(batch);
          if (read != place.window) {
            ASSERT_OK(order.ReadWindow(place.window, window));
          }
          read = place.window;
          ASSERT_LE(place.first + place.edges, window.size());
          EXPECT_TRUE(place.edges == 50 || batch + 1 == order.FirstBatch(state + 1));
          for (std::uint64_t i = place.first; i < place.first + place.edges; ++i) {
            const CellId cell{static_cast<PartitionId>(Value(window[i].head) / 1024),
                              static_cast<PartitionId>(Value(window[i].tail) / 1024)};
            ASSERT_TRUE(std::ranges::binary_search(plan.states[state].cells, cell));
            all.push_back(window[i]);
          }
        }
        EXPECT_EQ(Sorted(all), edges_);
        EXPECT_EQ(order.FirstBatch(plan.states.size()), order.batch_count());
      }
    }
  }
}

}  // namespace
}  // namespace octavo
