#include "model/gemm.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

constexpr float kEpsilon = std::numeric_limits<float>::epsilon() / 2;  // of one rounding
constexpr float kGuard = 12345.0F;

struct Shape {
  std::size_t m, n, k;
};

// Around the vector widths (4, 8, 16), the panels (32, 48, 64), their blocks of rows (6, 8, 48) and of depth (256).
std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {{1, 1, 1},     {2, 3, 4},      {5, 16, 7},    {6, 17, 16},   {7, 31, 17},  {8, 32, 33},
                               {9, 33, 100},  {47, 47, 15},   {48, 48, 255}, {49, 49, 256}, {3, 63, 257}, {13, 64, 64},
                               {50, 65, 300}, {97, 100, 513}, {33, 200, 31}, {4, 129, 5},   {1, 500, 40}, {101, 1, 77}};
  for (std::size_t n = 1; n <= 70; ++n) shapes.push_back({n % 11 + 1, n, 3 * n % 37 + 1});
  for (std::size_t k = 2; k <= 257; k += 15) shapes.push_back({k % 14 + 1, 18, k});
  return shapes;
}

class GemmTest : public testing::TestWithParam<GemmBackend> {};

INSTANTIATE_TEST_SUITE_P(Backends, GemmTest, testing::Values(GemmBackend::kLibxsmm, GemmBackend::kPortable),
                         [](const auto& which) { return std::string(GemmBackendName(which.param)); });

// The sum of k products and k - 1 additions is off by at most k roundings of the sum of the moduli.
TEST_P(GemmTest, AgreesWithNaiveLoop) {
  for (const auto& [m, n, k] : Shapes()) {
    for (const bool accumulate : {false, true}) {
      const std::size_t lda = k + 3, ldb = n + 1, ldc = n + 2;  // odd strides: rows are misaligned
      const auto a = RandomRows(m * lda, 1), b = RandomRows(k * ldb, 2), before = RandomRows(m * ldc, 3);
      auto c = before;
      for (std::size_t i = 0; i < m; ++i) c[i * ldc + n] = c[i * ldc + n + 1] = kGuard;
      GemmWith(GetParam(), m, n, k, {a.data(), lda}, {b.data(), ldb}, c.data(), ldc, accumulate);
      for (std::size_t i = 0; i < m; ++i) {
        ASSERT_EQ(c[i * ldc + n], kGuard);
        ASSERT_EQ(c[i * ldc + n + 1], kGuard);
        for (std::size_t j = 0; j < n; ++j) {
          double sum = accumulate ? before[i * ldc + j] : 0;
          double magnitude = std::abs(sum);
          for (std::size_t l = 0; l < k; ++l) {
            const double product = static_cast<double>(a[i * lda + l]) * b[l * ldb + j];
            sum += product;
            magnitude += std::abs(product);
          }
          ASSERT_NEAR(c[i * ldc + j], sum, static_cast<double>(k + 1) * kEpsilon * magnitude)
              << m << " x " << n << " x " << k << " at " << i << ", " << j;
        }
      }
    }
  }
}

// An element computed alone, in a 1 x 1 x k product, has the same bits as in a larger product.
TEST_P(GemmTest, ElementDependsOnItsRowColumnAndDepthOnly) {
  for (const auto& [m, n, k] : Shapes()) {
    const auto a = RandomRows(m * k, 1), b = RandomRows(k * n, 2);
    std::vector<float> c(m * n);
    GemmWith(GetParam(), m, n, k, {a.data(), k}, {b.data(), n}, c.data(), n, false);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        float alone = 0;
        GemmWith(GetParam(), 1, 1, k, {a.data() + i * k, k}, {b.data() + j, n}, &alone, 1, false);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(alone), std::bit_cast<std::uint32_t>(c[i * n + j]))
            << m << " x " << n << " x " << k << " at " << i << ", " << j;
      }
    }
  }
}

// libxsmm created and kept open /tmp/.libxsmm.UID: a training waited for ever if someone else had made a pipe of that
// name, and created the file that a link of that name led to.
TEST(GemmBackendTest, HoldsNoFileThatEveryoneCanName) {
  namespace fs = std::filesystem;
  static_cast<void>(ActiveGemmBackend());
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string name = fs::read_symlink(entry.path(), ignored).filename().string();
    EXPECT_FALSE(name.starts_with(".libxsmm")) << name;
  }
}

