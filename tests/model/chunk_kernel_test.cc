#include "model/chunk_kernel.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/gemm.h"
#include "tests/support/naive_model.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

constexpr ModelKind kModels[] = {ModelKind::kDot,    ModelKind::kDistMult,      ModelKind::kComplEx, ModelKind::kTransE,
                                 ModelKind::kRotatE, ModelKind::kSourceContext, ModelKind::kRescal};
constexpr Norm kNorms[] = {Norm::kL1, Norm::kL2};
constexpr LossKind kLosses[] = {LossKind::kSoftmax, LossKind::kLogistic, LossKind::kRanking,
                                LossKind::kSelfAdversarial};

// A chunk of random rows with its gradients; the gradients start as garbage that must be overwritten.
struct Chunk {
  Chunk(const ModelSpec& model, std::size_t e, std::size_t n, std::uint64_t seed)
      : edges(e),
        negatives(n),
        begins(OneQueryEach(e)),
        heads(RandomRows(e * model.dim, seed)),
        tails(RandomRows(e * model.dim, seed + 1)),
        relations(RandomRows(e * model.RelationWidth(), seed + 2)),
        head_relations(RandomRows(e * model.RelationWidth(), seed + 3)),
        weights(e),
        tail_negatives(RandomRows(n * model.dim, seed + 4)),
        head_negatives(RandomRows(n * model.dim, seed + 5)),
        gradient{Rubbish(heads),          Rubbish(tails),          Rubbish(relations),
                 Rubbish(head_relations), Rubbish(tail_negatives), Rubbish(head_negatives)} {
    for (std::size_t i = 0; i < e; ++i) weights[i] = 0.5F + static_cast<float>(i % 3);
  }

  // Groups for 4 edges and 5 negatives: edges 1 and 2 are within one.
  void SetGroups() {
    head_groups = {0, 0, 1, 1};
    tail_groups = {1, 0, 1, 0};
    tail_negative_groups = {0, 0, 1, 0, 1};
    head_negative_groups = {0, 0, 0, 1, 1};
  }

  ChunkInput Input() const {
    return {.begins = begins,
            .negatives = negatives,
            .heads = heads,
            .tails = tails,
            .relations = relations,
            .head_relations = head_relations,
            .weights = weights,
            .tail_negatives = tail_negatives,
            .head_negatives = head_negatives,
            .tail_masks = tail_masks,
            .head_masks = head_masks,
            .tail_groups = {head_groups, tail_groups, tail_negative_groups, -0.7F},
            .head_groups = {tail_groups, head_groups, head_negative_groups, -0.7F},
            .reciprocal = reciprocal};
  }
  ChunkLoss Compute(ChunkKernel& kernel) {
    return kernel.Compute(Input(), {gradient[0], gradient[1], gradient[2], gradient[3], gradient[4], gradient[5]});
  }
  // Computes the gradients of negatives as factors, and multiplies these.
  ChunkLoss ComputeFactors(ChunkKernel& kernel, std::size_t dim) {
    const std::size_t stride = dim + 5;
    std::vector<float> slopes[2], queries[2];
    const std::size_t width = edges + 2;
    for (auto& part : slopes) part.assign(negatives * width, 99.0F);
    for (auto& part : queries) part.assign(edges * stride, 99.0F);
    const ChunkLoss loss = kernel.Compute(Input(), {.heads = gradient[0],
                                                    .tails = gradient[1],
                                                    .relations = gradient[2],
                                                    .head_relations = gradient[3],
                                                    .tail_negatives = {},
                                                    .head_negatives = {},
                                                    .tail_factors = {slopes[0], queries[0], width, stride, edges},
                                                    .head_factors = {slopes[1], queries[1], width, stride, edges}});
    for (std::size_t side = 0; side < 2; ++side) {
      Gemm(negatives, dim, edges, {slopes[side].data(), width}, {queries[side].data(), stride},
           gradient[4 + side].data(), dim, false);
      for (std::size_t i = 0; i < edges; ++i) {
        for (std::size_t l = dim; l < stride; ++l) EXPECT_EQ(queries[side][i * stride + l], 0.0F);
      }
    }
    return loss;
  }
  static std::vector<float> Rubbish(const std::vector<float>& like) { return std::vector<float>(like.size(), 99.0F); }

