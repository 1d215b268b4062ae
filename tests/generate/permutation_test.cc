#include "generate/permutation.h"

#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(Permutation, GivesEachNumberOnce) {
  for (const std::uint64_t count : {1, 2, 3, 4, 5, 7, 64, 65, 1000, 1024, 1025, 100'003}) {
    RandomStream random(1, RandomPurpose::kGenerate, 0, count);
    const Permutation permutation(count, random);
    std::vector<bool> seen(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t to = permutation(i);
      ASSERT_LT(to, count);
      ASSERT_FALSE(seen[to]) << i << " of " << count;
      seen[to] = true;
    }
  }
}

TEST(Permutation, StaysBelowALargeCount) {
  const std::uint64_t count = (std::uint64_t{1} << 40) + 1;
  RandomStream random(1, RandomPurpose::kGenerate, 0, 0);
  const Permutation permutation(count, random);
  for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_LT(permutation(i), count);
  EXPECT_LT(permutation(count - 1), count);
}

TEST(Permutation, SpreadsNeighboursAndDependsOnItsKey) {
  constexpr std::uint64_t kCount = 100'000;
  RandomStream random(1, RandomPurpose::kGenerate, 0, 0);
  const Permutation first(kCount, random);
  const Permutation second(kCount, random);
  std::vector<int> tenths(10);
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ++tenths[first(i) / (kCount / 10)];
    same += first(i) == second(i) ? 1 : 0;
  }
  for (const int count : tenths) EXPECT_NEAR(count, 100, 60);
  EXPECT_LT(same, 5);
}

}  // namespace
}  // namespace octavo
