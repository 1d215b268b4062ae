#include "prefetch/batch_prefetcher.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_plan.h"

namespace octavo {
namespace {

constexpr std::uint64_t kEdges = 1050;  // ten batches of 100, and one of 50
constexpr std::uint64_t kBatch = 100;
constexpr std::uint64_t kWindow = 250;  // rounded to three batches

class BatchPrefetcherTest : public ::testing::Test {
 protected:
  BatchPrefetcherTest() {
    WriteSmallCells(path_, {.node_count = 2500, .relation_count = 3, .has_weights = true, .block_edges = 64},
                    DistinctEdges(kEdges, 2500, 3));
    absl::StatusOr<CellReader> cells = CellReader::Open(path_);
    EXPECT_OK(cells);
    cells_.push_back(*std::move(cells));
    plan_ = WholePlan(cells_[0]);
  }
  BatchPrefetcher Make(PrefetchMode mode = PrefetchMode::kOff, std::uint64_t seed = 9) const {
    return BatchPrefetcher(cells_[0], seed, kBatch, kWindow, mode);
  }
  // The oracle: the epoch's order, cut into batches.
  std::vector<std::vector<Edge>> Expected(std::uint64_t epoch) const {
    EpochOrder order(cells_[0], 9, kBatch, kWindow);
    order.SetEpoch(epoch, plan_);
    std::vector<Edge> all;
    for (std::uint64_t w = 0; w < order.window_count(); ++w) {
      std::vector<Edge> window;
      EXPECT_OK(order.ReadWindow(w, window));
      all.insert(all.end(), window.begin(), window.end());
    }
    std::vector<std::vector<Edge>> batches;
    for (std::size_t begin = 0; begin < all.size(); begin += kBatch) {
      batches.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(begin),
                           all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kBatch, all.size())));
    }
    return batches;
  }
  static std::vector<Edge> Batch(const BatchPrefetcher& batches) {
    return {batches.Batch().begin(), batches.Batch().end()};
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "train.cells";
  std::vector<CellReader> cells_;  // one
  EpochPlan plan_;
};

TEST_F(BatchPrefetcherTest, CountsAShortLastBatch) {
  for (const auto& [batch, count] : {std::pair{100U, 11U}, {1050U, 1U}, {1051U, 1U}, {1049U, 2U}}) {
    BatchPrefetcher batches(cells_[0], 1, batch, 1, PrefetchMode::kOff);
    EXPECT_EQ(batches.BatchCount(), 0U) << "no epoch yet";
    batches.BeginEpoch(0, plan_);
    EXPECT_EQ(batches.BatchCount(), count);
  }
  BatchPrefetcher batches = Make();
  batches.BeginEpoch(0, plan_);
  ASSERT_OK(batches.Load(10));
  EXPECT_EQ(batches.Batch().size(), 50U);
}

TEST_F(BatchPrefetcherTest, LoadsAnyBatchInAnyOrder) {
  BatchPrefetcher batches = Make();
  batches.BeginEpoch(4, plan_);
  const auto expected = Expected(4);
  for (const std::uint64_t batch : {0U, 10U, 3U, 4U, 2U, 2U, 9U, 0U}) {
    ASSERT_OK(batches.Load(batch));
    EXPECT_EQ(Batch(batches), expected[batch]) << batch;
  }
}

