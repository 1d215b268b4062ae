#include "model/bf16_product.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/support/naive_bf16.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

constexpr float kGuard = 12345.0F;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint32_t ComparableBits(float value) {
  return std::isnan(value) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(value);
}

struct Shape {
  std::size_t m, n, k;
};

// Around the sides of tiles (16, 32), the blocks of rows (3, 7, 42), the terms (2, 32) and the depth (256).
std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {{1, 1, 1},    {3, 16, 32},  {7, 17, 33},  {8, 31, 31},   {15, 32, 64},  {16, 33, 2},
                               {17, 1, 65},  {41, 18, 30}, {43, 47, 34}, {33, 15, 95},  {2, 5, 255},   {4, 20, 257},
                               {1, 40, 513}, {40, 50, 70}, {33, 33, 97}, {35, 37, 530}, {34, 50, 256}, {34, 50, 257}};
  for (std::size_t size = 1; size <= 34; ++size) shapes.push_back({size, 35 - size, size * 7 % 67 + 1});
  for (std::size_t k = 1; k <= 66; ++k) shapes.push_back({k % 5 + 1, k % 7 + 13, k});
  return shapes;
}

// Rows [m, k] of a left operand and columns [n, k] of a right one: each column is a row here.
struct Operands {
  Shape shape;
  std::vector<float> a, b;

  Operands(const Shape& s, std::vector<float> left, std::vector<float> right)
      : shape(s), a(std::move(left)), b(std::move(right)) {}
  Operands(const Shape& s, std::uint64_t seed)
      : Operands(s, RandomRows(s.m * s.k, seed), RandomRows(s.n * s.k, seed + 1)) {}

  float Expected(std::size_t i, std::size_t j) const {
    return NaiveBf16Element(shape.k, [&](std::size_t l) { return std::pair(a[i * shape.k + l], b[j * shape.k + l]); });
  }
};

// [rows, columns] to [columns, rows + gap], the gap full of NaNs.
std::vector<float> Transposed(const std::vector<float>& from, std::size_t rows, std::size_t columns, std::size_t gap) {
  std::vector<float> to(columns * (rows + gap), kNan);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) to[j * (rows + gap) + i] = from[i * columns + j];
  }
  return to;
}

class Bf16ProductTest : public testing::TestWithParam<Bf16Backend> {
 protected:
  void SetUp() override {
    if (!Bf16BackendWorks(GetParam())) GTEST_SKIP() << "not on this processor";
  }

  // Memory is full of NaNs first: what packing leaves out shows.
  std::vector<float> Left(const Operands& o) const {
    std::vector<float> packed(Bf16LeftFloats(o.shape.m, o.shape.k), kNan);
    PackBf16Left(GetParam(), o.shape.m, o.shape.k, o.a.data(), o.shape.k, packed.data());
    return packed;
  }
  std::vector<float> Right(const Operands& o) const {
    std::vector<float> packed(Bf16RightFloats(o.shape.k, o.shape.n), kNan);
    PackBf16RightColumns(GetParam(), o.shape.k, o.shape.n, 0, o.shape.n, o.b.data(), o.shape.k, packed.data());
    return packed;
  }

  void ExpectProduct(const Operands& o, const std::vector<float>& left, const std::vector<float>& right) const {
    const auto [m, n, k] = o.shape;
    const std::size_t ldc = n + 3;
    std::vector<float> c(m * ldc, kGuard);
    Bf16Multiply(GetParam(), m, n, k, left.data(), right.data(), c.data(), ldc);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        ASSERT_EQ(ComparableBits(c[i * ldc + j]), ComparableBits(o.Expected(i, j)))
            << m << " x " << n << " x " << k << " at " << i << ", " << j;
      }
      for (std::size_t j = n; j < ldc; ++j) ASSERT_EQ(c[i * ldc + j], kGuard);
    }
  }
  void ExpectProduct(const Operands& o) const { ExpectProduct(o, Left(o), Right(o)); }
};

std::string NameOf(const testing::TestParamInfo<Bf16Backend>& which) {
  std::string name(Bf16BackendName(which.param));
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Backends, Bf16ProductTest,
                         testing::Values(Bf16Backend::kScalar, Bf16Backend::kFma, Bf16Backend::kAmx,
                                         Bf16Backend::kAmxModel),
                         NameOf);

class Bf16WordsTest : public Bf16ProductTest {};
INSTANTIATE_TEST_SUITE_P(Backends, Bf16WordsTest, testing::Values(Bf16Backend::kAmx, Bf16Backend::kAmxModel), NameOf);

TEST_P(Bf16ProductTest, HasTheBitsOfTheDefinition) {
  std::uint64_t seed = 1;
  for (const Shape& shape : Shapes()) ExpectProduct(Operands(shape, ++seed));
}

