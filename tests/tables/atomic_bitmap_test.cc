#include "tables/atomic_bitmap.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::size_t> Drained(AtomicBitmap& bitmap, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> bits;
  bitmap.Drain(begin, end, [&](std::size_t bit) { bits.push_back(bit); });
  return bits;
}

TEST(AtomicBitmap, BeginsClear) {
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 200U}) {
    AtomicBitmap bitmap(size);
    EXPECT_EQ(bitmap.size(), size);
    EXPECT_FALSE(bitmap.AnyInRange(0, size));
    EXPECT_THAT(Drained(bitmap, 0, size), IsEmpty());
  }
}

TEST(AtomicBitmap, SetsAndDrainsInAscendingOrderOnce) {
  AtomicBitmap bitmap(200);
  for (const std::size_t bit : {199U, 0U, 64U, 63U, 64U, 127U}) bitmap.Set(bit);
  EXPECT_TRUE(bitmap.Test(64));
  EXPECT_FALSE(bitmap.Test(65));
  EXPECT_THAT(Drained(bitmap, 0, 200), ElementsAre(0, 63, 64, 127, 199));
  EXPECT_THAT(Drained(bitmap, 0, 200), IsEmpty());
}

TEST(AtomicBitmap, DrainOfAPartLeavesTheRest) {
  AtomicBitmap bitmap(192);
  bitmap.SetRange(0, 192);
  const std::vector<std::size_t> drained = Drained(bitmap, 70, 130);
  ASSERT_EQ(drained.size(), 60U);
  EXPECT_EQ(drained.front(), 70U);
  EXPECT_EQ(drained.back(), 129U);
  for (std::size_t bit = 0; bit < 192; ++bit) EXPECT_EQ(bitmap.Test(bit), bit < 70 || bit >= 130) << bit;
}

// Every range of a bitmap of three words, against a std::set.
TEST(AtomicBitmap, RangesBehaveAsASet) {
  constexpr std::size_t kBits = 150;
  for (std::size_t begin = 0; begin <= kBits; begin += 7) {
    for (std::size_t end = begin; end <= kBits; ++end) {
      AtomicBitmap bitmap(kBits);
      bitmap.SetRange(begin, end);
      EXPECT_EQ(bitmap.AnyInRange(0, kBits), begin != end);
      EXPECT_FALSE(bitmap.AnyInRange(0, begin));
      EXPECT_FALSE(bitmap.AnyInRange(end, kBits));
      AtomicBitmap rest(kBits);
      rest.SetRange(0, kBits);
      rest.ClearRange(begin, end);
      for (std::size_t bit = 0; bit < kBits; ++bit) {
        const bool inside = bit >= begin && bit < end;
        ASSERT_EQ(bitmap.Test(bit), inside) << begin << " " << end << " " << bit;
        ASSERT_EQ(rest.Test(bit), !inside) << begin << " " << end << " " << bit;
      }
      ASSERT_EQ(Drained(bitmap, begin, end).size(), end - begin);
      ASSERT_FALSE(bitmap.AnyInRange(0, kBits));
    }
  }
}

TEST(AtomicBitmap, RandomOperationsMatchASet) {
  constexpr std::size_t kBits = 300;
  AtomicBitmap bitmap(kBits);
  std::set<std::size_t> model;
  RandomStream random(7, RandomPurpose::kSplit, 0, 0);
  for (int step = 0; step < 5000; ++step) {
    const std::size_t a = random.Below(kBits + 1);
    const std::size_t b = random.Below(kBits + 1);
    const std::size_t begin = std::min(a, b);
    const std::size_t end = std::max(a, b);
    switch (random.Below(8)) {
      case 0: {
        std::vector<std::size_t> expected(model.lower_bound(begin), model.lower_bound(end));
        ASSERT_EQ(Drained(bitmap, begin, end), expected);
        model.erase(model.lower_bound(begin), model.lower_bound(end));
        break;
      }
      case 1:
        bitmap.ClearRange(begin, end);
        model.erase(model.lower_bound(begin), model.lower_bound(end));
        break;
      case 2:
        bitmap.SetRange(begin, std::min(end, begin + 9));
        for (std::size_t bit = begin; bit < std::min(end, begin + 9); ++bit) model.insert(bit);
        break;
      case 3:
        ASSERT_EQ(bitmap.AnyInRange(begin, end), model.lower_bound(begin) != model.lower_bound(end));
        break;
      default:
        if (a < kBits) {
          bitmap.Set(a);
          model.insert(a);
        }
    }
  }
}

// A bit that is set while a drain runs is in that drain or in a later one: two threads set each bit of the same words
// once per round, and the round's drains find all of them.
TEST(AtomicBitmap, DrainBesideSetLosesNoBit) {
  constexpr std::size_t kBits = 40001;  // long enough for the threads to overlap
  constexpr int kRounds = 100;
  AtomicBitmap bitmap(kBits);
  std::atomic<int> setting{0};
  std::barrier round_begins(3);
  std::barrier round_ends(3);
  const auto set = [&](std::size_t first) {
    for (int round = 0; round < kRounds; ++round) {
      round_begins.arrive_and_wait();
      for (std::size_t bit = first; bit < kBits; bit += 2) bitmap.Set(bit);
      setting.fetch_sub(1);
      round_ends.arrive_and_wait();
    }
  };
  std::thread even(set, 0);
  std::thread odd(set, 1);
  std::vector<int> seen(kBits);
  const auto drain = [&] {
    // A range with partial words at both ends, and the rest: both ways of taking a word.
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 30}, {30, 150}, {150, kBits}}) {
      bitmap.Drain(begin, end, [&](std::size_t bit) { ++seen[bit]; });
    }
  };
  for (int round = 1; round <= kRounds; ++round) {
    setting = 2;
    round_begins.arrive_and_wait();
    while (setting.load() != 0) drain();
    drain();
    EXPECT_EQ(std::count(seen.begin(), seen.end(), round), static_cast<std::ptrdiff_t>(kBits)) << round;
    round_ends.arrive_and_wait();
  }
  even.join();
  odd.join();
}

}  // namespace
}  // namespace octavo
