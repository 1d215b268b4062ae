#include "prefetch/double_buffered_prefetcher.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Prefetcher = DoubleBufferedPrefetcher<std::vector<std::uint64_t>>;

absl::Status FillWith(std::uint64_t item, std::vector<std::uint64_t>& buffer) {
  if (item >= 1000) return RuntimeError("item " + std::to_string(item));
  buffer.assign(3, item);
  return absl::OkStatus();
}

// Blocks fillers until it is opened.
class Gate {
 public:
  void Open() { open_ = true; }
  void Close() { open_ = false; }
  void Pass() {
    ++waiting_;
    while (!open_) std::this_thread::sleep_for(microseconds(100));
    --waiting_;
  }
  void AwaitFiller() const {
    while (waiting_ == 0) std::this_thread::sleep_for(microseconds(100));
  }

 private:
  std::atomic<bool> open_{false};
  std::atomic<int> waiting_{0};
};

void AwaitReady(const Prefetcher& prefetcher) {
  while (!prefetcher.BackReady()) std::this_thread::sleep_for(microseconds(100));
}

TEST(DoubleBufferedPrefetcher, LoadFillsTheFront) {
  Prefetcher prefetcher(FillWith);
  EXPECT_TRUE(prefetcher.Front().empty());
  ASSERT_OK(prefetcher.Load(5));
  EXPECT_EQ(prefetcher.Front(), std::vector<std::uint64_t>(3, 5));
  EXPECT_FALSE(prefetcher.BackReady());
}

TEST(DoubleBufferedPrefetcher, SwapBringsThePrefetchedItem) {
  Prefetcher prefetcher(FillWith);
  ASSERT_OK(prefetcher.Load(1));
  ASSERT_OK(prefetcher.PrefetchAsync(2));
  EXPECT_EQ(prefetcher.Front()[0], 1U) << "not before the swap";
  AwaitReady(prefetcher);
  EXPECT_EQ(prefetcher.Front()[0], 1U);
  ASSERT_OK(prefetcher.Swap());
  EXPECT_EQ(prefetcher.Front()[0], 2U);
  EXPECT_FALSE(prefetcher.BackReady());
}

TEST(DoubleBufferedPrefetcher, SwapWaitsForTheFill) {
  Gate gate;
  Prefetcher prefetcher([&](std::uint64_t item, std::vector<std::uint64_t>& buffer) {
    gate.Pass();
    return FillWith(item, buffer);
  });
  ASSERT_OK(prefetcher.PrefetchAsync(2));
  gate.AwaitFiller();
  EXPECT_FALSE(prefetcher.BackReady());
  std::thread opener([&] {
    std::this_thread::sleep_for(milliseconds(30));
    gate.Open();
  });
  ASSERT_OK(prefetcher.Swap());
  opener.join();
  EXPECT_EQ(prefetcher.Front()[0], 2U);
  const auto [fill, stall] = prefetcher.TakeFillAndStallSeconds();
  EXPECT_GT(stall, 0.02);
  EXPECT_GT(fill, 0.02);
}