// Denormal factors, sums and results, and sums that cancel to zeros of both signs.
TEST_P(Bf16ProductTest, DenormalsAreZeros) {
  RandomStream random(3, RandomPurpose::kInitialEmbeddings, 0, 0);
  const auto draw = [&](std::size_t size, int exponent) {
    std::vector<float> values(size);
    for (float& value : values) {
      const int spread = static_cast<int>(random.Below(8));
      value = std::ldexp(random.NextNormal(), exponent + spread);
      if (random.Below(6) == 0) value = random.Below(2) == 0 ? 0.0F : -0.0F;
    }
    return values;
  };
  for (const Shape& shape : Shapes()) {
    for (const auto& [left, right] : {std::pair(-66, -66), {-130, 0}, {-3, -128}, {-64, -68}}) {
      ExpectProduct(Operands(shape, draw(shape.m * shape.k, left), draw(shape.n * shape.k, right)));
    }
  }
}

// A sum of -0 and then terms of -0: the zeros in place of the missing terms make it 0.
TEST_P(Bf16ProductTest, MissingTermsAreZeros) {
  Operands o({1, 1, 66}, std::vector<float>(66, 0.0F), std::vector<float>(66, 0x1p-63F));
  o.a[0] = 0x1.8p-63F;
  o.a[32] = -0x1p-62F;  // leaves -2^-127, which is -0
  o.a[64] = o.a[65] = -0x1p-80F;
  EXPECT_EQ(ComparableBits(o.Expected(0, 0)), ComparableBits(0.0F));
  ExpectProduct(o);
}

TEST_P(Bf16ProductTest, NanAndInfinityReachTheirRowsAndColumnsOnly) {
  RandomStream random(4, RandomPurpose::kInitialEmbeddings, 0, 0);
  for (const Shape& shape : Shapes()) {
    Operands o(shape, shape.k);
    for (auto* const values : {&o.a, &o.b}) {
      for (const float special : {kNan, kInfinity, -kInfinity, 3.4e38F, std::numeric_limits<float>::max()}) {
        if (random.Below(3) == 0) (*values)[random.Below(values->size())] = special;
      }
    }
    ExpectProduct(o);
  }
}

// From the transposes, and in parts that begin and end anywhere, as pieces of chunks do.
TEST_P(Bf16ProductTest, OperandsPackedInPartsAreThoseOfOne) {
  for (const Shape& shape : Shapes()) {
    const auto [m, n, k] = shape;
    const Operands o(shape, k);
    const std::size_t stride = Bf16LeftStride(GetParam(), k);
    const auto a = Transposed(o.a, m, k, 5), b = Transposed(o.b, n, k, 3);
    for (const std::size_t part : {std::size_t{1}, std::size_t{3}, std::size_t{8}, k}) {
      std::vector<float> left(Bf16LeftFloats(m, k), kNan), right(Bf16RightFloats(k, n), kNan);
      for (std::size_t last = k; last > 0;) {  // backwards: any order will do
        const std::size_t first = last - std::min(part, last);
        PackBf16LeftColumns(GetParam(), m, k, first, last - first, a.data() + first * (m + 5), m + 5, left.data(),
                            stride);
        PackBf16RightRows(GetParam(), k, n, first, last - first, b.data() + first * (n + 3), n + 3, right.data());
        last = first;
      }
      ExpectProduct(o, left, right);
    }
    std::vector<float> right(Bf16RightFloats(k, n), kNan);
    for (std::size_t j = 0; j < n; j += 16) {
      PackBf16RightColumns(GetParam(), k, n, j, 16, o.b.data() + j * k, k, right.data());
    }
    ExpectProduct(o, Left(o), right);
  }
}

TEST_P(Bf16ProductTest, LeftRowsArePackedInPlace) {
  for (const Shape& shape : Shapes()) {
    const Operands o(shape, shape.k);
    std::vector<float> left = o.a;
    left.resize(Bf16LeftFloats(shape.m, shape.k), kNan);
    PackBf16Left(GetParam(), shape.m, shape.k, left.data(), shape.k, left.data());
    ExpectProduct(o, left, Right(o));
  }
}

