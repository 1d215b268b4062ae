#include "import/split_rule.h"

#include <array>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

std::array<int, 3> Draw(const std::string& text, std::uint64_t seed, int edges) {
  const SplitRule rule = SplitRule::Parse(text, seed).value();
  std::array<int, 3> counts{};
  for (int i = 0; i < edges; ++i)
    ++counts.at(static_cast<std::size_t>(rule.SplitOf(static_cast<std::uint64_t>(i), 1, 2)));
  return counts;
}

TEST(SplitRule, GivesTheFractions) {
  const std::array<int, 3> counts = Draw("0.8,0.15,0.05", 0, 100000);
  // Six standard deviations of a binomial.
  EXPECT_NEAR(counts[0], 80000, 6 * 126);
  EXPECT_NEAR(counts[1], 15000, 6 * 113);
  EXPECT_NEAR(counts[2], 5000, 6 * 69);
}

TEST(SplitRule, AFractionOfZeroGetsNothing) {
  EXPECT_EQ(Draw("1,0,0", 0, 10000), (std::array<int, 3>{10000, 0, 0}));
  EXPECT_EQ(Draw("0.5,0.5,0", 0, 10000)[2], 0);
  EXPECT_EQ(Draw("0.5,0,0.5", 0, 10000)[1], 0);
  EXPECT_EQ(Draw("0.1,0.9,0.0", 0, 10000)[2], 0);
}

TEST(SplitRule, DependsOnTheSeedAndEveryName) {
  const SplitRule a = SplitRule::Parse("0.5,0.25,0.25", 1).value();
  const SplitRule b = SplitRule::Parse("0.5,0.25,0.25", 2).value();
  int seed = 0;
  int head = 0;
  int relation = 0;
  int tail = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.SplitOf(i, 1, 2), a.SplitOf(i, 1, 2));
    seed += a.SplitOf(i, 1, 2) != b.SplitOf(i, 1, 2) ? 1 : 0;
    head += a.SplitOf(i, 1, 2) != a.SplitOf(i + 5000, 1, 2) ? 1 : 0;
    relation += a.SplitOf(i, 1, 2) != a.SplitOf(i, 3, 2) ? 1 : 0;
    tail += a.SplitOf(i, 1, 2) != a.SplitOf(i, 1, 3) ? 1 : 0;
  }
  // Two independent draws differ with probability 1 - (1/4 + 1/16 + 1/16) = 0.625.
  for (const int changed : {seed, head, relation, tail}) EXPECT_NEAR(changed, 625, 6 * 16);
}

TEST(SplitRule, RefusesFractionsThatMakeNoSense) {
  for (const char* text : {"", "1", "0.9,0.1", "0.9,0.05,0.05,0", "0.9,0.05,0.06", "0.9,0.05,0.04", "0,0.5,0.5",
                           "1.1,-0.05,-0.05", "nan,0,0", "a,b,c", "0.9,0.05,", "0.9;0.05;0.05", "0.9, 0.05,0.05"}) {
    EXPECT_ERROR(SplitRule::Parse(text, 0), kUsage, "--split: found") << text;
  }
  for (const char* text : {"0.9,0.05,0.05", "0.7,0.2,0.1", "0.6,0.3,0.1", "1,0,0", "1.0,0.0,0.0", "8e-1,1e-1,1e-1"}) {
    EXPECT_OK(SplitRule::Parse(text, 0)) << text;
  }
}

}  // namespace
}  // namespace octavo
