#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Known answers published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, IsAFunctionOfItsPlace) {
  RandomStream a(7, RandomPurpose::kNegatives, 1, 2);
  RandomStream b(7, RandomPurpose::kNegatives, 1, 2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Next64(), b.Next64());
}

TEST(RandomStream, DiffersWithEveryPartOfItsPlace) {
  std::set<std::uint64_t> first;
  first.insert(RandomStream(7, RandomPurpose::kNegatives, 1, 2).Next64());
  first.insert(RandomStream(8, RandomPurpose::kNegatives, 1, 2).Next64());
  first.insert(RandomStream(7, RandomPurpose::kSplit, 1, 2).Next64());
  first.insert(RandomStream(7, RandomPurpose::kNegatives, 2, 2).Next64());
  first.insert(RandomStream(7, RandomPurpose::kNegatives, 1, 3).Next64());
  first.insert(RandomStream(7, RandomPurpose::kNegatives, 1, std::uint64_t{2} << 32).Next64());
  EXPECT_EQ(first.size(), 6U);
}

TEST(RandomStream, CopyGoesOnFromTheSamePosition) {
  RandomStream a(1, RandomPurpose::kInitialEmbeddings, 0, 0);
  a.Next32();
  a.NextNormal();
  RandomStream b = a;
  EXPECT_EQ(a.NextNormal(), b.NextNormal());
  EXPECT_EQ(a.Next32(), b.Next32());
}

TEST(RandomStream, BelowStaysBelowAndReachesEveryValue) {
  RandomStream stream(3, RandomPurpose::kNegatives, 0, 0);
  EXPECT_EQ(stream.Below(1), 0U);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(stream.Below(7));
  // 10,000 expected each, standard deviation 93.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 6 * 93);
  const std::uint64_t huge = (std::uint64_t{1} << 63) + 1;  // half of all draws are rejected
  for (int i = 0; i < 100; ++i) EXPECT_LT(stream.Below(huge), huge);
}

TEST(RandomStream, FloatsAndNormalsHaveTheirMoments) {
  RandomStream stream(5, RandomPurpose::kInitialEmbeddings, 0, 0);
  constexpr int kDraws = 100000;
  double sum = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const float uniform = stream.NextFloat();
    ASSERT_GE(uniform, 0.0F);
    ASSERT_LT(uniform, 1.0F);
    sum += uniform;
    const double normal = stream.NextNormal();
    normal_sum += normal;
    normal_squares += normal * normal;
  }
  // Six standard deviations of the means: 0.29, 1 and 1.41 over the root of kDraws.
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0055);
  EXPECT_NEAR(normal_sum / kDraws, 0.0, 0.019);
  EXPECT_NEAR(normal_squares / kDraws, 1.0, 0.027);
}

TEST(Shuffle, IsAPermutationThatDependsOnTheStream) {
  std::vector<int> sorted(1000);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::vector<int> a = sorted;
  std::vector<int> b = sorted;
  std::vector<int> c = sorted;
  RandomStream stream_a(1, RandomPurpose::kBlockOrder, 0, 0);
  RandomStream stream_b(1, RandomPurpose::kBlockOrder, 0, 0);
  RandomStream stream_c(2, RandomPurpose::kBlockOrder, 0, 0);
  Shuffle(std::span(a), stream_a);
  Shuffle(std::span(b), stream_b);
  Shuffle(std::span(c), stream_c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, sorted);
  std::ranges::sort(a);
  EXPECT_EQ(a, sorted);
}

// The trained bits depend on it.
TEST(Shuffle, IsFisherAndYatesFromTheEnd) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 31U, 32U, 33U, 34U, 64U, 65U, 66U, 1000U}) {
    std::vector<int> shuffled(size);
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::vector<int> expected = shuffled;
    RandomStream stream(5, RandomPurpose::kBlockOrder, 1, size);
    RandomStream naive = stream;
    Shuffle(std::span(shuffled), stream);
    for (std::size_t i = size; i > 1; --i) std::swap(expected[i - 1], expected[naive.Below(i)]);
    EXPECT_EQ(shuffled, expected) << size;
    EXPECT_EQ(stream.Next64(), naive.Next64()) << "the same draws";
  }
}

}  // namespace
}  // namespace octavo
