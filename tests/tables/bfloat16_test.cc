#include "tables/bfloat16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using Words = std::vector<std::uint16_t>;
using Row = std::vector<float>;

// The value of a finite word, from its fields.
double ValueOf(std::uint16_t word) {
  const int exponent = (word >> 7) & 0xFF;
  const double fraction = (word & 0x7F) / 128.0;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -126) : std::ldexp(1 + fraction, exponent - 127);
  return (word & 0x8000) != 0 ? -magnitude : magnitude;
}

constexpr std::uint16_t kLargest = 0x7F7F;

// The words around a finite value, the one nearer to 0 first; the same word twice for the largest word and beyond.
std::pair<std::uint16_t, std::uint16_t> Neighbours(float value) {
  const double magnitude = std::abs(static_cast<double>(value));
  std::uint16_t low = 0;  // the last word not above it, by bisection: positive words ascend
  std::uint16_t high = kLargest;
  while (low < high) {
    const auto middle = static_cast<std::uint16_t>((low + high + 1) / 2);
    if (ValueOf(middle) <= magnitude) {
      low = middle;
    } else {
      high = static_cast<std::uint16_t>(middle - 1);
    }
  }
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const auto signed_word = [&](int word) { return static_cast<std::uint16_t>(sign | word); };
  return {signed_word(low), signed_word(low == kLargest ? low : low + 1)};
}

// The distance of a value from its lower neighbour, as a share of the distance of the neighbours.
double FractionOf(float value) {
  const auto [lower, upper] = Neighbours(value);
  if (lower == upper) return 0;
  return (static_cast<double>(value) - ValueOf(lower)) / (ValueOf(upper) - ValueOf(lower));
}

// Floats of all magnitudes, and some of the edges.
Row SomeFloats(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::kGenerate, 0, 0);
  constexpr float kMax = std::numeric_limits<float>::max();
  const Row edges = {0.0F,  -0.0F,    1.0F,   -1.0F,  1.00390625F, 1.01171875F, kMax,
                     -kMax, 3.39e38F, 1e-45F, 1e-40F, -1.2e-38F,   0.1F,        std::numeric_limits<float>::min()};
  Row row;
  while (row.size() < count) {
    const auto bits = random.Next32();
    const auto value = std::bit_cast<float>(bits);
    if (random.Below(4) == 0) {
      row.push_back(edges[random.Below(edges.size())]);
    } else if (std::isfinite(value)) {
      row.push_back(value);
    }
  }
  return row;
}

Words Rounded(const RowRounding& rounding, std::uint64_t node, const Row& row) {
  Words words(row.size(), 0xABCD);
  RoundStochastically(rounding, NodeId{node}, row, words);
  return words;
}

TEST(Widen, IsExactForEveryWordAndLength) {
  Words words(65536);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint16_t>(i);
  Row row(words.size());
  Widen(words, row);
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(row[i]), i << 16) << i;
    if (std::isfinite(row[i])) {
      ASSERT_EQ(row[i], ValueOf(words[i])) << i;
    }
  }
  Words back(words.size());
  TakeWords(row, back);
  EXPECT_EQ(back, words);
  for (std::size_t n = 0; n < 70; ++n) {
    Row part(n + 1, 7.0F);
    Widen(std::span(words).subspan(16000, n), std::span(part).first(n));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(part[i], ValueOf(words[16000 + i]));
    ASSERT_EQ(part[n], 7.0F) << "written past the end";
  }
}

TEST(Widen, TakesWordsFromTheLastHalfOfItsOutput) {
  for (std::size_t n = 1; n < 150; ++n) {
    Words words(n);
    for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<std::uint16_t>(0x3F80 + 13 * i);
    Row row(n);
    char* const half = reinterpret_cast<char*>(row.data()) + 2 * n;
    std::memcpy(half, words.data(), 2 * n);
    Widen({reinterpret_cast<const std::uint16_t*>(half), n}, row);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(row[i], ValueOf(words[i])) << n << ' ' << i;
  }
}

TEST(RoundToNearest, TakesTheNearerNeighbourAndTheEvenOneOfTwo) {
  const Row row = SomeFloats(20000, 1);
  Words words(row.size());
  RoundToNearest(row, words);
  std::size_t ties = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto [lower, upper] = Neighbours(row[i]);
    const double fraction = FractionOf(row[i]);
    ties += fraction == 0.5 ? 1 : 0;
    const bool up = fraction > 0.5 || (fraction == 0.5 && lower % 2 == 1);
    ASSERT_EQ(words[i], up ? upper : lower) << row[i];
  }
  EXPECT_GT(ties, 100U);
}

// Takes the draws from the stream as the header describes, and rounds in double precision.
TEST(RoundStochastically, IsTheNaiveVersionForEveryLength) {
  std::vector<std::size_t> lengths = {128, 200, 256, 257, 400, 1000, 1031};
  for (std::size_t n = 0; n < 100; ++n) lengths.push_back(n);
  for (const std::size_t n : lengths) {
    const RowRounding rounding{.seed = 77 + n, .step = (std::uint64_t{1} << 32) + 5 * n};
    const std::uint64_t node = (std::uint64_t{3} << 32) + n;
    const Row row = SomeFloats(n, n);
    const std::size_t blocks = n / 8;
    RandomStream stream(rounding.seed, RandomPurpose::kRounding, static_cast<std::uint32_t>(rounding.step), node);
    std::vector<std::uint32_t> drawn(4 * (blocks + 1));
    for (std::uint32_t& word : drawn) word = stream.Next32();
    const Words words = Rounded(rounding, node, row);
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t draw = 0;
      if (i < 8 * blocks) {
        const std::size_t quarter = i / (2 * blocks);
        const std::size_t block = i % (2 * blocks) / 2;
        const std::uint32_t word = drawn[4 * block + quarter / 2 * 2 + i % 2];
        draw = quarter % 2 == 0 ? word & 0xFFFF : word >> 16;
      } else {
        const std::uint32_t word = drawn[4 * blocks + (i - 8 * blocks) / 2];
        draw = i % 2 == 0 ? word & 0xFFFF : word >> 16;
      }
      const auto [lower, upper] = Neighbours(row[i]);
      const bool up = FractionOf(row[i]) * 65536 + draw >= 65536;
      ASSERT_EQ(words[i], up ? upper : lower) << "element " << i << " of " << n << ": " << row[i];
    }
  }
}