// The transpose, and a right operand by rows: forms of words only.
TEST_P(Bf16WordsTest, OtherFormsHaveTheSameBits) {
  for (const Shape& shape : Shapes()) {
    const auto [m, n, k] = shape;
    Operands o(shape, k);
    if (m > 1 && k % 2 == 0) o.a[k / 2] = kInfinity;
    const std::vector<float> left = Left(o), right = Right(o);
    const auto b = Transposed(o.b, n, k, 2);
    std::vector<float> rows(Bf16LeftFloats(k, n), kNan), panel(Bf16PanelFloats(k), kNan);
    PackBf16Left(GetParam(), k, n, b.data(), n + 2, rows.data());
    const std::size_t gap = 3;
    std::vector<float> columns(n * (m + gap), kGuard), by_rows(m * (n + gap), kGuard);
    Bf16MultiplyTransposed(GetParam(), m, n, k, left.data(), right.data(), columns.data(), m + gap);
    Bf16MultiplyByRows(GetParam(), m, n, k, left.data(), rows.data(), panel.data(), by_rows.data(), n + gap);
    for (std::size_t i = 0; i < m + gap; ++i) {
      for (std::size_t j = 0; j < n + gap; ++j) {
        const float expected = i < m && j < n ? o.Expected(i, j) : kGuard;
        if (j < n) {
          ASSERT_EQ(ComparableBits(columns[j * (m + gap) + i]), ComparableBits(expected))
              << m << " x " << n << " x " << k;
        }
        if (i < m) {
          ASSERT_EQ(ComparableBits(by_rows[i * (n + gap) + j]), ComparableBits(expected))
              << m << " x " << n << " x " << k;
        }
      }
    }
  }
}

TEST_P(Bf16ProductTest, AddsRowsToRowsAnywhere) {
  for (const Shape& shape : {Shape{1, 16, 1},
                             {5, 48, 50},
                             {33, 400, 50},
                             {50, 32, 17},
                             {96, 16, 256},
                             {43, 400, 31},
                             {33, 848, 70},
                             {35, 48, 300},
                             {33, 80, 257}}) {
    const auto [m, n, k] = shape;
    const Operands o(shape, k);
    const std::vector<float> right = Right(o);
    // Rows of the left operand as the gradients' factors have them: no more than m.
    const std::size_t stride = Bf16LeftStride(GetParam(), k);
    std::vector<float> left(m * stride, kNan), c = RandomRows(m * n, 9);
    const auto a = Transposed(o.a, m, k, 0);
    PackBf16LeftColumns(GetParam(), m, k, 0, k, a.data(), m, left.data(), stride);
    c[0] = -0.0F;
    c[n - 1] = std::numeric_limits<float>::denorm_min();
    auto expected = c;
    const auto others = RandomRows(n, 10);
    std::vector<const float*> from, addends;
    std::vector<float*> to;
    for (std::size_t i = 0; i < m; ++i) {
      from.push_back(left.data() + i * stride);
      const std::size_t row = i * i % m;  // some rows more than once, others never
      to.push_back(c.data() + row * n);
      const bool other = i % 5 == 3;
      addends.push_back(other ? others.data() : to.back());
      for (std::size_t j = 0; j < n; ++j) {
        expected[row * n + j] = (other ? others[j] : expected[row * n + j]) + o.Expected(i, j);
      }
    }
    Bf16AddProductRows(GetParam(), m, n, k, from.data(), right.data(), addends.data(), to.data());
    for (std::size_t i = 0; i < c.size(); ++i)
      ASSERT_EQ(ComparableBits(c[i]), ComparableBits(expected[i])) << m << " x " << n << " x " << k;
  }
}

TEST_P(Bf16ProductTest, NoTermsGiveZero) {
  std::vector<float> c(6, 7.0F);
  Bf16Multiply(GetParam(), 2, 3, 0, nullptr, nullptr, c.data(), 3);
  EXPECT_EQ(c, std::vector<float>(6, 0.0F));
  Bf16Multiply(GetParam(), 0, 3, 2, nullptr, nullptr, nullptr, 3);
  Bf16Multiply(GetParam(), 2, 0, 2, nullptr, nullptr, nullptr, 0);
}

// The mode for denormals is the calling thread's own, and only for the time of a product.
TEST_P(Bf16ProductTest, OtherSumsKeepTheirDenormals) {
  const Operands o({20, 40, 70}, 1);
  ExpectProduct(o);
  volatile float small = std::numeric_limits<float>::min();
  small = small / 4;
  EXPECT_GT(small, 0.0F);
}

TEST_P(Bf16ProductTest, ThreadsGetTheSameBits) {
  const Operands o({50, 70, 90}, 5);
  const auto left = Left(o), right = Right(o);
  std::vector<std::vector<float>> results(4, std::vector<float>(50 * 70));
  std::vector<std::thread> threads;
  for (auto& c : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) Bf16Multiply(GetParam(), 50, 70, 90, left.data(), right.data(), c.data(), 70);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

// The order is that of the definition and no other: one chain of sums has other bits.
TEST(Bf16OrderTest, IsNotThatOfOneChain) {
  const Operands o({1, 1, 64}, 6);
  float chain = 0;
  for (std::size_t l = 0; l < 64; ++l) chain = std::fma(NaiveBf16(o.a[l]), NaiveBf16(o.b[l]), chain);
  EXPECT_NE(chain, o.Expected(0, 0));
}

TEST(Bf16BackendTest, TheActiveOneWorks) {
  EXPECT_TRUE(Bf16BackendWorks(ActiveBf16Backend()));
  RecordProperty("amx", AmxWorks() ? "seen" : "absent");
}

}  // namespace
}  // namespace octavo
