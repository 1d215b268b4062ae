// Prefetchers started, swapped, destroyed and stopped at every moment, for the thread sanitizer.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "prefetch/batch_prefetcher.h"
#include "prefetch/double_buffered_prefetcher.h"
#include "tests/races/race.h"
#include "tests/support/expect_status.h"
#include "tests/support/small_cells.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_plan.h"

namespace octavo {
namespace {

TEST(PrefetchRace, AnyOrderOfCallsKeepsTheBuffersApart) {
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  for (const Clock::time_point end = Clock::now() + kRaceDuration; Clock::now() < end;) {
    DoubleBufferedPrefetcher<std::vector<std::uint64_t>> prefetcher(
        [](std::uint64_t item, std::vector<std::uint64_t>& buffer) {
          buffer.assign(64, item);
          return item % 7 == 6 ? absl::InternalError("asked for") : absl::OkStatus();
        });
    std::uint64_t front = 0;
    constexpr std::uint64_t kNothing = 1000;
    std::uint64_t asked = kNothing;  // to be prefetched
    ASSERT_OK(prefetcher.Load(0));
    for (std::uint64_t i = random.Below(40); i > 0; --i) {
      const std::uint64_t item = random.Below(100);
      switch (random.Below(6)) {
        case 0:
          if (prefetcher.Load(item).ok()) front = item;
          asked = kNothing;
          break;
        case 1:
          prefetcher.Discard();
          asked = kNothing;
          break;
        case 2:
          static_cast<void>(prefetcher.BackReady());
          static_cast<void>(prefetcher.TakeFillAndStallSeconds());
          break;
        case 3:
          ASSERT_EQ(prefetcher.PrefetchAsync(item).ok(), asked == kNothing);
          if (asked == kNothing) asked = item;
          break;
        default: {
          const bool swapped = prefetcher.Swap().ok();
          ASSERT_EQ(swapped, asked != kNothing && asked % 7 != 6);
          if (swapped) front = asked;
          asked = kNothing;
        }
      }
      ASSERT_EQ(prefetcher.Front(), std::vector<std::uint64_t>(64, front));
    }
    // Destroyed in any state.
  }
}

TEST(PrefetchRace, BatchesBesideTheReader) {
  const TemporaryFolder folder;
  WriteSmallCells(folder / "train.cells",
                  {.node_count = 2500, .relation_count = 3, .has_weights = true, .block_edges = 64},
                  DistinctEdges(2000, 2500, 3));
  ASSERT_OK_AND_ASSIGN(const CellReader cells, CellReader::Open(folder / "train.cells"));
  RandomStream random(2, RandomPurpose::kSplit, 0, 0);
  for (const Clock::time_point end = Clock::now() + kRaceDuration; Clock::now() < end;) {
    const OrderSettings settings{
        .seed = 5, .batch_edges = 50, .inverse_offset = {}, .pool_edges = 400, .window_edges = 150};
    BatchPrefetcher batches(cells, settings, PrefetchMode::kOn);
    const EpochPlan plan = WholePlan(cells);
    std::uint64_t epoch = 0;
    for (int i = 0; i < 3; ++i) {
      batches.BeginEpoch(epoch, plan, random.Below(4) == 0 ? nullptr : &plan);
      double sum = 0;
      const std::uint64_t stop = random.Below(60);
      for (std::uint64_t batch = 0; batch < batches.BatchCount() && batch < stop; ++batch) {
        ASSERT_OK(batches.Advance(batch));
        for (const Edge& edge : batches.Batch()) sum += edge.weight;
        if (random.Below(9) == 0) static_cast<void>(batches.TakeCounts());
      }
      EXPECT_TRUE(stop < batches.BatchCount() || sum == 1999.0 * 2000 / 2) << sum;
      epoch += 1 + random.Below(4) / 3;  // mostly the next one, as promised
    }
  }
}

}  // namespace
}  // namespace octavo