// Over all steps of a node and over many nodes the mean of the roundings is the value: within 5 standard deviations.
TEST(RoundStochastically, IsRightInTheMean) {
  constexpr std::size_t kDim = 40;
  constexpr int kRoundings = 20000;
  RandomStream random(9, RandomPurpose::kGenerate, 0, 0);
  Row row(kDim);
  for (float& value : row) value = random.NextNormal() * 0.01F;
  for (const bool by_step : {true, false}) {
    std::vector<double> sums(kDim);
    for (int i = 0; i < kRoundings; ++i) {
      const auto count = static_cast<std::uint64_t>(i);
      const Words words = Rounded({.seed = 4, .step = by_step ? count : 1}, by_step ? 1 : count, row);
      for (std::size_t d = 0; d < kDim; ++d) sums[d] += ValueOf(words[d]);
    }
    for (std::size_t d = 0; d < kDim; ++d) {
      const auto [lower, upper] = Neighbours(row[d]);
      const double step = std::abs(ValueOf(upper) - ValueOf(lower));
      const double fraction = FractionOf(row[d]);
      const double deviation = step * std::sqrt(fraction * (1 - fraction) / kRoundings);
      EXPECT_NEAR(sums[d] / kRoundings, row[d], 5 * deviation) << d;
      EXPECT_GT(std::abs(ValueOf(lower) - static_cast<double>(row[d])), 0) << "nothing to round";
    }
  }
}

TEST(RoundStochastically, DrawsAtSeedStepNodeAndElement) {
  const Row row(256, 1.00390625F);  // half a step above 1
  const Words words = Rounded({.seed = 1, .step = 2}, 3, row);
  EXPECT_EQ(Rounded({.seed = 1, .step = 2}, 3, row), words);
  for (const Words& other :
       {Rounded({.seed = 2, .step = 2}, 3, row), Rounded({.seed = 1, .step = 3}, 3, row),
        Rounded({.seed = 1, .step = 2}, 4, row), Rounded({.seed = 1, .step = 2}, 3 + (std::uint64_t{1} << 32), row)}) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < row.size(); ++i) same += other[i] == words[i] ? 1 : 0;
    EXPECT_GT(same, 88U);  // 128 of 256 expected, 5 deviations of 8 below
    EXPECT_LT(same, 168U);
  }
  const auto up = static_cast<std::size_t>(std::ranges::count(words, 0x3F81));
  EXPECT_EQ(up + static_cast<std::size_t>(std::ranges::count(words, 0x3F80)), words.size());
  EXPECT_GT(up, 88U);
  EXPECT_LT(up, 168U);
}

TEST(RoundStochastically, WhatIsAWordStaysThatWord) {
  Words words;
  for (std::uint32_t word = 0; word < 65536; ++word) words.push_back(static_cast<std::uint16_t>(word));
  Row row(words.size());
  Widen(words, row);
  const Words rounded = Rounded({.seed = 5, .step = 6}, 7, row);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool nan = std::isnan(row[i]);
    ASSERT_EQ(rounded[i], nan ? words[i] | 0x40 : words[i]) << i;
  }
}

// A random carry would turn a NaN with all mantissa bits set into -0, and a diverged training would not be detected.
TEST(Rounding, NothingBecomesFiniteAndNothingInfinite) {
  Row broken;
  for (const std::uint32_t bits : {0x7F800000U, 0xFF800000U, 0x7F800001U, 0xFF800001U, 0x7F80FFFFU, 0x7FC00000U,
                                   0x7FFFFFFFU, 0xFFFFFFFFU, 0x7FFF8000U, 0xFFBFFFFFU}) {
    broken.insert(broken.end(), 13, std::bit_cast<float>(bits));
  }
  Row largest;
  for (const std::uint32_t bits : {0x7F7FFFFFU, 0xFF7FFFFFU, 0x7F7F0001U, 0x7F7F8000U, 0xFF7F0000U, 0x7F7EFFFFU}) {
    largest.insert(largest.end(), 13, std::bit_cast<float>(bits));
  }
  for (std::uint64_t step = 0; step < 200; ++step) {
    for (const Row* row : {&broken, &largest}) {
      Words words = Rounded({.seed = 8, .step = step}, step, *row);
      if (step == 0) RoundToNearest(*row, words);
      Row wide(row->size());
      Widen(words, wide);
      for (std::size_t i = 0; i < wide.size(); ++i) {
        ASSERT_EQ(std::isnan(wide[i]), std::isnan((*row)[i])) << i;
        ASSERT_EQ(std::isinf(wide[i]), std::isinf((*row)[i])) << i;
        ASSERT_EQ(std::signbit(wide[i]), std::signbit((*row)[i])) << i;
      }
    }
  }
}

}  // namespace
}  // namespace octavo