  std::size_t edges, negatives;
  std::vector<std::uint32_t> begins;
  std::vector<float> heads, tails, relations, head_relations, weights, tail_negatives, head_negatives;
  std::vector<float> gradient[6];  // in the order of ChunkGradients
  std::vector<MaskedPair> tail_masks, head_masks;
  std::vector<std::uint8_t> head_groups, tail_groups, tail_negative_groups, head_negative_groups;
  bool reciprocal = false;
};

// Float against double: rows of a few elements of size about 1, sums of at most edges * weight such terms.
void ExpectNaive(const ModelSpec& model, const LossSpec& loss, const RegularizerSpec& regularizer, Chunk& chunk) {
  SCOPED_TRACE(testing::Message() << ModelName(model.kind) << (model.norm == Norm::kL1 ? " l1 " : " l2 ")
                                  << LossName(loss.kind) << " " << RegularizerName(regularizer.kind) << " reciprocal "
                                  << chunk.reciprocal << " E " << chunk.edges << " N " << chunk.negatives);
  ChunkKernel kernel(model, loss, regularizer);
  const ChunkLoss fast = chunk.Compute(kernel);
  const NaiveResult naive = NaiveChunkLoss(model, loss, regularizer, MakeNaiveChunk(chunk.Input()));
  EXPECT_NEAR(fast.loss, naive.loss, 1e-5 * (1 + std::abs(naive.loss)));
  EXPECT_NEAR(fast.penalty, naive.penalty, 1e-5 * (1 + naive.penalty));
  const std::vector<double>* const expected[] = {&naive.gradients.heads,          &naive.gradients.tails,
                                                 &naive.gradients.relations,      &naive.gradients.head_relations,
                                                 &naive.gradients.tail_negatives, &naive.gradients.head_negatives};
  for (std::size_t part = 0; part < 6; ++part) {
    for (std::size_t l = 0; l < expected[part]->size(); ++l) {
      const double value = (*expected[part])[l];
      ASSERT_NEAR(chunk.gradient[part][l], value, 5e-5 * (1 + std::abs(value))) << "part " << part << ", element " << l;
    }
  }
}

TEST(ChunkKernelTest, GradientsAgreeWithFiniteDifferences) {
  const RegularizerSpec regularizers[] = {
      {RegularizerKind::kNone, 0.0F}, {RegularizerKind::kL2, 0.2F}, {RegularizerKind::kN3, 0.1F}};
  std::uint64_t seed = 100;
  for (const ModelKind kind : kModels) {
    for (const Norm norm : kNorms) {
      for (const LossKind loss : kLosses) {
        for (const RegularizerSpec& regularizer : regularizers) {
          for (const bool reciprocal : {false, true}) {
            const ModelSpec model{kind, norm, 6};
            Chunk chunk(model, 4, 5, seed += 10);
            chunk.reciprocal = reciprocal;
            chunk.tail_masks = {{0, 1}, {2, 4}};
            chunk.head_masks = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}};
            ExpectNaive(model, {loss, 1.5F, 0.7F}, regularizer, chunk);
          }
        }
      }
    }
  }
}

TEST(ChunkKernelTest, DegenerateSizesAgreeToo) {
  for (const ModelKind kind : kModels) {
    for (const Norm norm : kNorms) {
      for (const LossKind loss : kLosses) {
        for (const auto& [edges, negatives] : {std::pair{1, 1}, {1, 0}, {3, 0}, {1, 19}, {17, 1}, {0, 3}}) {
          const ModelSpec model{kind, norm, 2};
          Chunk chunk(model, static_cast<std::size_t>(edges), static_cast<std::size_t>(negatives), 7);
          ExpectNaive(model, {loss, 0.5F, 1.0F}, {RegularizerKind::kL2, 0.1F}, chunk);
        }
      }
    }
  }
}

