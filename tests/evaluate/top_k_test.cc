#include "evaluate/top_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace octavo {
namespace {

TEST(TopK, KeepsTheBestInOrderWithTiesById) {
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  for (const std::size_t k : {0UL, 1UL, 3UL, 10UL, 100UL}) {
    std::vector<ScoredNode> all;
    for (std::uint64_t i = 0; i < 60; ++i) all.push_back({NodeId{i}, static_cast<float>(random.Below(7))});
    Shuffle(std::span(all), random);
    TopK best(k);
    for (const ScoredNode& scored : all) best.Add(scored);
    std::sort(all.begin(), all.end(), RanksBefore);
    all.resize(std::min(all.size(), k));
    EXPECT_EQ(best.TakeSorted(), all) << k;
  }
}

TEST(TopK, NanIsTheWorst) {
  TopK best(2);
  best.Add({NodeId{0}, std::nanf("")});
  best.Add({NodeId{1}, -1e30F});
  best.Add({NodeId{2}, 0.0F});
  EXPECT_THAT(best.TakeSorted(), testing::ElementsAre(ScoredNode{NodeId{2}, 0.0F}, ScoredNode{NodeId{1}, -1e30F}));
}

}  // namespace
}  // namespace octavo
