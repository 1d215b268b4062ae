#include "serve/lanes.h"

#include <gtest/gtest.h>

#include <future>

namespace octavo {
namespace {

TEST(LanesTest, QuickWorkDoesNotWaitForAPass) {
  std::promise<void> release;
  std::promise<void> quick;
  Lanes lanes(1, 10);
  ASSERT_TRUE(lanes.Submit(Lane::kPass, [&] { release.get_future().wait(); }));
  ASSERT_TRUE(lanes.Submit(Lane::kQuick, [&] { quick.set_value(); }));
  quick.get_future().wait();  // hangs if it waits
  release.set_value();
}

TEST(LanesTest, RefusesWhatDoesNotFitTheQueue) {
  std::promise<void> begun;
  std::promise<void> release;
  int done = 0;
  {
    Lanes lanes(1, 2);
    ASSERT_TRUE(lanes.Submit(Lane::kPass, [&] {
      begun.set_value();
      release.get_future().wait();
    }));
    begun.get_future().wait();
    EXPECT_TRUE(lanes.Submit(Lane::kPass, [&] { ++done; }));
    EXPECT_TRUE(lanes.Submit(Lane::kPass, [&] { ++done; }));
    EXPECT_FALSE(lanes.Submit(Lane::kPass, [&] { done = 100; }));
    release.set_value();
  }
  EXPECT_EQ(done, 2);  // the destructor waits for all
}

}  // namespace
}  // namespace octavo