TEST_F(BatchPrefetcherTest, OutOfRangeIsAnErrorAndLeavesTheBatch) {
  BatchPrefetcher batches = Make();
  batches.BeginEpoch(0, plan_);
  ASSERT_OK(batches.Load(1));
  const std::vector<Edge> current = Batch(batches);
  for (const std::uint64_t batch : {std::uint64_t{11}, std::uint64_t{12}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(batches.Load(batch).code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(batches.PrefetchAsync(batch).code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(batches.Advance(batch).code(), absl::StatusCode::kOutOfRange);
    EXPECT_NE(std::string(MessageOf(batches.Load(batch))).find("of 11"), std::string::npos);
  }
  EXPECT_EQ(batches.Swap().code(), absl::StatusCode::kFailedPrecondition) << "nothing was started";
  EXPECT_EQ(Batch(batches), current);
}

TEST_F(BatchPrefetcherTest, PrefetchAndSwap) {
  BatchPrefetcher batches = Make();
  batches.BeginEpoch(1, plan_);
  const auto expected = Expected(1);
  ASSERT_OK(batches.Load(2));
  ASSERT_OK(batches.PrefetchAsync(7));
  EXPECT_EQ(Batch(batches), expected[2]);
  EXPECT_FALSE(batches.PrefetchAsync(8).ok()) << "one at a time";
  ASSERT_OK(batches.Swap());
  EXPECT_EQ(Batch(batches), expected[7]);
  EXPECT_EQ(batches.Swap().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Batch(batches), expected[7]);
  ASSERT_OK(batches.Load(6));  // of the same window: at hand
  EXPECT_EQ(Batch(batches), expected[6]);
}

TEST_F(BatchPrefetcherTest, LoadDuringAPrefetchGivesTheRightBatch) {
  BatchPrefetcher batches = Make();
  batches.BeginEpoch(1, plan_);
  const auto expected = Expected(1);
  ASSERT_OK(batches.PrefetchAsync(7));
  ASSERT_OK(batches.Load(0));
  EXPECT_EQ(Batch(batches), expected[0]);
  EXPECT_EQ(batches.Swap().code(), absl::StatusCode::kFailedPrecondition) << "the prefetch was thrown away";
  // A load of the front window leaves the prefetch alone.
  ASSERT_OK(batches.PrefetchAsync(10));
  ASSERT_OK(batches.Load(2));
  EXPECT_EQ(Batch(batches), expected[2]);
  ASSERT_OK(batches.Swap());
  EXPECT_EQ(Batch(batches), expected[10]);
}

TEST_F(BatchPrefetcherTest, AdvanceGivesTheSameBatchesInEveryMode) {
  for (const PrefetchMode mode : {PrefetchMode::kOff, PrefetchMode::kOn, PrefetchMode::kAuto}) {
    BatchPrefetcher batches = Make(mode);
    for (const std::uint64_t epoch : {0U, 1U, 2U}) {
      batches.BeginEpoch(epoch, plan_);
      const auto expected = Expected(epoch);
      for (std::uint64_t batch = 0; batch < expected.size(); ++batch) {
        ASSERT_OK(batches.Advance(batch));
        ASSERT_EQ(Batch(batches), expected[batch]) << epoch << " " << batch;
      }
    }
    // As a resume does: from the middle of an epoch.
    batches.BeginEpoch(1, plan_);
    const auto expected = Expected(1);
    for (std::uint64_t batch = 4; batch < expected.size(); ++batch) {
      ASSERT_OK(batches.Advance(batch));
      ASSERT_EQ(Batch(batches), expected[batch]);
    }
    // And any jump is right, prefetched or not.
    for (const std::uint64_t batch : {10U, 0U, 9U, 3U, 6U, 1U}) {
      ASSERT_OK(batches.Advance(batch));
      ASSERT_EQ(Batch(batches), expected[batch]);
    }
  }
}

TEST_F(BatchPrefetcherTest, ModeOnReadsEachWindowOnce) {
  for (const PrefetchMode mode : {PrefetchMode::kOff, PrefetchMode::kOn}) {
    BatchPrefetcher batches = Make(mode);
    batches.BeginEpoch(0, plan_);
    for (std::uint64_t batch = 0; batch < batches.BatchCount(); ++batch) ASSERT_OK(batches.Advance(batch));
    // Blocks at the borders of the four windows are read twice.
    EXPECT_GE(batches.BytesRead(), kEdges * 16);
    EXPECT_LE(batches.BytesRead(), (kEdges + 3 * 64) * 16);
    const auto [fetch, stall] = batches.TakeFetchAndStallSeconds();
    EXPECT_GT(fetch, 0.0);
    EXPECT_GT(stall, 0.0);
  }
}

TEST_F(BatchPrefetcherTest, BytesReadThrowsAPrefetchAwayAndAdvanceGoesOn) {
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  batches.BeginEpoch(0, plan_);
  const auto expected = Expected(0);
  for (std::uint64_t batch = 0; batch < batches.BatchCount(); ++batch) {
    ASSERT_OK(batches.Advance(batch));
    ASSERT_EQ(Batch(batches), expected[batch]);
    EXPECT_GT(batches.BytesRead(), 0U);
    ASSERT_EQ(Batch(batches), expected[batch]);
  }
}

TEST_F(BatchPrefetcherTest, BeginEpochThrowsThePrefetchAway) {
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  batches.BeginEpoch(0, plan_);
  ASSERT_OK(batches.Advance(0));  // has started window 1 of epoch 0
  batches.BeginEpoch(1, plan_);
  EXPECT_TRUE(batches.Batch().empty()) << "no batch is current";
  EXPECT_EQ(batches.Swap().code(), absl::StatusCode::kFailedPrecondition);
  const auto expected = Expected(1);
  for (const std::uint64_t batch : {3U, 0U}) {
    ASSERT_OK(batches.Advance(batch));
    EXPECT_EQ(Batch(batches), expected[batch]);
  }
}

TEST_F(BatchPrefetcherTest, AReadErrorSurfacesAtTheSwapAndTheFrontStays) {
  BatchPrefetcher batches = Make();
  batches.BeginEpoch(0, plan_);
  const auto expected = Expected(0);
  ASSERT_OK(batches.Load(0));
  ASSERT_OK(SetFailpoints("file.read=eio"));
  ASSERT_OK(batches.PrefetchAsync(5));
  EXPECT_ERROR(batches.Swap(), kRuntime, "failpoint");
  EXPECT_EQ(Batch(batches), expected[0]);
  ASSERT_OK(batches.Load(1));
  EXPECT_EQ(Batch(batches), expected[1]);
  ASSERT_OK(SetFailpoints("file.read=eio"));
  EXPECT_ERROR(batches.Load(5), kRuntime, "failpoint");
  EXPECT_EQ(Batch(batches), expected[1]);
  ASSERT_OK(SetFailpoints(""));
  ASSERT_OK(batches.Load(5));
  EXPECT_EQ(Batch(batches), expected[5]);
}

TEST_F(BatchPrefetcherTest, AHarmedBlockSurfacesInEveryMode) {
  FlipByte(path_, 4096 + 700);
  for (const PrefetchMode mode : {PrefetchMode::kOff, PrefetchMode::kOn, PrefetchMode::kAuto}) {
    BatchPrefetcher batches = Make(mode);
    batches.BeginEpoch(0, plan_);
    absl::Status status;
    for (std::uint64_t batch = 0; batch < batches.BatchCount() && status.ok(); ++batch) status = batches.Advance(batch);
    EXPECT_ERROR(status, kCorrupt, "train.cells");
  }
}

TEST_F(BatchPrefetcherTest, AdvanceCanBeTriedAgainAfterAnError) {
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  batches.BeginEpoch(0, plan_);
  const auto expected = Expected(0);
  ASSERT_OK(SetFailpoints("file.read:9=eio"));  // in window 1, on the prefetcher's thread
  absl::Status status;
  std::uint64_t batch = 0;
  for (; batch < 11 && status.ok(); ++batch) status = batches.Advance(batch);
  EXPECT_ERROR(status, kRuntime, "failpoint");
  ASSERT_OK(SetFailpoints(""));
  for (--batch; batch < 11; ++batch) {
    ASSERT_OK(batches.Advance(batch));
    ASSERT_EQ(Batch(batches), expected[batch]);
  }
}

TEST_F(BatchPrefetcherTest, AWindowLargerThanAnythingIsOneWindow) {
  BatchPrefetcher batches(cells_[0], 9, kBatch, std::numeric_limits<std::uint64_t>::max(), PrefetchMode::kOn);
  batches.BeginEpoch(0, plan_);
  EpochOrder order(cells_[0], 9, 1, kEdges);
  order.SetEpoch(0, plan_);
  std::vector<Edge> all;
  ASSERT_OK(order.ReadWindow(0, all));
  for (std::uint64_t batch = 0; batch < 11; ++batch) {
    ASSERT_OK(batches.Advance(batch));
    EXPECT_TRUE(std::equal(batches.Batch().begin(), batches.Batch().end(),
                           all.begin() + static_cast<std::ptrdiff_t>(batch * kBatch)));
  }
}

TEST_F(BatchPrefetcherTest, DestructionDuringAPrefetchIsClean) {
  for (int i = 0; i < 20; ++i) {
    BatchPrefetcher batches = Make(PrefetchMode::kOn);
    batches.BeginEpoch(0, plan_);
    ASSERT_OK(batches.Advance(0));
  }
}

TEST_F(BatchPrefetcherTest, NoEdgesHaveNoBatches) {
  WriteSmallCells(folder_ / "empty.cells", {.node_count = 10}, {});
  const absl::StatusOr<CellReader> cells = CellReader::Open(folder_ / "empty.cells");
  ASSERT_OK(cells);
  BatchPrefetcher batches(*cells, 1, 10, 10, PrefetchMode::kOn);
  batches.BeginEpoch(0, WholePlan(*cells));
  EXPECT_EQ(batches.BatchCount(), 0U);
  EXPECT_EQ(batches.Advance(0).code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace octavo
