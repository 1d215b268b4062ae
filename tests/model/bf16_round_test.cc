#include "model/bf16_round.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "model/bf16_kernels.h"
#include "model/bf16_product.h"
#include "tests/support/naive_bf16.h"

namespace octavo {
namespace {

// Every upper half, with lower halves around the ties and at the ends: all exponents, signs, infinities and NaNs.
std::vector<float> ManyFloats() {
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      values.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  return values;
}

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(Bf16RoundTest, IsTheNearestOfEightBits) {
  for (const float value : ManyFloats()) {
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(RoundToBf16(value)));
      ASSERT_NE(Bits(RoundToBf16(value)) & 0x00400000U, 0U);
    } else {
      ASSERT_EQ(Bits(RoundToBf16(value)), Bits(NaiveBf16(value))) << value;
    }
    ASSERT_EQ(Bits(FromBf16Word(Bf16Word(value))), Bits(RoundToBf16(value)));
  }
}

TEST(Bf16RoundTest, VectorsRoundAsSingleElementsDo) {
  const std::vector<float> values = ManyFloats();
  for (std::size_t count = 0; count < 80; ++count) {
    const std::size_t at = 4099 * count;  // odd: misaligned
    std::vector<float> floats(count + 1, 7.0F);
    RoundFloatsToBf16(count, values.data() + at, floats.data());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(Bits(floats[i]), RoundedBf16Bits(values[at + i]));
    EXPECT_EQ(floats[count], 7.0F);
  }
  std::vector<float> all = values;
  RoundFloatsToBf16(all.size(), all.data(), all.data());
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(Bits(all[i]), RoundedBf16Bits(values[i]));
}

void RoundsToWords(const TileProducts& tiles) {
  const std::vector<float> values = ManyFloats();
  for (std::size_t count = 0; count < 80; ++count) {
    const std::size_t at = 4099 * count;
    std::vector<std::uint16_t> words(count + 1, 7);
    std::vector<std::uint32_t> pairs(count + 1, 7);
    tiles.round_words(count, values.data() + at, words.data());
    tiles.pair_words(count, values.data() + at, values.data() + at + 1, pairs.data());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(words[i], Bf16Word(values[at + i]));
      ASSERT_EQ(pairs[i], Bf16Word(values[at + i]) | std::uint32_t{Bf16Word(values[at + i + 1])} << 16);
    }
    EXPECT_EQ(words[count], 7);
    EXPECT_EQ(pairs[count], 7U);
  }
  std::vector<float> memory = values;  // of the words, too
  tiles.round_words(values.size(), memory.data(), reinterpret_cast<std::uint16_t*>(memory.data()));
  std::vector<std::uint16_t> all(values.size());
  std::memcpy(all.data(), memory.data(), all.size() * sizeof(all[0]));
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], Bf16Word(values[i]));
}

TEST(Bf16RoundTest, TheModelOfTilesRoundsAsSingleElementsDo) { RoundsToWords(kModelProducts); }

TEST(Bf16RoundTest, AmxRoundsAsSingleElementsDo) {
  if (!AmxWorks()) GTEST_SKIP() << "not on this processor";
  RoundsToWords(kAmxProducts);
}

// Sums around the smallest normal float, where the steps of denormals are twice those of 24 bits; and others.
TEST(FlushedFmaTest, IsZeroWhereTheSumIsBelowTheSmallestNormalFloat) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  EXPECT_EQ(FlushedFma(0.5F, kSmallest, 0), 0);
  EXPECT_TRUE(std::signbit(FlushedFma(-0.5F, kSmallest, 0)));
  EXPECT_EQ(FlushedFma(1, kSmallest, 0), kSmallest);
  // 2^-126 - 2^-150 is a float of 24 bits, and so is 0; 2^-126 - 2^-152 is 2^-126.
  EXPECT_EQ(FlushedFma(0x1p-75F, -0x1p-75F, kSmallest), 0);
  EXPECT_EQ(FlushedFma(0x1p-76F, -0x1p-76F, kSmallest), kSmallest);
  EXPECT_EQ(FlushedFma(0x1p-75F, 0x1p-75F, -kSmallest), 0);
  EXPECT_EQ(FlushedFma(0x1p-76F, 0x1p-76F, -kSmallest), -kSmallest);

  RandomStream random(1, RandomPurpose::kInitialEmbeddings, 0, 0);
  const auto any = [&](int least, int most) {
    const auto mantissa = static_cast<float>(128 + random.Below(128)) / 128;
    const float sign = random.Below(2) == 0 ? 1 : -1;
    return sign *
           std::ldexp(mantissa, least + static_cast<int>(random.Below(static_cast<std::uint64_t>(most - least + 1))));
  };
  for (int i = 0; i < 200'000; ++i) {
    const float a = any(-70, -60), b = any(-70, -60), c = any(-126, -124);
    ASSERT_EQ(Bits(FlushedFma(a, b, c)), Bits(NaiveFlushedFma(a, b, c))) << a << " " << b << " " << c;
  }
}

}  // namespace
}  // namespace octavo