TEST(DoubleBufferedPrefetcher, SwapWithoutAFillIsAnErrorAndLeavesTheFront) {
  Prefetcher prefetcher(FillWith);
  EXPECT_EQ(prefetcher.Swap().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_OK(prefetcher.Load(1));
  EXPECT_EQ(prefetcher.Swap().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(prefetcher.Front()[0], 1U);
}

TEST(DoubleBufferedPrefetcher, ASecondSwapIsAnErrorAndLeavesTheFront) {
  Prefetcher prefetcher(FillWith);
  ASSERT_OK(prefetcher.Load(1));
  ASSERT_OK(prefetcher.PrefetchAsync(2));
  ASSERT_OK(prefetcher.Swap());
  EXPECT_EQ(prefetcher.Swap().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(prefetcher.Front()[0], 2U);
}

TEST(DoubleBufferedPrefetcher, ASecondPrefetchIsAnErrorAndTheFirstStays) {
  Gate gate;
  Prefetcher prefetcher([&](std::uint64_t item, std::vector<std::uint64_t>& buffer) {
    gate.Pass();
    return FillWith(item, buffer);
  });
  ASSERT_OK(prefetcher.PrefetchAsync(2));
  EXPECT_EQ(prefetcher.PrefetchAsync(3).code(), absl::StatusCode::kFailedPrecondition) << "while it is filled";
  gate.Open();
  AwaitReady(prefetcher);
  EXPECT_EQ(prefetcher.PrefetchAsync(4).code(), absl::StatusCode::kFailedPrecondition) << "while it is ready";
  ASSERT_OK(prefetcher.Swap());
  EXPECT_EQ(prefetcher.Front()[0], 2U);
  EXPECT_OK(prefetcher.PrefetchAsync(5));
}

TEST(DoubleBufferedPrefetcher, AFailedFillSurfacesAtTheSwapAndLeavesTheFront) {
  Prefetcher prefetcher(FillWith);
  ASSERT_OK(prefetcher.Load(1));
  ASSERT_OK(prefetcher.PrefetchAsync(1001));
  AwaitReady(prefetcher);
  EXPECT_ERROR(prefetcher.Swap(), kRuntime, "item 1001");
  EXPECT_EQ(prefetcher.Front()[0], 1U);
  EXPECT_EQ(prefetcher.Swap().code(), absl::StatusCode::kFailedPrecondition) << "the error is reported once";
  ASSERT_OK(prefetcher.PrefetchAsync(2));
  ASSERT_OK(prefetcher.Swap());
  EXPECT_EQ(prefetcher.Front()[0], 2U);
  EXPECT_ERROR(prefetcher.Load(1002), kRuntime, "item 1002");
  EXPECT_EQ(prefetcher.Front()[0], 2U);
}

TEST(DoubleBufferedPrefetcher, AForgottenFailureDoesNotSpoilTheNextFill) {
  Prefetcher prefetcher(FillWith);
  ASSERT_OK(prefetcher.PrefetchAsync(1001));
  prefetcher.Discard();
  ASSERT_OK(prefetcher.PrefetchAsync(3));
  ASSERT_OK(prefetcher.Swap());
  EXPECT_EQ(prefetcher.Front()[0], 3U);
}

TEST(DoubleBufferedPrefetcher, LoadDuringAPrefetchThrowsItAway) {
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  Prefetcher prefetcher([&](std::uint64_t item, std::vector<std::uint64_t>& buffer) {
    if (++inside != 1) overlapped = true;
    std::this_thread::sleep_for(milliseconds(5));
    --inside;
    return FillWith(item, buffer);
  });
  ASSERT_OK(prefetcher.Load(1));
  ASSERT_OK(prefetcher.PrefetchAsync(2));
  ASSERT_OK(prefetcher.Load(3));
  EXPECT_EQ(prefetcher.Front()[0], 3U);
  EXPECT_FALSE(overlapped) << "the filler never runs twice at once";
  EXPECT_EQ(prefetcher.Swap().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_OK(prefetcher.PrefetchAsync(4));
  ASSERT_OK(prefetcher.Swap());
  EXPECT_EQ(prefetcher.Front()[0], 4U);
}

TEST(DoubleBufferedPrefetcher, DestructionWaitsForAFillUnderWay) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> fills{0};
    {
      std::optional<Prefetcher> prefetcher;
      prefetcher.emplace([&](std::uint64_t item, std::vector<std::uint64_t>& buffer) {
        std::this_thread::sleep_for(milliseconds(1));
        const absl::Status status = FillWith(item, buffer);
        ++fills;
        return status;
      });
      ASSERT_OK(prefetcher->PrefetchAsync(1));
      if (i % 2 == 0) std::this_thread::sleep_for(microseconds(500));
    }
    EXPECT_LE(fills, 1);
  }
}

TEST(DoubleBufferedPrefetcher, BuffersAreReusedAndTheOneInFrontIsNeverFilled) {
  const std::vector<std::uint64_t>* front = nullptr;
  std::atomic<const std::vector<std::uint64_t>*> filled{nullptr};
  Prefetcher prefetcher([&](std::uint64_t item, std::vector<std::uint64_t>& buffer) {
    filled = &buffer;
    return FillWith(item, buffer);
  });
  ASSERT_OK(prefetcher.Load(0));
  for (std::uint64_t item = 1; item < 50; ++item) {
    front = &prefetcher.Front();
    ASSERT_OK(prefetcher.PrefetchAsync(item));
    EXPECT_EQ(prefetcher.Front()[2], item - 1);
    ASSERT_OK(prefetcher.Swap());
    EXPECT_NE(filled.load(), front);
    EXPECT_EQ(&prefetcher.Front(), filled.load());
    EXPECT_EQ(prefetcher.Front()[0], item);
  }
}

TEST(DoubleBufferedPrefetcher, SecondsAreTakenOnce) {
  Prefetcher prefetcher([](std::uint64_t item, std::vector<std::uint64_t>& buffer) {
    std::this_thread::sleep_for(milliseconds(20));
    return FillWith(item, buffer);
  });
  ASSERT_OK(prefetcher.Load(1));
  auto [fill, stall] = prefetcher.TakeFillAndStallSeconds();
  EXPECT_GE(fill, 0.019);
  EXPECT_GE(stall, 0.019) << "a load stalls for as long as it fills";
  // A ready buffer causes no stall. Takes the best of several tries: a busy machine can preempt this thread at any
  // time.
  double least_stall = 1;
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(prefetcher.PrefetchAsync(2));
    AwaitReady(prefetcher);
    ASSERT_OK(prefetcher.Swap());
    std::tie(fill, stall) = prefetcher.TakeFillAndStallSeconds();
    EXPECT_GE(fill, 0.019);
    least_stall = std::min(least_stall, stall);
  }
  EXPECT_LT(least_stall, 0.015);
  std::tie(fill, stall) = prefetcher.TakeFillAndStallSeconds();
  EXPECT_EQ(fill, 0.0);
  EXPECT_EQ(stall, 0.0);
}

// An exception of a filler on the prefetcher's thread ended the program.
TEST(DoubleBufferedPrefetcher, WhatTheFillerThrowsIsAnErrorOfTheSwap) {
  Prefetcher prefetcher([](std::uint64_t item, std::vector<std::uint64_t>& buffer) -> absl::Status {
    if (item == 1) throw std::bad_alloc();
    if (item == 2) throw std::runtime_error("something else");
    return FillWith(item, buffer);
  });
  ASSERT_OK(prefetcher.Load(7));
  const std::vector<std::uint64_t> front = prefetcher.Front();
  ASSERT_OK(prefetcher.PrefetchAsync(1));
  EXPECT_ERROR(prefetcher.Swap(), kRuntime, "out of memory");
  EXPECT_EQ(prefetcher.Front(), front);
  ASSERT_OK(prefetcher.PrefetchAsync(2));
  EXPECT_ERROR(prefetcher.Swap(), kRuntime, "something else");
  EXPECT_ERROR(prefetcher.Load(1), kRuntime, "out of memory");
  EXPECT_EQ(prefetcher.Front(), front);
  ASSERT_OK(prefetcher.PrefetchAsync(3));
  ASSERT_OK(prefetcher.Swap());
}

}  // namespace
}  // namespace octavo
