#include "model/bf16_block.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/bf16_round.h"
#include "model/chunk_kernel.h"
#include "model/comparison.h"
#include "tests/support/naive_bf16.h"
#include "tests/support/naive_model.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

// c [m, n] of a(i, l) and b(l, j), l < k, by the definition.
template <typename A, typename B>
std::vector<float> NaiveProduct(std::size_t m, std::size_t n, std::size_t k, const A& a, const B& b) {
  std::vector<float> c(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      c[i * n + j] = NaiveBf16Element(k, [&](std::size_t l) { return std::pair(a(i, l), b(l, j)); });
    }
  }
  return c;
}

// Negatives packed as a chunk's gather does, some rows at a time.
struct Packed {
  Packed(Bf16Backend backend, std::size_t dim, std::size_t count, const std::vector<float>& rows, bool with_columns)
      : columns(with_columns ? PackedColumnFloats(dim, count) : 0, std::nanf("")),
        row_floats(PackedRowFloats(backend, dim, count), std::nanf("")) {
    for (std::size_t i = 0; i < count; i += kNegativesPacked) {
      PackNegatives(backend, dim, count, i, std::min(kNegativesPacked, count - i), rows.data() + i * dim, columns,
                    row_floats);
    }
  }
  PackedNegatives view() const { return {columns, row_floats}; }

  std::vector<float> columns, row_floats;
};

class Bf16BlockTest : public testing::TestWithParam<Bf16Backend> {
 protected:
  void SetUp() override {
    if (!Bf16BackendWorks(GetParam())) GTEST_SKIP() << "not on this processor";
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Bf16BlockTest,
                         testing::Values(Bf16Backend::kScalar, Bf16Backend::kFma, Bf16Backend::kAmx,
                                         Bf16Backend::kAmxModel),
                         [](const auto& which) {
                           std::string name(Bf16BackendName(which.param));
                           std::erase(name, '-');
                           return name;
                         });

// All three, gradients of negatives as rows and as factors, the factors in pieces that begin at even and odd queries.
TEST_P(Bf16BlockTest, ProductsHaveTheBitsOfTheDefinition) {
  for (const auto& [n, m, dim] :
       {std::tuple{1UL, 1UL, 1UL}, {5UL, 33UL, 7UL}, {33UL, 70UL, 34UL}, {50UL, 17UL, 48UL}}) {
    const auto queries = RandomRows(n * dim, 1), rows = RandomRows(m * dim, 2), slopes = RandomRows(n * m, 3);
    const auto query = [&](std::size_t i, std::size_t l) { return queries[i * dim + l]; };
    const auto row = [&](std::size_t j, std::size_t l) { return rows[j * dim + l]; };
    const auto slope = [&](std::size_t i, std::size_t j) { return slopes[i * m + j]; };
    const auto scores = NaiveProduct(n, m, dim, query, [&](std::size_t l, std::size_t j) { return row(j, l); });
    const auto query_gradients = NaiveProduct(n, dim, m, slope, row);
    const auto row_gradients = NaiveProduct(
        m, dim, n, [&](std::size_t j, std::size_t i) { return slope(i, j); }, query);

    const Packed packed(GetParam(), dim, m, rows, PacksColumns(GetParam(), dim, n));
    Bf16Block block(GetParam());
    std::vector<float> got(n * m), dq(n * dim), dn(m * dim);
    block.Score(dim, n, queries.data(), m, packed.view(), got.data());
    EXPECT_EQ(got, scores);
    if (Bf16HasWords(GetParam())) {  // in the other way, too
      const Packed other(GetParam(), dim, m, rows, !PacksColumns(GetParam(), dim, n));
      block.Score(dim, n, queries.data(), m, other.view(), got.data());
      EXPECT_EQ(got, scores);
    }
    std::vector<float> g = slopes;
    g.resize(Bf16LeftFloats(n, m));
    block.Backpropagate(dim, n, queries.data(), m, packed.view(), g.data(), dq.data(), dn.data());
    EXPECT_EQ(dq, query_gradients);
    EXPECT_EQ(dn, row_gradients);

    const std::size_t stride = WholeBf16(dim, kBf16Columns);
    const std::size_t slope_stride = Bf16LeftStride(GetParam(), n);
    std::vector<float> factor_slopes(m * slope_stride, std::nanf("")),
        factor_queries(Bf16RightFloats(n, dim), std::nanf(""));
    for (const auto& [first, last] : {std::pair{n - n / 3, n}, {0UL, n / 4}, {n / 4, n - n / 3}}) {
      if (first == last) continue;
      g.assign(slopes.begin() + static_cast<std::ptrdiff_t>(first * m),
               slopes.begin() + static_cast<std::ptrdiff_t>(last * m));
      g.resize(Bf16LeftFloats(last - first, m));
      const NegativeFactors factors{factor_slopes, factor_queries, slope_stride, stride, n, first};
      const float* const part = queries.data() + first * dim;
      std::vector<float> part_gradients((last - first) * dim);
      block.BackpropagateFactors(dim, last - first, part, m, packed.view(), g.data(), part_gradients.data(), factors);
      EXPECT_TRUE(std::equal(part_gradients.begin(), part_gradients.end(),
                             query_gradients.begin() + static_cast<std::ptrdiff_t>(first * dim)));
    }
    std::vector<float> sums(m * stride);
    const std::vector<float> nothing(stride, -0.0F);
    const std::vector<const float*> addends(m, nothing.data());
    std::vector<const float*> from;
    std::vector<float*> to;
    for (std::size_t j = 0; j < m; ++j) {
      from.push_back(factor_slopes.data() + j * slope_stride);
      to.push_back(sums.data() + j * stride);
    }
    Bf16AddProductRows(GetParam(), m, stride, n, from.data(), factor_queries.data(), addends.data(), to.data());
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t d = 0; d < dim; ++d) ASSERT_EQ(sums[j * stride + d], row_gradients[j * dim + d]);
    }
  }
}

