#include "prefetch/batch_prefetcher.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fmt/format.h"
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

constexpr std::uint64_t kBatchedEdges = 1050;  // ten batches of 100, and one of 50
constexpr std::uint64_t kBatches = 11;
constexpr std::uint64_t kBatch = 100;
constexpr std::uint64_t kPool = 500;    // so pools of 5, 5 and 1 batches
constexpr std::uint64_t kWindow = 200;  // in windows of 2, 2, 1; 2, 2, 1; and 1
constexpr std::uint64_t kWindows = 7;
constexpr PrefetchMode kModes[] = {PrefetchMode::kOff, PrefetchMode::kOn, PrefetchMode::kAuto};

class BatchPrefetcherTest : public ::testing::Test {
 protected:
  BatchPrefetcherTest() {
    WriteSmallCells(path_, {.node_count = 2500, .relation_count = 3, .has_weights = true, .block_edges = 64},
                    DistinctEdges(kBatchedEdges, 2500, 3));
    absl::StatusOr<CellReader> cells = CellReader::Open(path_);
    EXPECT_OK(cells);
    cells_.push_back(*std::move(cells));
    plan_ = WholePlan(cells_[0]);
  }
  ~BatchPrefetcherTest() override { EXPECT_OK(SetFailpoints("")); }
  static OrderSettings Settings(std::optional<std::uint32_t> inverse_offset = {}) {
    return {.seed = 9,
            .batch_edges = kBatch,
            .inverse_offset = inverse_offset,
            .pool_edges = kPool,
            .window_edges = kWindow};
  }
  BatchPrefetcher Make(PrefetchMode mode, std::optional<std::uint32_t> inverse_offset = {}) const {
    return BatchPrefetcher(cells_[0], Settings(inverse_offset), mode);
  }
  std::vector<NaiveBatch> Expected(std::uint64_t epoch, const EpochPlan& plan,
                                   std::optional<std::uint32_t> inverse_offset = {}) const {
    return NaiveBatches(cells_[0], 9, kBatch, kPool, inverse_offset, epoch, plan);
  }
  static std::vector<Edge> Batch(const BatchPrefetcher& batches) {
    return {batches.Batch().begin(), batches.Batch().end()};
  }
  // Advances through batches [from, to) and compares them.
  static void ExpectBatches(BatchPrefetcher& batches, const std::vector<NaiveBatch>& expected, std::uint64_t from,
                            std::uint64_t to) {
    for (std::uint64_t batch = from; batch < to; ++batch) {
      ASSERT_OK(batches.Advance(batch));
      ASSERT_EQ(Batch(batches), expected[batch].edges) << batch;
    }
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "train.cells";
  std::vector<CellReader> cells_;  // one
  EpochPlan plan_;
};

TEST_F(BatchPrefetcherTest, CountsAShortLastBatch) {
  for (const auto& [batch, count] : {std::pair{100U, 11U}, {1050U, 1U}, {1051U, 1U}, {1049U, 2U}}) {
    BatchPrefetcher batches(cells_[0], {.seed = 1, .batch_edges = batch, .inverse_offset = {}}, PrefetchMode::kOff);
    batches.BeginEpoch(0, plan_, nullptr);
    EXPECT_EQ(batches.BatchCount(), count);
    ASSERT_OK(batches.Advance(count - 1));
    EXPECT_EQ(batches.Batch().size(), kBatchedEdges - (count - 1) * batch);
  }
}

TEST_F(BatchPrefetcherTest, EveryModeGivesTheNaiveBatchesOfEpochAfterEpoch) {
  for (const PrefetchMode mode : kModes) {
    for (const bool next_is_known : {false, true}) {
      for (const auto& inverse_offset : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(3)}) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(mode) << next_is_known << inverse_offset.has_value());
        BatchPrefetcher batches = Make(mode, inverse_offset);
        for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
          batches.BeginEpoch(epoch, plan_, next_is_known ? &plan_ : nullptr);
          EXPECT_TRUE(batches.Batch().empty()) << "no batch is current";
          ASSERT_EQ(batches.BatchCount(), kBatches);
          ExpectBatches(batches, Expected(epoch, plan_, inverse_offset), 0, kBatches);
        }
      }
    }
  }
}