TEST(ChunkKernelTest, WiderRowsAgreeToo) {
  for (const ModelKind kind : kModels) {
    for (const Norm norm : kNorms) {
      for (const std::size_t dim : {34UL, 50UL}) {
        ModelSpec model{kind, norm, dim};
        if (kind == ModelKind::kRescal) model.block = 2;  // the oracle differentiates by each number
        Chunk chunk(model, 3, 18, dim);
        for (auto* rows : {&chunk.heads, &chunk.tails}) {
          for (float& x : *rows) x *= 0.3F;
        }
        ExpectNaive(model, {LossKind::kSoftmax, 0.0F, 1.0F}, {}, chunk);
      }
    }
  }
}

// A negative that is the answer itself, at distance 0 from a query without rounding errors.
TEST(ChunkKernelTest, GradientAtDistanceZeroIsZero) {
  for (const ModelKind kind : {ModelKind::kTransE, ModelKind::kRotatE}) {
    for (const Norm norm : kNorms) {
      const ModelSpec model{kind, norm, 20};
      Chunk chunk(model, 1, 1, 3);
      std::fill(chunk.relations.begin(), chunk.relations.end(), 0.0F);
      std::fill(chunk.head_relations.begin(), chunk.head_relations.end(), 0.0F);
      chunk.tails = chunk.tail_negatives = chunk.head_negatives = chunk.heads;
      ChunkKernel kernel(model, {LossKind::kLogistic, 1.0F, 1.0F}, {});
      const ChunkLoss loss = chunk.Compute(kernel);
      EXPECT_NEAR(loss.loss, 0.5 * 2 * (std::log1p(std::exp(-1.0)) + std::log1p(std::exp(1.0))), 1e-6);
      for (const auto& gradient : chunk.gradient) EXPECT_THAT(gradient, testing::Each(0.0F));
    }
  }
}

TEST(ChunkKernelTest, MaskedNegativesGetNothing) {
  for (const ModelKind kind : kModels) {
    for (const Norm norm : kNorms) {
      for (const LossKind loss : kLosses) {
        const ModelSpec model{kind, norm, 12};
        Chunk chunk(model, 3, 4, 5);
        for (std::uint32_t i = 0; i < 3; ++i) chunk.tail_masks.push_back({i, 2});
        ChunkKernel kernel(model, {loss, 4.0F, 1.0F}, {});
        chunk.Compute(kernel);
        for (std::size_t l = 0; l < 12; ++l) {
          EXPECT_EQ(chunk.gradient[4][2 * 12 + l], 0.0F);
          EXPECT_NE(chunk.gradient[4][1 * 12 + l], 99.0F);
        }
      }
    }
  }
}

// Losses other than softmax mask the group of the anchor where no answer is in it: bit for bit what is masked by hand.
TEST(ChunkKernelTest, GroupsWithoutAnAnswerAreMasked) {
  for (const ModelKind kind : kModels) {
    for (const auto& [loss, norm] : {std::pair(LossKind::kLogistic, Norm::kL2),
                                     {LossKind::kRanking, Norm::kL1},
                                     {LossKind::kSelfAdversarial, Norm::kL2}}) {
      const ModelSpec model{kind, norm, 12};
      Chunk masked(model, 4, 5, 5);
      masked.tail_masks = {{0, 1}};
      Chunk grouped = masked;
      grouped.SetGroups();
      masked.tail_masks = {{0, 0}, {0, 1}, {0, 3}, {3, 2}, {3, 4}};
      masked.head_masks = {{0, 3}, {0, 4}, {3, 0}, {3, 1}, {3, 2}};
      ChunkKernel kernel(model, {loss, 2.0F, 1.0F}, {});
      const ChunkLoss expected = masked.Compute(kernel);
      EXPECT_EQ(grouped.Compute(kernel).loss, expected.loss);
      for (std::size_t part = 0; part < 6; ++part) EXPECT_EQ(grouped.gradient[part], masked.gradient[part]) << part;
    }
  }
}

