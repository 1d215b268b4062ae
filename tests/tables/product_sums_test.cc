#include "tables/product_sums.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/support/random_rows.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/listed_batch.h"
#include "tests/tables/loaded_table.h"

namespace octavo {
namespace {

constexpr std::uint64_t kRows = 3000;

// One term: a fused multiply-add on all targets except the one without vectors (tests/model/simd_target.cc).
float AddTerm(float a, float b, float sum) {
  static const char* const target = std::getenv("OCTAVO_TEST_TARGET");
  if (target == nullptr || std::string_view(target) != "scalar") return std::fma(a, b, sum);
  const float product = a * b;
  return product + sum;
}

// Chunks of gradients: each has some rows and two products; together they span several ranges.
struct Batch {
  Batch(std::size_t width, std::size_t chunks, std::uint64_t nodes) : dim(width), stride(ProductStride(width)) {
    RandomStream random(5, RandomPurpose::kSplit, 0, 0);
    products.reserve(2 * chunks);
    for (std::size_t c = 0; c < chunks; ++c) {
      values.push_back(RandomRows(7 * dim, c));
      for (std::size_t i = 0; i < 7; ++i) {
        gradients.push_back({NodeId{random.Below(nodes)}, values.back().data() + i * dim});
      }
      for (std::uint64_t side = 0; side < 2; ++side) {
        const std::size_t terms = 1 + random.Below(9);
        const std::size_t count = 1 + random.Below(300);
        std::vector<float> rows = RandomRows(terms * stride, 100 + c + side);
        for (std::size_t l = 0; l < terms; ++l) std::fill_n(rows.data() + l * stride + dim, stride - dim, 0.0F);
        factors.push_back(std::move(rows));
        values.push_back(RandomRows(count * terms, 200 + c + side, static_cast<float>(1U << random.Below(20))));
        products.push_back({terms, terms, factors.back().data()});
        for (std::size_t j = 0; j < count; ++j) {
          gradients.push_back({NodeId{random.Below(nodes)}, values.back().data() + j * terms, &products.back()});
        }
      }
    }
  }

  // The sums by a loop over all gradients, products made term by term.
  std::vector<std::vector<float>> Sums() const {
    std::vector<std::vector<float>> sums(kRows);
    for (const RowGradient& one : gradients) {
      std::vector<float> gradient(dim);
      for (std::size_t d = 0; d < dim; ++d) {
        if (one.product == nullptr) gradient[d] = one.values[d];
        for (std::size_t l = 0; one.product != nullptr && l < one.product->terms; ++l) {
          gradient[d] = AddTerm(one.values[l], one.product->rows[l * stride + d], gradient[d]);
        }
      }
      std::vector<float>& sum = sums[Value(one.node)];
      if (sum.empty()) {
        sum = gradient;
      } else {
        for (std::size_t d = 0; d < dim; ++d) sum[d] += gradient[d];
      }
    }
    return sums;
  }