// Rows of a bf16 table, whose words may be denormal.
TEST(PackNegativeWords, ProductsAreThoseOfTheFloats) {
  for (const Bf16Backend backend : {Bf16Backend::kAmxModel, Bf16Backend::kAmx}) {
    if (!Bf16BackendWorks(backend)) continue;
    for (const auto& [n, m, dim] :
         {std::tuple{1UL, 1UL, 1UL}, {5UL, 33UL, 31UL}, {18UL, 16UL, 32UL}, {9UL, 50UL, 70UL}}) {
      const auto queries = RandomRows(n * dim, 1), slopes = RandomRows(n * m, 3);
      std::vector<float> rows = RandomRows(m * dim, 2);
      std::vector<std::uint16_t> words(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        words[i] = i % 7 == 0 ? static_cast<std::uint16_t>(i % 2 << 15 | i % 0x80) : Bf16Word(rows[i]);
        rows[i] = FromBf16Word(words[i]);
      }
      for (const bool with_columns : {false, true}) {
        const Packed expected(backend, dim, m, rows, with_columns);
        std::vector<float> columns(expected.columns.size(), std::nanf(""));
        std::vector<float> row_floats(expected.row_floats.size(), std::nanf(""));
        for (std::size_t i = 0; i < m; ++i) {
          PackNegativeWords(backend, dim, m, i, words.data() + i * dim, columns, row_floats);
        }
        const auto results = [&](const PackedNegatives& packed) {
          Bf16Block block(backend);
          std::vector<float> scores(n * m), dq(n * dim), dn(m * dim), g = slopes;
          g.resize(Bf16LeftFloats(n, m));
          block.Score(dim, n, queries.data(), m, packed, scores.data());
          block.Backpropagate(dim, n, queries.data(), m, packed, g.data(), dq.data(), dn.data());
          return std::tuple(scores, dq, dn);
        };
        EXPECT_EQ(results({columns, row_floats}), results(expected.view())) << Bf16BackendName(backend);
      }
    }
  }
}

// A chunk whose both sides are trained, with one query for each edge.
struct SmallChunk {
  SmallChunk(const ModelSpec& spec, std::size_t e, std::size_t n, float scale)
      : model(spec), edges(e), negatives(n), begins(OneQueryEach(e)), weights(e, 1.5F) {
    const std::size_t sizes[] = {e * spec.dim, e * spec.dim, e * spec.RelationWidth(), e * spec.RelationWidth(),
                                 n * spec.dim, n * spec.dim};
    for (std::size_t part = 0; part < 6; ++part) {
      rows.push_back(RandomRows(sizes[part], part + 1, scale));
      gradients.emplace_back(sizes[part], 99.0F);
    }
    masks = {{0, 1}, {2, 0}};
  }

  ChunkInput Input() const {
    return {.begins = begins,
            .negatives = negatives,
            .heads = rows[0],
            .tails = rows[1],
            .relations = rows[2],
            .head_relations = rows[3],
            .weights = weights,
            .tail_negatives = rows[4],
            .head_negatives = rows[5],
            .tail_masks = masks,
            .head_masks = {}};
  }
  ChunkGradients Output(std::vector<std::vector<float>>& out) const {
    return {.heads = out[0],
            .tails = out[1],
            .relations = out[2],
            .head_relations = out[3],
            .tail_negatives = out[4],
            .head_negatives = out[5]};
  }
  ChunkLoss Compute(Bf16Backend backend) {
    const bool columns = PacksColumns(backend, model.dim, edges);
    const Packed tails(backend, model.dim, negatives, rows[4], columns);
    const Packed heads(backend, model.dim, negatives, rows[5], columns);
    ChunkInput input = Input();
    input.tail_negatives = input.head_negatives = {};
    input.tail_packed = tails.view();
    input.head_packed = heads.view();
    ChunkKernel kernel(model, {}, {}, {}, 0, backend);
    return kernel.Compute(input, Output(gradients));
  }