TEST(ChunkKernelTest, GroupsAgreeWithFiniteDifferences) {
  for (const ModelKind kind : kModels) {
    for (const LossKind loss : kLosses) {
      for (const bool reciprocal : {false, true}) {
        Chunk chunk({kind, Norm::kL2, 6}, 4, 5, 5);
        chunk.tail_masks = {{0, 1}};
        chunk.reciprocal = reciprocal;
        chunk.SetGroups();
        ExpectNaive({kind, Norm::kL2, 6}, {loss, 1.5F, 0.7F}, {}, chunk);
      }
    }
  }
}

// The slice [1, 3) of queries has the edges [2, 4).
TEST(ChunkKernelTest, PiecesHaveTheirGroups) {
  Chunk chunk({ModelKind::kDot, Norm::kL2, 6}, 4, 5, 5);
  chunk.SetGroups();
  ChunkInput input = chunk.Input();
  const std::vector<std::uint32_t> begins = {0, 2, 3, 4};
  const std::vector<std::uint8_t> anchors = {1, 0, 0};
  input.begins = begins;
  input.heads = input.heads.first(18);
  input.relations = {};
  input.tail_groups.anchors = anchors;
  input.tail_groups.answers = chunk.tail_groups;
  input.head_groups = {};
  const ChunkInput slice = input.Slice(1, 3);
  EXPECT_THAT(slice.tail_groups.anchors, testing::ElementsAre(0, 0));
  EXPECT_THAT(slice.tail_groups.answers, testing::ElementsAre(1, 0));
  EXPECT_THAT(slice.head_groups.answers, testing::IsEmpty());
  EXPECT_EQ(slice.tail_groups.negatives.size(), 5U);
  EXPECT_EQ(slice.tail_groups.log_share, -0.7F);
}

// Scratch left by a larger chunk, or another thread's kernel, does not change the result.
TEST(ChunkKernelTest, SameInputGivesSameBits) {
  for (const ModelKind kind : kModels) {
    for (const Norm norm : kNorms) {
      const ModelSpec model{kind, norm, 38};
      const LossSpec loss{LossKind::kSelfAdversarial, 1.0F, 1.0F};
      Chunk first(model, 21, 33, 1), second(model, 21, 33, 1), larger(model, 40, 50, 2);
      ChunkKernel fresh(model, loss, {}), used(model, loss, {});
      larger.Compute(used);
      EXPECT_EQ(first.Compute(fresh).loss, second.Compute(used).loss);
      for (std::size_t part = 0; part < 6; ++part) EXPECT_EQ(first.gradient[part], second.gradient[part]);
    }
  }
}

TEST(ChunkKernelTest, FactorsHaveTheBitsOfTheGradientsTheyMake) {
  for (const ModelKind kind : kModels) {
    for (const std::size_t dim : {16UL, 38UL}) {
      for (const auto& [edges, negatives] : {std::pair{21UL, 33UL}, {1UL, 1UL}, {2UL, 0UL}}) {
        const ModelSpec model{kind, Norm::kL2, dim};
        ASSERT_EQ(HasInnerProducts(model), kind != ModelKind::kTransE && kind != ModelKind::kRotatE);
        if (!HasInnerProducts(model)) continue;
        Chunk rows(model, edges, negatives, 1), factors(model, edges, negatives, 1);
        for (Chunk* chunk : {&rows, &factors}) {
          chunk->reciprocal = dim == 16;
          if (negatives > 1) chunk->tail_masks = {{0, 1}, {2, 4}};
        }
        ChunkKernel kernel(model, {}, {RegularizerKind::kN3, 0.1F});
        const ChunkLoss loss = rows.Compute(kernel);
        EXPECT_EQ(factors.ComputeFactors(kernel, dim).loss, loss.loss);
        for (std::size_t part = 0; part < 6; ++part) EXPECT_EQ(factors.gradient[part], rows.gradient[part]) << part;
      }
    }
  }
}