  std::size_t dim, stride;
  std::vector<std::vector<float>> values, factors;
  std::vector<GradientProduct> products;
  std::vector<RowGradient> gradients;
};

// What the memory of a thread is planned for.
TEST(RowsOfRange, TakeNoMoreThanTheMost) {
  for (const std::size_t dim : {1UL, 16UL, 400UL, 4'096UL}) {
    for (const std::size_t rows : {1UL, 10'000UL, 1UL << 24}) {
      EXPECT_LE(RowsOfRange(rows, dim) * ProductStride(dim) * sizeof(float), kMostRangeSumBytes)
          << rows << " x " << dim;
    }
  }
  EXPECT_EQ(RowsOfRange(10, 1 << 20), 1U) << "a row that is larger than that is a range";
}

// Few nodes, so that a row has gradients of many chunks and two of the same product; and many nodes, in several
// ranges.
TEST(ProductSums, AreThoseOfRowsMadeFirstForAnyThreads) {
  for (const auto& [dim, nodes] : {std::pair{5UL, 40UL}, {48UL, kRows}, {200UL, kRows}}) {
    const Batch batch(dim, 20, nodes);
    const std::vector<std::vector<float>> sums = batch.Sums();
    const TemporaryFolder folder;
    const auto table = MakeLoadedTable(folder.path(), "t", kRows, dim);
    const auto state = MakeLoadedTable(folder.path(), "s", kRows, 1);
    const auto update = [](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
      row_state[0] += 1;
      std::memcpy(row.data(), gradient.data(), gradient.size_bytes());
    };
    ASSERT_OK_AND_ASSIGN(const auto accumulator, MmapGradientAccumulator::Create(folder / "g", dim, {}));
    for (const int threads : {1, 2, 5}) {
      ListAndOrder(batch.gradients, accumulator->batch());
      WithThreads(threads, [&] { ASSERT_OK(accumulator->Apply(update, *table, *state, {})); });
      std::vector<float> row(dim), count(1);
      for (std::uint64_t node = 0; node < kRows; ++node) {
        ASSERT_OK(table->ReadRow(NodeId{node}, row));
        ASSERT_OK(state->ReadRow(NodeId{node}, count));
        const std::vector<float>& sum = sums[node];
        ASSERT_EQ(count[0] > 0, !sum.empty()) << node;
        ASSERT_EQ(row, sum.empty() ? std::vector<float>(dim) : sum) << node << " of " << dim;
      }
    }
  }
}

TEST(ProductSums, RowsThatAreNotThereUpdateNothing) {
  const TemporaryFolder folder;
  const auto table = MakeLoadedTable(folder.path(), "t", kRows, 1);
  const auto state = MakeLoadedTable(folder.path(), "s", kRows, 1);
  const std::vector<float> row(ProductStride(1), 1.0F);
  const GradientProduct product{1, 1, row.data()};
  ASSERT_OK_AND_ASSIGN(const auto accumulator, MmapGradientAccumulator::Create(folder / "g", 1, {}));
  ListAndOrder(std::vector<RowGradient>{{NodeId{5}, row.data(), &product}, {NodeId{kRows}, row.data(), &product}},
               accumulator->batch());
  int calls = 0;
  const auto count = [&](std::span<const float>, std::span<float>, std::span<float>) { ++calls; };
  EXPECT_EQ(accumulator->Apply(count, *table, *state, {}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(calls, 0);
}

// Rows at scattered addresses, some of c more than once: each sum has the product's bits, by fused multiply-adds in
// order; the sums are added in order. Sizes are around the vector widths and the blocks of rows.
TEST(AddProductRows, AddsTheBitsOfAPlainLoopInOrder) {
  for (const std::size_t n : {16UL, 32UL, 48UL, 64UL, 80UL, 112UL, 400UL}) {
    for (const auto& [m, k] : {std::pair{1UL, 1UL},
                               {2UL, 7UL},
                               {5UL, 16UL},
                               {6UL, 33UL},
                               {7UL, 3UL},
                               {13UL, 64UL},
                               {97UL, 50UL},
                               {20UL, 0UL}}) {
      const std::size_t ldb = n + 3, targets = m / 2 + 1;
      const auto a = RandomRows(m * k, 1), b = RandomRows(std::max<std::size_t>(k, 1) * ldb, 2);
      auto expected = RandomRows(targets * n, 3), c = expected;
      const auto others = RandomRows(n, 4);
      std::vector<const float*> a_rows, addends;
      std::vector<float*> c_rows;
      for (std::size_t i = 0; i < m; ++i) {
        const std::size_t source = (i * 5 + 2) % m, target = i * i % targets;
        a_rows.push_back(a.data() + source * k);
        c_rows.push_back(c.data() + target * n);
        const bool other = i % 3 == 2;
        addends.push_back(other ? others.data() : c_rows.back());
        for (std::size_t j = 0; j < n; ++j) {
          float sum = 0;
          for (std::size_t l = 0; l < k; ++l) sum = AddTerm(a[source * k + l], b[l * ldb + j], sum);
          expected[target * n + j] = (other ? others[j] : expected[target * n + j]) + sum;
        }
      }
      AddProductRows(m, n, k, a_rows.data(), b.data(), ldb, addends.data(), c_rows.data());
      ASSERT_EQ(c, expected) << m << " x " << n << " x " << k;
    }
  }
}

}  // namespace
}  // namespace octavo
