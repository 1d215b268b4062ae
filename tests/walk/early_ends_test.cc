#include "walk/early_ends.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;

// Pairs of a walk of `length` nodes within `window` steps, counted one by one.
std::uint64_t PairsOfWalk(std::uint64_t length, std::uint64_t window) {
  std::uint64_t pairs = 0;
  for (std::uint64_t first = 0; first < length; ++first) {
    for (std::uint64_t last = first + 1; last < length && last - first <= window; ++last) ++pairs;
  }
  return pairs;
}

TEST(EarlyEndsTest, AQuarterOfThePossiblePairsIsEnoughForWindows) {
  for (const auto& [length, window] : {std::pair{80, 10}, {5, 10}, {2, 1}, {40, 39}}) {
    WalkOptions options;
    options.length = static_cast<std::uint64_t>(length);
    options.window = static_cast<std::uint64_t>(window);
    const std::uint64_t all = 1000 * PairsOfWalk(options.length, options.window);
    EXPECT_FALSE(EarlyEnds(options, 1000, all));
    EXPECT_FALSE(EarlyEnds(options, 1000, all / 4)) << length << " " << window;
    EXPECT_TRUE(EarlyEnds(options, 1000, all / 4 - 1)) << length << " " << window;
  }
}

TEST(EarlyEndsTest, PprIsComparedWithTheShareOfWalksThatGoOn) {
  WalkOptions options;
  options.kind = WalkKind::kPersonalPageRank;
  options.alpha = 0.5;
  EXPECT_FALSE(EarlyEnds(options, 1000, 300));
  EXPECT_TRUE(EarlyEnds(options, 1000, 299));
}

TEST(EarlyEndsTest, TheSentenceHasBothNumbersAndTheFlag) {
  const std::optional<std::string> text = EarlyEnds(WalkOptions{}, 1000, 500);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("0.5 pairs a walk, of 745 that are possible"));
  EXPECT_THAT(*text, HasSubstr("--undirected"));
}

// Such walks end at a node without any edge, and no flag changes that.
TEST(EarlyEndsTest, WalksInBothDirectionsAreNotMeant) {
  WalkOptions options;
  options.both_ways = true;
  EXPECT_FALSE(EarlyEnds(options, 1000, 0));
}

}  // namespace
}  // namespace octavo
