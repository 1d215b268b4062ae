#include "import/ordered_work.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/parallel.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

// The numbers 0 to count - 1.
auto Numbers(int count) {
  return [count, next = 0]() mutable -> std::optional<int> {
    if (next == count) return std::nullopt;
    return next++;
  };
}

TEST(ProcessInOrder, DeliversInTheOrderOfTheItems) {
  for (const std::size_t workers : {1U, 2U, 7U}) {
    std::vector<int> delivered;
    auto take = Numbers(500);
    const auto process = [](int item) {
      if (item % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      return item * 2;
    };
    const auto deliver = [&](int result) {
      delivered.push_back(result);
      return absl::OkStatus();
    };
    ASSERT_OK((ProcessInOrder<int>(
        workers, [&] { return take(); }, process, deliver)));
    ASSERT_EQ(delivered.size(), 500U);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(delivered[static_cast<std::size_t>(i)], 2 * i);
  }
}

TEST(ProcessInOrder, EachWorkerKeepsWhatItsCopyOfProcessHolds) {
  for (const int workers : {1, 4}) {
    std::vector<int> times(501);  // by n: how many copies have had n items or more
    auto take = Numbers(500);
    const auto deliver = [&](int count) {
      ++times[static_cast<std::size_t>(count)];
      return absl::OkStatus();
    };
    auto process = [mine = 0](int) mutable { return ++mine; };
    ASSERT_OK((ProcessInOrder<int>(
        static_cast<std::size_t>(workers), [&] { return take(); }, process, deliver)));
    EXPECT_EQ(process(0), 1);  // the workers had copies of it
    EXPECT_GE(times[1], 1);
    EXPECT_LE(times[1], workers);
    EXPECT_TRUE(std::is_sorted(times.begin() + 1, times.end(), std::greater<>()));
    EXPECT_EQ(std::accumulate(times.begin(), times.end(), 0), 500);
  }
}

TEST(ProcessInOrder, ContinuesPastASlowItemAsFarAsOneResultMayWait) {
  Mutex mutex;
  std::vector<int> processed;
  auto take = Numbers(50);
  const auto process = [&](int item) {
    if (item == 0) {
      {
        const MutexLock lock(mutex);
        mutex.Await([&] { return processed.size() >= 3; });
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const MutexLock lock(mutex);
    if (item == 0) {
      EXPECT_EQ(processed.size(), 3U);  // those of the other workers and one more
    }
    processed.push_back(item);
    return item;
  };
  std::vector<int> delivered;
  const auto deliver = [&](int result) {
    delivered.push_back(result);
    return absl::OkStatus();
  };
  WithThreads(3, [&] {
    EXPECT_OK((ProcessInOrder<int>(
        3, [&] { return take(); }, process, deliver)));
  });
  EXPECT_EQ(delivered.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(delivered));
}

TEST(ProcessInOrder, EndsAtTheFirstErrorOfADelivery) {
  int delivered = 0;
  auto take = Numbers(500);
  const auto deliver = [&](int result) -> absl::Status {
    ++delivered;
    return result == 10 ? InputError("ten") : absl::OkStatus();
  };
  EXPECT_ERROR((ProcessInOrder<int>(
                   4, [&] { return take(); }, [](int item) { return item; }, deliver)),
               kInput, "ten");
  EXPECT_EQ(delivered, 11);
}

TEST(ProcessInOrder, PassesOnWhatIsThrownAndLeavesNobodyWaiting) {
  auto take = Numbers(500);
  const auto process = [](int item) {
    if (item == 20) throw std::runtime_error("twenty");
    return item;
  };
  const auto deliver = [](int) { return absl::OkStatus(); };
  EXPECT_THROW((void)(ProcessInOrder<int>(
                   4, [&] { return take(); }, process, deliver)),
               std::runtime_error);
}

}  // namespace
}  // namespace octavo