// If edges share a query, the gradients of its rows are the sums over its edges, each trained as its own query.
TEST(ChunkKernelTest, SharedQueriesHaveTheSumsOfTheirEdges) {
  for (const ModelKind kind :
       {ModelKind::kDot, ModelKind::kDistMult, ModelKind::kComplEx, ModelKind::kTransE, ModelKind::kRescal}) {
    const ModelSpec model{kind, Norm::kL2, 10};
    const std::size_t dim = model.dim;
    const std::size_t width = model.RelationWidth();
    const std::vector<std::uint32_t> begins = {0, 3, 4, 6};
    Chunk shared(model, 6, 9, 1);
    Chunk alone = shared;
    for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
      for (std::size_t i = begins[q]; i < begins[q + 1]; ++i) {
        std::copy_n(shared.heads.begin() + static_cast<std::ptrdiff_t>(q * dim), dim, alone.heads.data() + i * dim);
        std::copy_n(shared.relations.begin() + static_cast<std::ptrdiff_t>(q * width), width,
                    alone.relations.data() + i * width);
      }
    }
    const auto compute = [&](Chunk& chunk, std::span<const std::uint32_t> queries) {
      ChunkInput input = chunk.Input();
      input.begins = queries;
      input.heads = input.heads.first((queries.size() - 1) * dim);
      input.relations = input.relations.first((queries.size() - 1) * width);
      input.head_relations = input.head_negatives = {};
      input.corrupts_heads = false;
      ChunkKernel kernel(model, {}, {RegularizerKind::kN3, 0.1F});
      return kernel.Compute(input, {.heads = std::span(chunk.gradient[0]).first(input.heads.size()),
                                    .tails = chunk.gradient[1],
                                    .relations = std::span(chunk.gradient[2]).first(input.relations.size()),
                                    .head_relations = {},
                                    .tail_negatives = chunk.gradient[4],
                                    .head_negatives = {}});
    };
    const ChunkLoss together = compute(shared, begins);
    const ChunkLoss expected = compute(alone, OneQueryEach(6));
    EXPECT_NEAR(together.loss, expected.loss, 1e-5 * expected.loss);
    EXPECT_NEAR(together.penalty, expected.penalty, 1e-5 * expected.penalty);
    const auto expect_sums = [&](std::size_t part, std::size_t columns) {
      for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
        for (std::size_t l = 0; l < columns; ++l) {
          float sum = 0;
          for (std::size_t i = begins[q]; i < begins[q + 1]; ++i) sum += alone.gradient[part][i * columns + l];
          EXPECT_NEAR(shared.gradient[part][q * columns + l], sum, 1e-4) << ModelName(kind) << ", part " << part;
        }
      }
    };
    expect_sums(0, dim);
    expect_sums(2, width);
    for (std::size_t i = 0; i < 6 * dim; ++i) EXPECT_NEAR(shared.gradient[1][i], alone.gradient[1][i], 1e-5);
    for (std::size_t i = 0; i < 9 * dim; ++i) EXPECT_NEAR(shared.gradient[4][i], alone.gradient[4][i], 1e-4);
  }
}

TEST(ChunkKernelTest, NanInAnyRowMakesTheLossNan) {
  for (const ModelKind kind : kModels) {
    for (const Norm norm : kNorms) {
      const ModelSpec model{kind, norm, 20};
      for (const auto rows : {&Chunk::heads, &Chunk::tails, &Chunk::relations, &Chunk::head_relations,
                              &Chunk::tail_negatives, &Chunk::head_negatives}) {
        Chunk chunk(model, 5, 7, 4);
        if ((chunk.*rows).empty()) continue;
        (chunk.*rows).back() = std::nanf("");
        ChunkKernel kernel(model, {}, {});
        EXPECT_FALSE(std::isfinite(chunk.Compute(kernel).loss)) << ModelName(kind);
      }
    }
  }
}

}  // namespace
}  // namespace octavo