  // One side by the definition, with the parts of the float32 kernel for all that is no product.
  double ComputeNaively(Side side, std::vector<std::vector<float>>& out) const {
    const bool tail = side == Side::kTail;
    const auto &anchors = rows[tail ? 0 : 1], &targets = rows[tail ? 1 : 0], &relations = rows[tail ? 2 : 3],
               &candidates = rows[tail ? 4 : 5];
    const std::size_t dim = model.dim;
    std::vector<float> queries(edges * dim), positives(edges), positive_slopes(edges);
    MakeQueries(model, side, edges, anchors.data(), relations.data(), queries.data());
    CompareRows(Comparison::kInner, dim, edges, queries.data(), targets.data(), positives.data());
    const auto query = [&](std::size_t i, std::size_t l) { return queries[i * dim + l]; };
    const auto row = [&](std::size_t j, std::size_t l) { return candidates[j * dim + l]; };
    auto g = NaiveProduct(edges, negatives, dim, query, [&](std::size_t l, std::size_t j) { return row(j, l); });
    for (const MaskedPair& pair : tail ? masks : std::vector<MaskedPair>()) {
      g[pair.query * negatives + pair.negative] = kMaskedScore;
    }
    const double loss = LossAndGradient({}, positives, weights, g, negatives, positive_slopes, begins);
    const auto slope = [&](std::size_t i, std::size_t j) { return g[i * negatives + j]; };
    auto query_gradients = NaiveProduct(edges, dim, negatives, slope, row);
    out[tail ? 4 : 5] = NaiveProduct(
        negatives, dim, edges, [&](std::size_t j, std::size_t i) { return slope(i, j); }, query);
    BackpropagateRows(Comparison::kInner, dim, edges, queries.data(), targets.data(), positives.data(),
                      positive_slopes.data(), query_gradients.data(), !tail, out[tail ? 1 : 0].data());
    BackpropagateQueries(model, side, edges, anchors.data(), relations.data(), query_gradients.data(), !tail,
                         out[tail ? 0 : 1].data(), out[tail ? 2 : 3].data());
    return loss;
  }

  ModelSpec model;
  std::size_t edges, negatives;
  std::vector<std::uint32_t> begins;
  std::vector<float> weights;
  std::vector<std::vector<float>> rows, gradients;  // in the order of ChunkGradients
  std::vector<MaskedPair> masks;
};

constexpr ModelKind kInnerModels[] = {ModelKind::kDot, ModelKind::kDistMult, ModelKind::kComplEx,
                                      ModelKind::kSourceContext};

TEST_P(Bf16BlockTest, AChunkIsRoundedInItsThreeProductsOnly) {
  for (const ModelKind kind : kInnerModels) {
    SmallChunk chunk({kind, Norm::kL2, 38}, 21, 35, 0.5F);
    auto expected = chunk.gradients;
    const double loss = chunk.ComputeNaively(Side::kTail, expected) + chunk.ComputeNaively(Side::kHead, expected);
    EXPECT_EQ(chunk.Compute(GetParam()).loss, loss) << ModelName(kind);
    for (std::size_t part = 0; part < 6; ++part) EXPECT_EQ(chunk.gradients[part], expected[part]) << part;
  }
}

// A rounded operand is off by at most 2^-9 of itself, so a score by 2^-8 of the sum of the moduli of its terms: about
// 0.01 with rows of 0.5 and 10 dimensions. By as much are slopes off, and gradients by that times 9 terms of about 0.5.
TEST_P(Bf16BlockTest, GradientsAreNearFiniteDifferences) {
  for (const ModelKind kind : kInnerModels) {
    SmallChunk chunk({kind, Norm::kL2, 10}, 6, 9, 0.5F);
    const NaiveResult naive = NaiveChunkLoss(chunk.model, {}, {}, MakeNaiveChunk(chunk.Input()));
    EXPECT_NEAR(chunk.Compute(GetParam()).loss, naive.loss, 0.003 * naive.loss);
    const std::vector<double>* const expected[] = {&naive.gradients.heads,          &naive.gradients.tails,
                                                   &naive.gradients.relations,      &naive.gradients.head_relations,
                                                   &naive.gradients.tail_negatives, &naive.gradients.head_negatives};
    for (std::size_t part = 0; part < 6; ++part) {
      double error = 0, size = 0;
      for (std::size_t l = 0; l < expected[part]->size(); ++l) {
        const double value = (*expected[part])[l];
        ASSERT_NEAR(chunk.gradients[part][l], value, 0.03) << ModelName(kind) << ", part " << part;
        error += (chunk.gradients[part][l] - value) * (chunk.gradients[part][l] - value);
        size += value * value;
      }
      EXPECT_LE(std::sqrt(error), 0.01 * std::sqrt(size)) << ModelName(kind) << ", part " << part;
    }
  }
}

TEST_P(Bf16BlockTest, NanInANegativeMakesTheLossNan) {
  SmallChunk chunk({ModelKind::kComplEx, Norm::kL2, 20}, 5, 7, 0.5F);
  chunk.rows[4].back() = std::nanf("");
  EXPECT_FALSE(std::isfinite(chunk.Compute(GetParam()).loss));
}

}  // namespace
}  // namespace octavo
