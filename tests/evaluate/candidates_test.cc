#include "evaluate/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/status.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

TEST(DrawWithoutReplacement, DifferentAscendingAndBelowTheBound) {
  for (const std::uint64_t count : {0U, 1U, 5U, 99U, 100U}) {
    const std::vector<std::uint64_t> drawn = DrawWithoutReplacement(count, 100, 7, 0);
    ASSERT_EQ(drawn.size(), count);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_LT(drawn[i], 100U);
      if (i > 0) {
        EXPECT_LT(drawn[i - 1], drawn[i]);
      }
    }
  }
}

TEST(DrawWithoutReplacement, UniformAndTheSameForTheSameSeed) {
  std::vector<int> hits(10);
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    for (const std::uint64_t number : DrawWithoutReplacement(3, 10, seed, 0)) ++hits[number];
  }
  // 6,000 expected; the standard deviation is 65.
  for (const int count : hits) EXPECT_NEAR(count, 6000, 6 * 65);
  EXPECT_EQ(DrawWithoutReplacement(50, 1000, 4, 0), DrawWithoutReplacement(50, 1000, 4, 0));
  EXPECT_NE(DrawWithoutReplacement(50, 1000, 4, 0), DrawWithoutReplacement(50, 1000, 5, 0));
  EXPECT_NE(DrawWithoutReplacement(50, 1000, 4, 0), DrawWithoutReplacement(50, 1000, 4, 1));
}

TEST(CandidateSet, StreamsEachCandidateOnceWithItsRow) {
  EmbeddedFixture fixture({.nodes = 1500, .edges = {0, 0, 0}});
  for (const std::uint64_t sample : {0U, 1U, 300U, 2000U}) {
    const CandidateSet set(1500, sample, 3);
    EXPECT_EQ(set.size(), sample == 0 || sample > 1500 ? 1500 : sample);
    for (const std::uint64_t block_rows : {7U, 5000U}) {
      std::vector<std::uint64_t> seen;
      const auto visit = [&](const CandidateBlock& block) {
        EXPECT_LE(block.count, block_rows);
        for (std::size_t i = 0; i < block.count; ++i) {
          const std::uint64_t node = block.ids.empty() ? block.first + i : block.ids[i];
          seen.push_back(node);
          EXPECT_EQ(block.rows[i * 6 + 4], fixture.naive.embeddings[node * 6 + 4]);
        }
        return absl::OkStatus();
      };
      ASSERT_TRUE(set.Stream(fixture.Embedded(), 0, 1000, block_rows, visit).ok());
      EXPECT_EQ(seen.size(), set.CountIn(0, 1000));
      ASSERT_TRUE(set.Stream(fixture.Embedded(), 1000, 1500, block_rows, visit).ok());
      EXPECT_EQ(seen.size(), set.size());
      EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
      for (const std::uint64_t node : seen) EXPECT_TRUE(set.Contains(node));
    }
  }
}

TEST(CandidateBlock, FindsColumnsOfNodes) {
  const std::vector<std::uint64_t> ids = {3, 5, 8, 13, 21};
  const std::vector<std::uint64_t> nodes = {0, 5, 6, 13, 21, 40};
  const auto columns = [&](const CandidateBlock& block, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> found;
    block.ForEachColumn(nodes, begin, end, [&](std::size_t column) { found.push_back(column); });
    return found;
  };
  const CandidateBlock sampled{ids, 0, ids.size(), {}};
  EXPECT_THAT(columns(sampled, 0, 5), testing::ElementsAre(1, 3, 4));
  EXPECT_THAT(columns(sampled, 2, 4), testing::ElementsAre(3));
  EXPECT_THAT(columns(sampled, 2, 2), testing::IsEmpty());
  const CandidateBlock consecutive{{}, 4, 10, {}};  // nodes 4 to 13
  EXPECT_THAT(columns(consecutive, 0, 10), testing::ElementsAre(1, 2, 9));
  EXPECT_THAT(columns(consecutive, 2, 9), testing::ElementsAre(2));
}

}  // namespace
}  // namespace octavo
