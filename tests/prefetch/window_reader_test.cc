#include "prefetch/window_reader.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/naive_order.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_plan.h"

namespace octavo {
namespace {

constexpr std::uint64_t kEdges = 3001;
constexpr std::uint64_t kEdgeBytes = 16;

class WindowReaderTest : public ::testing::Test {
 protected:
  WindowReaderTest() {
    WriteSmallCells(path_, {.node_count = 2500, .relation_count = 3, .has_weights = true, .block_edges = 100}, edges_);
    absl::StatusOr<CellReader> cells = CellReader::Open(path_);
    EXPECT_OK(cells);
    cells_.push_back(*std::move(cells));
    plan_ = WholePlan(cells_[0]);
  }
  ~WindowReaderTest() override { EXPECT_OK(SetFailpoints("")); }
  const CellReader& cells() const { return cells_[0]; }
  static std::vector<Edge> All(WindowReader& reader, const EpochOrder& order) {
    std::vector<Edge> all;
    EdgeWindow window;
    for (std::uint64_t w = 0; w < order.window_count(); ++w) {
      EXPECT_OK(reader.Read(order, w, window));
      EXPECT_EQ(window.edges.size(), order.PlaceOfWindow(w).entries);
      all.insert(all.end(), window.edges.begin(), window.edges.end());
    }
    return all;
  }
  std::vector<Edge> Expected(const OrderSettings& settings, std::uint64_t epoch, const EpochPlan& plan) const {
    std::vector<Edge> all;
    for (const NaiveBatch& batch : NaiveBatches(cells(), settings.seed, settings.batch_edges, settings.pool_edges,
                                                settings.inverse_offset, epoch, plan)) {
      all.insert(all.end(), batch.edges.begin(), batch.edges.end());
    }
    return all;
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "train.cells";
  const std::vector<Edge> edges_ = DistinctEdges(kEdges, 2500, 3);
  std::vector<CellReader> cells_;  // one
  EpochPlan plan_;
};

TEST_F(WindowReaderTest, TheOrderIsTheNaiveOneWhateverTheWindow) {
  EpochPlanner planner(3, {3, 2}, BucketOrder::kBeta, 5);
  const EpochPlan divided = planner.Plan(0);
  for (const EpochPlan* plan : {static_cast<const EpochPlan*>(&plan_), &divided}) {
    for (const auto& inverse_offset : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(3)}) {
      for (const std::uint64_t pool : {100U, 700U, 4000U}) {
        for (const std::uint64_t window : {50U, 150U, 350U, 5000U}) {
          SCOPED_TRACE(::testing::Message() << pool << " " << window << " " << inverse_offset.has_value());
          const OrderSettings settings{.seed = 42,
                                       .batch_edges = 50,
                                       .inverse_offset = inverse_offset,
                                       .pool_edges = pool,
                                       .window_edges = window};
          WindowReader reader(cells(), settings);
          for (const std::uint64_t epoch : {0U, 7U}) {
            const EpochOrder order(cells(), settings, epoch, *plan);
            ASSERT_EQ(All(reader, order), Expected(settings, epoch, *plan));
          }
        }
      }
    }
  }
}

TEST_F(WindowReaderTest, WindowsComeInAnyOrderAndAreTheSame) {
  const OrderSettings settings{
      .seed = 42, .batch_edges = 10, .inverse_offset = {}, .pool_edges = 700, .window_edges = 100};
  WindowReader reader(cells(), settings);
  const EpochOrder first(cells(), settings, 0, plan_);
  const EpochOrder second(cells(), settings, 1, plan_);
  std::vector<std::vector<Edge>> expected;
  EdgeWindow window;
  for (const EpochOrder* order : {&first, &second}) {
    for (std::uint64_t w = 0; w < order->window_count(); ++w) {
      ASSERT_OK(reader.Read(*order, w, window));
      expected.push_back(window.edges);
    }
  }
  for (const std::uint64_t w : {30U, 0U, 7U, 6U, 6U, 29U, 28U, 1U}) {
    ASSERT_OK(reader.Read(first, w, window));
    EXPECT_EQ(window.edges, expected[w]) << w;
    ASSERT_OK(reader.Read(second, w, window));
    EXPECT_EQ(window.edges, expected[first.window_count() + w]) << w;
  }
}

TEST_F(WindowReaderTest, APoolMixesManyCells) {
  const OrderSettings settings{
      .seed = 42, .batch_edges = 1, .inverse_offset = {}, .pool_edges = 1000, .window_edges = 200};
  WindowReader reader(cells(), settings);
  EdgeWindow window;
  ASSERT_OK(reader.Read(EpochOrder(cells(), settings, 0, plan_), 0, window));
  // Of ten blocks of 100, shuffled: neighbours of one block would agree in their cell nearly always.
  int same = 0;
  for (std::size_t i = 1; i < window.edges.size(); ++i) {
    same += Value(window.edges[i].head) / 1024 == Value(window.edges[i - 1].head) / 1024 &&
                    Value(window.edges[i].tail) / 1024 == Value(window.edges[i - 1].tail) / 1024
                ? 1
                : 0;
  }
  EXPECT_LT(same, 100);
}

TEST_F(WindowReaderTest, APoolIsReadOnceAndCountedWithItsFirstWindow) {
  for (const std::uint64_t window_edges : {200U, 1000U}) {
    const OrderSettings settings{
        .seed = 42, .batch_edges = 100, .inverse_offset = {}, .pool_edges = 1000, .window_edges = window_edges};
    WindowReader reader(cells(), settings);
    const EpochOrder order(cells(), settings, 0, plan_);
    std::uint64_t bytes = 0;
    for (std::uint64_t w = 0; w < order.window_count(); ++w) {
      EdgeWindow window;
      ASSERT_OK(reader.Read(order, w, window));
      EXPECT_EQ(window.read_bytes > 0, order.PlaceOfWindow(w).first == 0) << w;
      EXPECT_GE(window.seconds, 0.0);
      bytes += window.read_bytes;
    }
    // A block where a pool ends is read twice.
    EXPECT_GE(bytes, kEdges * kEdgeBytes);
    EXPECT_LE(bytes, (kEdges + 3 * 100) * kEdgeBytes);
  }
}

TEST_F(WindowReaderTest, ForgetsAPoolOfAnotherPlan) {
  const OrderSettings settings{
      .seed = 42, .batch_edges = 10, .inverse_offset = {}, .pool_edges = 700, .window_edges = 100};
  WindowReader reader(cells(), settings);
  EdgeWindow window;
  ASSERT_OK(reader.Read(EpochOrder(cells(), settings, 0, plan_), 0, window));
  EpochPlanner divided(3, {3, 2}, BucketOrder::kBeta, 5);
  const EpochOrder other(cells(), settings, 0, divided.Plan(0));
  reader.Forget();
  EXPECT_EQ(All(reader, other), Expected(settings, 0, divided.Plan(0)));
}

TEST_F(WindowReaderTest, AHarmedBlockIsAnErrorThatNamesTheFileAndNothingIsKept) {
  for (const std::uint64_t window_edges : {std::uint64_t{100}, std::numeric_limits<std::uint64_t>::max()}) {
    const OrderSettings settings{
        .seed = 42, .batch_edges = 100, .inverse_offset = {}, .pool_edges = 4000, .window_edges = window_edges};
    const EpochOrder order(cells(), settings, 0, plan_);
    WindowReader reader(cells(), settings);
    EdgeWindow window;
    FlipByte(path_, 4096 + 500);
    EXPECT_ERROR(reader.Read(order, 0, window), kCorrupt, "train.cells");
    FlipByte(path_, 4096 + 500);
    EXPECT_EQ(All(reader, order),
              Expected({.seed = 42, .batch_edges = 100, .inverse_offset = {}, .pool_edges = 4000}, 0, plan_));
  }
}

TEST_F(WindowReaderTest, AFailedReadLosesThePoolThatWasThere) {
  const OrderSettings settings{
      .seed = 42, .batch_edges = 100, .inverse_offset = {}, .pool_edges = 700, .window_edges = 100};
  const EpochOrder order(cells(), settings, 0, plan_);
  WindowReader reader(cells(), settings);
  EdgeWindow window;
  ASSERT_OK(reader.Read(order, 1, window));
  const std::vector<Edge> expected = window.edges;
  ASSERT_OK(SetFailpoints("file.read:3=eio"));  // the pool is half overwritten
  EXPECT_ERROR(reader.Read(order, 8, window), kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  ASSERT_OK(reader.Read(order, 1, window));
  EXPECT_EQ(window.edges, expected);
  EXPECT_GT(window.read_bytes, 0U);
}

}  // namespace
}  // namespace octavo
