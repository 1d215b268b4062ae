#include "serve/request_queues.h"

#include <gtest/gtest.h>

#include <future>

namespace octavo {
namespace {

TEST(RequestQueuesTest, QuickWorkDoesNotWaitForAPass) {
  std::promise<void> release;
  std::promise<void> quick;
  RequestQueues queues(1, 10);
  ASSERT_TRUE(queues.Submit(RequestQueue::kPass, [&] { release.get_future().wait(); }));
  ASSERT_TRUE(queues.Submit(RequestQueue::kQuick, [&] { quick.set_value(); }));
  quick.get_future().wait();  // hangs if it waits
  release.set_value();
}

TEST(RequestQueuesTest, RefusesWhatDoesNotFitTheQueue) {
  std::promise<void> begun;
  std::promise<void> release;
  int done = 0;
  {
    RequestQueues queues(1, 2);
    ASSERT_TRUE(queues.Submit(RequestQueue::kPass, [&] {
      begun.set_value();
      release.get_future().wait();
    }));
    begun.get_future().wait();
    EXPECT_TRUE(queues.Submit(RequestQueue::kPass, [&] { ++done; }));
    EXPECT_TRUE(queues.Submit(RequestQueue::kPass, [&] { ++done; }));
    EXPECT_FALSE(queues.Submit(RequestQueue::kPass, [&] { done = 100; }));
    release.set_value();
  }
  EXPECT_EQ(done, 2);  // the destructor waits for all
}

}  // namespace
}  // namespace octavo