TEST_F(BatchPrefetcherTest, EveryModeGivesTheNaiveBatchesOfStates) {
  for (const PrefetchMode mode : kModes) {
    EpochPlanner planner(3, {3, 2}, BucketOrder::kBeta, 5);
    BatchPrefetcher batches = Make(mode);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const EpochPlan plan = planner.Plan(epoch);
      batches.BeginEpoch(epoch, plan, &planner.Plan(epoch + 1));
      const std::vector<NaiveBatch> expected = Expected(epoch, plan);
      ASSERT_EQ(batches.BatchCount(), expected.size());
      for (std::uint64_t batch = 0; batch < expected.size(); ++batch) {
        EXPECT_EQ(batches.StateOf(batch), expected[batch].state);
      }
      ExpectBatches(batches, expected, 0, expected.size());
    }
  }
}

// As a resume does.
TEST_F(BatchPrefetcherTest, BeginsInTheMiddleOfAnEpoch) {
  for (const PrefetchMode mode : kModes) {
    for (std::uint64_t from = 0; from < kBatches; ++from) {
      BatchPrefetcher batches = Make(mode);
      batches.BeginEpoch(1, plan_, &plan_);
      ExpectBatches(batches, Expected(1, plan_), from, kBatches);
      batches.BeginEpoch(2, plan_, nullptr);
      ExpectBatches(batches, Expected(2, plan_), 0, kBatches);
    }
  }
}

TEST_F(BatchPrefetcherTest, AnyJumpIsRight) {
  for (const PrefetchMode mode : kModes) {
    BatchPrefetcher batches = Make(mode);
    batches.BeginEpoch(4, plan_, &plan_);
    const auto expected = Expected(4, plan_);
    for (const std::uint64_t batch : {10U, 0U, 9U, 3U, 4U, 6U, 1U, 1U, 10U}) {
      ASSERT_OK(batches.Advance(batch));
      EXPECT_EQ(Batch(batches), expected[batch].edges) << batch;
    }
  }
}

TEST_F(BatchPrefetcherTest, OutOfRangeIsAnErrorAndLeavesTheBatch) {
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  batches.BeginEpoch(0, plan_, nullptr);
  ASSERT_OK(batches.Advance(1));
  for (const std::uint64_t batch : {kBatches, kBatches + 1, std::numeric_limits<std::uint64_t>::max()}) {
    const absl::Status status = batches.Advance(batch);
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_NE(std::string(MessageOf(status)).find("of 11"), std::string::npos);
  }
  EXPECT_EQ(Batch(batches), Expected(0, plan_)[1].edges);
}

TEST_F(BatchPrefetcherTest, AllWindowsButTheFirstArePrefetchedAcrossEpochsToo) {
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    batches.BeginEpoch(epoch, plan_, &plan_);
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) ASSERT_OK(batches.Advance(batch));
    const FetchCounts counts = batches.TakeCounts();
    EXPECT_EQ(counts.windows, kWindows);
    EXPECT_EQ(counts.prefetched_windows, epoch == 0 ? kWindows - 1 : kWindows);
    EXPECT_GT(counts.fetch_seconds, 0.0);
    // Those of this epoch, though some of the next one was read. Blocks where a pool ends are read twice.
    EXPECT_GE(counts.read_bytes, kBatchedEdges * 16);
    EXPECT_LE(counts.read_bytes, (kBatchedEdges + 2 * 64) * 16);
  }
  batches.BeginEpoch(3, plan_, nullptr);
  ASSERT_OK(batches.Advance(0));
  EXPECT_EQ(batches.TakeCounts().prefetched_windows, 1U);
  EXPECT_EQ(batches.TakeCounts().windows, 0U) << "taken once";
}