// Both add in the order of l with fused multiply-adds. The header does not promise this, but the stability of their
// bits relies on it.
TEST(GemmBackendTest, BackendsAgreeBitForBit) {
  if (ActiveGemmBackend() != GemmBackend::kLibxsmm) GTEST_SKIP() << "no libxsmm here";
  for (const auto& [m, n, k] : Shapes()) {
    const auto a = RandomRows(m * k, 1), b = RandomRows(k * n, 2);
    auto c = RandomRows(m * n, 3), d = c;
    GemmWith(GemmBackend::kLibxsmm, m, n, k, {a.data(), k}, {b.data(), n}, c.data(), n, true);
    GemmWith(GemmBackend::kPortable, m, n, k, {a.data(), k}, {b.data(), n}, d.data(), n, true);
    ASSERT_EQ(c, d) << m << " x " << n << " x " << k;
  }
}

TEST(GemmTransposedTest, OperandsTransposedBeforehandGiveTheSameBits) {
  for (const auto& [m, n, k] : Shapes()) {
    const auto a = RandomRows(m * k, 1), b = RandomRows(k * n, 2), before = RandomRows(m * n, 3);
    std::vector<float> a_transposed(k * m), b_transposed(n * k);
    Transpose(m, k, a.data(), k, a_transposed.data(), m);
    Transpose(k, n, b.data(), n, b_transposed.data(), k);
    for (const bool accumulate : {false, true}) {
      auto expected = before, by_a = before, by_b = before;
      Gemm(m, n, k, {a.data(), k}, {b.data(), n}, expected.data(), n, accumulate);
      Gemm(m, n, k, {a_transposed.data(), m, true}, {b.data(), n}, by_a.data(), n, accumulate);
      Gemm(m, n, k, {a.data(), k}, {b_transposed.data(), k, true}, by_b.data(), n, accumulate);
      ASSERT_EQ(by_a, expected) << m << " x " << n << " x " << k;
      ASSERT_EQ(by_b, expected) << m << " x " << n << " x " << k;
    }
  }
}

TEST_P(GemmTest, NoTermsGiveZeroOrLeaveTheSum) {
  std::vector<float> c(6, 7.0F);
  GemmWith(GetParam(), 2, 3, 0, {nullptr, 0}, {nullptr, 3}, c.data(), 3, true);
  EXPECT_EQ(c, std::vector<float>(6, 7.0F));
  GemmWith(GetParam(), 2, 3, 0, {nullptr, 0}, {nullptr, 3}, c.data(), 3, false);
  EXPECT_EQ(c, std::vector<float>(6, 0.0F));
  GemmWith(GetParam(), 0, 3, 2, {nullptr, 2}, {c.data(), 3}, nullptr, 3, false);
  GemmWith(GetParam(), 2, 0, 2, {c.data(), 2}, {nullptr, 0}, nullptr, 0, false);
}

TEST_P(GemmTest, NanReachesItsRowOnly) {
  const std::size_t m = 20, n = 50, k = 30;
  auto a = RandomRows(m * k, 1);
  const auto b = RandomRows(k * n, 2);
  a[7 * k + 29] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> c(m * n);
  GemmWith(GetParam(), m, n, k, {a.data(), k}, {b.data(), n}, c.data(), n, false);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) ASSERT_EQ(std::isnan(c[i * n + j]), i == 7);
  }
}

TEST_P(GemmTest, ThreadsGetTheSameBits) {
  const auto a = RandomRows(90 * 130, 1), b = RandomRows(130 * 110, 2);
  const auto product = [&] {
    std::vector<float> all;
    for (std::size_t m = 1; m <= 90; m += 7) {  // shapes whose code is generated by several threads at once
      std::vector<float> c(m * 110);
      GemmWith(GetParam(), m, 110, m + 40, {a.data(), 130}, {b.data(), 110}, c.data(), 110, false);
      all.insert(all.end(), c.begin(), c.end());
    }
    return all;
  };
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = product(); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST(TransposeTest, AgreesWithNaiveLoop) {
  for (std::size_t rows = 1; rows <= 37; rows += 3) {
    for (std::size_t columns = 1; columns <= 70; ++columns) {
      const std::size_t ldf = columns + 1, ldt = rows + 2;
      const auto from = RandomRows(rows * ldf, rows);
      std::vector<float> to(columns * ldt, kGuard);
      Transpose(rows, columns, from.data(), ldf, to.data(), ldt);
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < rows; ++i) ASSERT_EQ(to[j * ldt + i], from[i * ldf + j]);
        ASSERT_EQ(to[j * ldt + rows], kGuard);
        ASSERT_EQ(to[j * ldt + rows + 1], kGuard);
      }
    }
  }
}

}  // namespace
}  // namespace octavo
