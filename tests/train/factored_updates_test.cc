#include "train/factored_updates.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "model/chunk_kernel.h"
#include "tests/support/random_rows.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/loaded_table.h"

namespace octavo {
namespace {

constexpr std::uint64_t kRows = 3000;

// Chunks of gradients: some rows each, and two products, in all of several ranges of the updates.
struct Batch {
  Batch(std::size_t width, std::size_t chunks, std::uint64_t nodes) : dim(width), stride(FactorStride(width)) {
    RandomStream random(5, RandomPurpose::kSplit, 0, 0);
    products.reserve(2 * chunks);
    for (std::size_t c = 0; c < chunks; ++c) {
      values.push_back(RandomRows(7 * dim, c));
      for (std::size_t i = 0; i < 7; ++i) {
        contributions.push_back({NodeId{random.Below(nodes)}, values.back().data() + i * dim});
      }
      for (std::uint64_t side = 0; side < 2; ++side) {
        const std::size_t terms = 1 + random.Below(9);
        const std::size_t count = 1 + random.Below(300);
        std::vector<float> rows = RandomRows(terms * stride, 100 + c + side);
        for (std::size_t l = 0; l < terms; ++l) std::fill_n(rows.data() + l * stride + dim, stride - dim, 0.0F);
        factors.push_back(std::move(rows));
        values.push_back(RandomRows(count * terms, 200 + c + side, static_cast<float>(1U << random.Below(20))));
        products.push_back({terms, factors.back().data()});
        for (std::size_t j = 0; j < count; ++j) {
          contributions.push_back({NodeId{random.Below(nodes)}, values.back().data() + j * terms, &products.back()});
        }
      }
    }
  }

  // The sums by a loop over all contributions, products made term by term.
  std::vector<std::vector<float>> Sums() const {
    std::vector<std::vector<float>> sums(kRows);
    for (const Contribution& one : contributions) {
      std::vector<float> gradient(dim);
      for (std::size_t d = 0; d < dim; ++d) {
        if (one.product == nullptr) gradient[d] = one.gradient[d];
        for (std::size_t l = 0; one.product != nullptr && l < one.product->terms; ++l) {
          gradient[d] = std::fma(one.gradient[l], one.product->rows[l * stride + d], gradient[d]);
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
  std::vector<Contribution> contributions;
};

// Few nodes, so that a row has gradients of many chunks and twice of a product; and many, of several ranges, the rows
// of which hold 512 KiB at most.
TEST(FactoredUpdates, SumsAreThoseOfRowsMadeFirstForAnyThreads) {
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
    FactoredUpdates updates(dim);
    for (const int threads : {1, 2, 5}) {
      ContributionsByNode by_node;
      by_node.Order(batch.contributions);
      WithThreads(threads, [&] { ASSERT_OK(updates.UpdateAllRows(by_node, update, *table, *state, std::nullopt)); });
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

TEST(FactoredUpdates, RowsThatAreNotThereUpdateNothing) {
  const TemporaryFolder folder;
  const auto table = MakeLoadedTable(folder.path(), "t", kRows, 1);
  const auto state = MakeLoadedTable(folder.path(), "s", kRows, 1);
  const std::vector<float> row(FactorStride(1), 1.0F);
  const GradientProduct product{1, row.data()};
  const std::vector<Contribution> contributions = {{NodeId{5}, row.data(), &product},
                                                   {NodeId{kRows}, row.data(), &product}};
  ContributionsByNode by_node;
  by_node.Order(contributions);
  int calls = 0;
  const auto count = [&](std::span<const float>, std::span<float>, std::span<float>) { ++calls; };
  FactoredUpdates updates(1);
  EXPECT_EQ(updates.UpdateAllRows(by_node, count, *table, *state, std::nullopt).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace octavo