TEST_F(BatchPrefetcherTest, ModeOffPrefetchesNothing) {
  BatchPrefetcher batches = Make(PrefetchMode::kOff);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    batches.BeginEpoch(epoch, plan_, &plan_);
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) ASSERT_OK(batches.Advance(batch));
    const FetchCounts counts = batches.TakeCounts();
    EXPECT_EQ(counts.windows, kWindows);
    EXPECT_EQ(counts.prefetched_windows, 0U);
    EXPECT_EQ(counts.fetch_seconds, counts.stall_seconds);
  }
}

// Each of the 11 batches trains for 20 ms, and reading a window takes a fraction of a millisecond. Several epochs, as a
// busy machine can make a read slow.
TEST_F(BatchPrefetcherTest, ModeAutoStopsWhereReadingTakesNoTime) {
  BatchPrefetcher batches = Make(PrefetchMode::kAuto);
  std::uint64_t prefetched = kWindows;
  for (std::uint64_t epoch = 0; epoch < 20 && prefetched + 1 >= kWindows; ++epoch) {
    batches.BeginEpoch(epoch, plan_, &plan_);
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
      ASSERT_OK(batches.Advance(batch));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    prefetched = batches.TakeCounts().prefetched_windows;
  }
  EXPECT_LT(prefetched + 1, kWindows);
}

TEST_F(BatchPrefetcherTest, ModeAutoPrefetchesWhereTrainingTakesNoTime) {
  BatchPrefetcher batches = Make(PrefetchMode::kAuto);
  batches.BeginEpoch(0, plan_, &plan_);
  for (std::uint64_t batch = 0; batch < kBatches; ++batch) ASSERT_OK(batches.Advance(batch));
  EXPECT_EQ(batches.TakeCounts().prefetched_windows, kWindows - 1);
}

TEST_F(BatchPrefetcherTest, AnotherPlanOrEpochThanPromisedDiscardsWhatWasReadAhead) {
  // The first pools of both plans are of several windows, so that they stay in memory.
  const EpochPlan divided = EpochPlanner(3, {3, 2}, BucketOrder::kBeta, 5).Plan(0);
  ASSERT_GT(EpochOrder(cells_[0], Settings(), 1, divided).PlaceOfWindow(0).pool_entries, kWindow);
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  const auto expect_epoch = [&](std::uint64_t epoch, const EpochPlan& plan, const EpochPlan* next) {
    batches.BeginEpoch(epoch, plan, next);
    ExpectBatches(batches, Expected(epoch, plan), 0, batches.BatchCount());
  };
  expect_epoch(0, plan_, &plan_);
  expect_epoch(1, divided, nullptr);   // plan_ was promised
  expect_epoch(1, plan_, &plan_);      // nothing was promised
  expect_epoch(1, divided, &divided);  // the same epoch again, as epoch 2 was promised
  expect_epoch(7, plan_, nullptr);
}

TEST_F(BatchPrefetcherTest, AnEpochThatIsLeftEarlyDoesNotHarmTheNext) {
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    batches.BeginEpoch(epoch, plan_, &plan_);
    ExpectBatches(batches, Expected(epoch, plan_), 0, epoch + 1);  // has asked for another window
  }
}

TEST_F(BatchPrefetcherTest, AReadErrorSurfacesAtItsWindowAndTheBatchStays) {
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  batches.BeginEpoch(0, plan_, &plan_);
  const auto expected = Expected(0, plan_);
  // The first pool has 8 or 9 blocks, so this is in the second, and read in the background.
  ASSERT_OK(SetFailpoints("file.read:12=eio"));
  ExpectBatches(batches, expected, 0, 5);
  EXPECT_ERROR(batches.Advance(5), kRuntime, "failpoint");
  EXPECT_EQ(Batch(batches), expected[4].edges);
  ASSERT_OK(SetFailpoints("file.read=eio"));
  EXPECT_ERROR(batches.Advance(5), kRuntime, "failpoint");
  EXPECT_EQ(Batch(batches), expected[4].edges);
  ASSERT_OK(SetFailpoints(""));
  ExpectBatches(batches, expected, 5, kBatches);
}

