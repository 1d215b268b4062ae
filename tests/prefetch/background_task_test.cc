#include "prefetch/background_task.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/status.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

absl::Status FailFrom1000(std::uint64_t item) {
  return item < 1000 ? absl::OkStatus() : RuntimeError("item " + std::to_string(item));
}

void AwaitDone(const BackgroundTask& task) {
  while (!task.Done()) std::this_thread::sleep_for(microseconds(100));
}

TEST(BackgroundTask, WorksOnItsOwnThreadAndInRunOnTheUsers) {
  std::thread::id worker;
  std::uint64_t worked_on = 0;
  BackgroundTask task([&](std::uint64_t item) {
    worker = std::this_thread::get_id();
    worked_on = item;
    return absl::OkStatus();
  });
  ASSERT_OK(task.Start(3));
  ASSERT_OK(task.Take());
  EXPECT_EQ(worked_on, 3U);
  EXPECT_NE(worker, std::this_thread::get_id());
  ASSERT_OK(task.Run(4));
  EXPECT_EQ(worked_on, 4U);
  EXPECT_EQ(worker, std::this_thread::get_id());
  EXPECT_FALSE(task.Done());
}

TEST(BackgroundTask, OneThingAtATime) {
  std::atomic<bool> open = false;
  BackgroundTask task([&](std::uint64_t) {
    while (!open) std::this_thread::sleep_for(microseconds(100));
    return absl::OkStatus();
  });
  EXPECT_EQ(task.Take().code(), absl::StatusCode::kFailedPrecondition) << "nothing was started";
  ASSERT_OK(task.Start(1));
  EXPECT_EQ(task.Start(2).code(), absl::StatusCode::kFailedPrecondition) << "busy";
  EXPECT_FALSE(task.Done());
  open = true;
  AwaitDone(task);
  EXPECT_EQ(task.Start(2).code(), absl::StatusCode::kFailedPrecondition) << "not taken";
  ASSERT_OK(task.Take());
  EXPECT_EQ(task.Take().code(), absl::StatusCode::kFailedPrecondition) << "taken once";
}

TEST(BackgroundTask, WaitLeavesTheStatusToTake) {
  BackgroundTask task(FailFrom1000);
  EXPECT_OK(task.Wait()) << "nothing was started";
  ASSERT_OK(task.Start(1001));
  EXPECT_ERROR(task.Wait(), kRuntime, "item 1001");
  EXPECT_TRUE(task.Done());
  EXPECT_ERROR(task.Wait(), kRuntime, "item 1001");
  EXPECT_ERROR(task.Take(), kRuntime, "item 1001");
  EXPECT_OK(task.Wait());
}

TEST(BackgroundTask, AForgottenFailureDoesNotSpoilTheNextItem) {
  BackgroundTask task(FailFrom1000);
  ASSERT_OK(task.Start(1001));
  task.Discard();
  EXPECT_FALSE(task.Done());
  ASSERT_OK(task.Start(1));
  ASSERT_OK(task.Take());
  ASSERT_OK(task.Start(1002));
  EXPECT_OK(task.Run(2)) << "Run discards";
  EXPECT_EQ(task.Take().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(BackgroundTask, TakeWaitsAndCountsTheStall) {
  BackgroundTask task([](std::uint64_t) {
    std::this_thread::sleep_for(milliseconds(30));
    return absl::OkStatus();
  });
  ASSERT_OK(task.Start(1));
  ASSERT_OK(task.Take());
  auto [work, stall] = task.TakeWorkAndStallSeconds();
  EXPECT_GE(work, 0.029);
  EXPECT_GT(stall, 0.0);
  ASSERT_OK(task.Run(1));
  std::tie(work, stall) = task.TakeWorkAndStallSeconds();
  EXPECT_GE(stall, 0.029);
  EXPECT_EQ(work, stall);
  std::tie(work, stall) = task.TakeWorkAndStallSeconds();
  EXPECT_EQ(work, 0.0) << "taken once";
  EXPECT_EQ(stall, 0.0);
}

// An exception on the task's thread ended the program.
TEST(BackgroundTask, WhatTheWorkThrowsIsAnError) {
  BackgroundTask task([](std::uint64_t item) -> absl::Status {
    if (item == 1) throw std::bad_alloc();
    if (item == 2) throw std::runtime_error("something else");
    return absl::OkStatus();
  });
  ASSERT_OK(task.Start(1));
  EXPECT_ERROR(task.Take(), kRuntime, "out of memory");
  ASSERT_OK(task.Start(2));
  EXPECT_ERROR(task.Take(), kRuntime, "something else");
  EXPECT_ERROR(task.Run(1), kRuntime, "out of memory");
  ASSERT_OK(task.Start(3));
  ASSERT_OK(task.Take());
}

TEST(BackgroundTask, DestructionWaitsForWorkUnderWay) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    {
      BackgroundTask task([&](std::uint64_t) {
        ++begun;
        std::this_thread::sleep_for(milliseconds(1));
        ++ended;
        return absl::OkStatus();
      });
      ASSERT_OK(task.Start(1));
      if (i % 2 == 0) std::this_thread::sleep_for(microseconds(500));
    }
    EXPECT_EQ(begun, ended);
  }
}

}  // namespace
}  // namespace octavo