TEST_F(BatchPrefetcherTest, AReadErrorOfTheNextEpochSurfacesThere) {
  const EpochOrder order(cells_[0], Settings(), 0, plan_);
  std::size_t reads = 0;
  for (const std::uint64_t pool : {0U, 1U, 2U}) reads += order.PartsOfPool(pool).size();
  const auto expected = Expected(0, plan_);
  BatchPrefetcher batches = Make(PrefetchMode::kOn);
  batches.BeginEpoch(0, plan_, &plan_);
  ASSERT_OK(SetFailpoints(fmt::format("file.read:{}=eio", reads + 1)));  // the first of epoch 1
  ExpectBatches(batches, expected, 0, kBatches);
  batches.BeginEpoch(1, plan_, nullptr);
  EXPECT_ERROR(batches.Advance(0), kRuntime, "failpoint");
  ExpectBatches(batches, Expected(1, plan_), 0, kBatches);
}

TEST_F(BatchPrefetcherTest, AHarmedBlockSurfacesInEveryMode) {
  FlipByte(path_, 4096 + 700);
  for (const PrefetchMode mode : kModes) {
    BatchPrefetcher batches = Make(mode);
    batches.BeginEpoch(0, plan_, nullptr);
    absl::Status status;
    for (std::uint64_t batch = 0; batch < batches.BatchCount() && status.ok(); ++batch) status = batches.Advance(batch);
    EXPECT_ERROR(status, kCorrupt, "train.cells");
  }
}

TEST_F(BatchPrefetcherTest, DestructionDuringAPrefetchIsClean) {
  for (int i = 0; i < 20; ++i) {
    BatchPrefetcher batches = Make(PrefetchMode::kOn);
    batches.BeginEpoch(0, plan_, &plan_);
    ASSERT_OK(batches.Advance(i % 2 == 0 ? 0 : kBatches - 1));
  }
}

TEST_F(BatchPrefetcherTest, NoEdgesHaveNoBatches) {
  WriteSmallCells(folder_ / "empty.cells", {.node_count = 10}, {});
  ASSERT_OK_AND_ASSIGN(const CellReader cells, CellReader::Open(folder_ / "empty.cells"));
  BatchPrefetcher batches(cells, Settings(), PrefetchMode::kOn);
  const EpochPlan plan = WholePlan(cells);
  for (const std::uint64_t epoch : {0U, 1U}) {
    batches.BeginEpoch(epoch, plan, &plan);
    EXPECT_EQ(batches.BatchCount(), 0U);
    EXPECT_EQ(batches.Advance(0).code(), absl::StatusCode::kOutOfRange);
  }
}

TEST(BatchPrefetcherMostBytes, APoolAndTwoWindowsOrTwoPools) {
  OrderSettings settings{
      .seed = 1, .batch_edges = 100, .inverse_offset = {}, .pool_edges = 10'000, .window_edges = 950};
  EXPECT_EQ(BatchPrefetcher::MostBytes(settings, 1'000'000), (10'000 + 2 * 1000) * sizeof(Edge));
  EXPECT_EQ(BatchPrefetcher::MostBytes(settings, 5'001), (5'001 + 2 * 1000) * sizeof(Edge));
  EXPECT_EQ(BatchPrefetcher::MostBytes(settings, 500), 2 * 500 * sizeof(Edge)) << "no copy of a pool of one window";
  EXPECT_EQ(BatchPrefetcher::MostBytes(settings, 0), 0U);
  settings.inverse_offset = 0;  // two entries per edge, each with a sort key
  EXPECT_EQ(BatchPrefetcher::MostBytes(settings, 1'000'000),
            2 * ((10'000 + 2 * 1000) * sizeof(Edge) + 10'000 * (sizeof(Edge) + 8)));
}

}  // namespace
}  // namespace octavo
