// Speed of the kernels of lib/model, in GFLOP/s. Compare rates within one run: clocks and other load vary.
//   model_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "model/chunk_kernel.h"
#include "model/gemm.h"
#include "model/scorer.h"
#include "tests/support/random_rows.h"

namespace octavo {
namespace {

void ReportFlops(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9 * static_cast<double>(state.iterations()),
                                                 benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
}

void BM_Gemm(benchmark::State& state, GemmBackend backend) {
  const auto m = static_cast<std::size_t>(state.range(0));
  const auto n = static_cast<std::size_t>(state.range(1));
  const auto k = static_cast<std::size_t>(state.range(2));
  const auto a = RandomRows(m * k, 1), b = RandomRows(k * n, 2);
  std::vector<float> c(m * n);
  for (auto _ : state) {
    GemmWith(backend, m, n, k, {a.data(), k}, {b.data(), n}, c.data(), n, false);
    benchmark::ClobberMemory();
  }
  ReportFlops(state, 2.0 * static_cast<double>(m * n * k));
}

// Small products, those of a chunk of d = 200 and of d = 400, and a block of an evaluation.
void GemmShapes(benchmark::internal::Benchmark* bench) {
  bench->Args({48, 64, 128})->Args({256, 512, 200})->Args({256, 200, 512})->Args({512, 200, 256});
  bench->Args({128, 1000, 400})->Args({512, 4096, 400});
}
BENCHMARK_CAPTURE(BM_Gemm, libxsmm, GemmBackend::kLibxsmm)->Apply(GemmShapes);
BENCHMARK_CAPTURE(BM_Gemm, portable, GemmBackend::kPortable)->Apply(GemmShapes);

void BM_GemmTransposedB(benchmark::State& state) {
  const std::size_t m = 256, n = 512, k = 200;
  const auto a = RandomRows(m * k, 1), b = RandomRows(n * k, 2);
  std::vector<float> c(m * n);
  for (auto _ : state) {
    Gemm(m, n, k, {a.data(), k}, {b.data(), k, true}, c.data(), n, false);
    benchmark::ClobberMemory();
  }
  ReportFlops(state, 2.0 * m * n * k);
}
BENCHMARK(BM_GemmTransposedB);

void BM_GemmTransposedA(benchmark::State& state) {
  const std::size_t m = 512, n = 200, k = 256;
  const auto a = RandomRows(k * m, 1), b = RandomRows(k * n, 2);
  std::vector<float> c(m * n);
  for (auto _ : state) {
    Gemm(m, n, k, {a.data(), m, true}, {b.data(), n}, c.data(), n, false);
    benchmark::ClobberMemory();
  }
  ReportFlops(state, 2.0 * m * n * k);
}
BENCHMARK(BM_GemmTransposedA);

void BM_Loss(benchmark::State& state, LossKind kind) {
  const std::size_t edges = 256, negatives = 512;
  const auto positives = RandomRows(edges, 1), before = RandomRows(edges * negatives, 2);
  const std::vector<float> weights(edges, 1.0F);
  auto scores = before;
  std::vector<float> gradients(edges);
  const std::vector<std::uint32_t> begins = OneQueryEach(edges);
  for (auto _ : state) {
    std::copy(before.begin(), before.end(), scores.begin());
    benchmark::DoNotOptimize(
        LossAndGradient({kind, 1.0F, 1.0F}, positives, weights, scores, negatives, gradients, begins));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(edges * negatives));
}
BENCHMARK_CAPTURE(BM_Loss, softmax, LossKind::kSoftmax);
BENCHMARK_CAPTURE(BM_Loss, logistic, LossKind::kLogistic);
BENCHMARK_CAPTURE(BM_Loss, ranking, LossKind::kRanking);
BENCHMARK_CAPTURE(BM_Loss, self_adversarial, LossKind::kSelfAdversarial);

// Counts 2 sides x 3 products x 2 x E x N x D flops for every model, including those without a product.
void BM_Chunk(benchmark::State& state, ModelKind kind, Norm norm, LossKind loss) {
  const auto edges = static_cast<std::size_t>(state.range(0));
  const auto negatives = static_cast<std::size_t>(state.range(1));
  const auto dim = static_cast<std::size_t>(state.range(2));
  const ModelSpec model{kind, norm, dim};
  const std::size_t width = model.RelationWidth();
  const auto heads = RandomRows(edges * dim, 1, 0.1F), tails = RandomRows(edges * dim, 2, 0.1F);
  const auto relations = RandomRows(edges * width, 3);
  const auto tail_negatives = RandomRows(negatives * dim, 4, 0.1F);
  const auto head_negatives = RandomRows(negatives * dim, 5, 0.1F);
  const std::vector<float> weights(edges, 1.0F);
  auto d_heads = heads, d_tails = tails, d_relations = relations, d_head_relations = relations;
  auto d_tail_negatives = tail_negatives, d_head_negatives = head_negatives;
  ChunkKernel kernel(model, {loss, 1.0F, 1.0F}, {});
  const ChunkInput input{edges,   negatives,      heads,          tails, relations, relations,
                         weights, tail_negatives, head_negatives, {},    {},        false};
  const ChunkGradients gradients{d_heads, d_tails, d_relations, d_head_relations, d_tail_negatives, d_head_negatives};
  for (auto _ : state) benchmark::DoNotOptimize(kernel.Compute(input, gradients));
  ReportFlops(state, 12.0 * static_cast<double>(edges * negatives * dim));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(edges));
}

void ChunkShapes(benchmark::internal::Benchmark* bench) {
  bench->Args({256, 512, 200})->Args({50, 500, 100})->Args({50, 1050, 400});
}
BENCHMARK_CAPTURE(BM_Chunk, complex_softmax, ModelKind::kComplEx, Norm::kL1, LossKind::kSoftmax)->Apply(ChunkShapes);
BENCHMARK_CAPTURE(BM_Chunk, distmult_logistic, ModelKind::kDistMult, Norm::kL1, LossKind::kLogistic)
    ->Apply(ChunkShapes);
BENCHMARK_CAPTURE(BM_Chunk, transe_l1, ModelKind::kTransE, Norm::kL1, LossKind::kRanking)->Apply(ChunkShapes);
BENCHMARK_CAPTURE(BM_Chunk, transe_l2, ModelKind::kTransE, Norm::kL2, LossKind::kRanking)->Apply(ChunkShapes);
BENCHMARK_CAPTURE(BM_Chunk, rotate_l1, ModelKind::kRotatE, Norm::kL1, LossKind::kSelfAdversarial)->Apply(ChunkShapes);

void BM_ScoreBlock(benchmark::State& state, ModelKind kind, Norm norm) {
  const std::size_t queries = 128, candidates = 4096, dim = 400;
  const auto q = RandomRows(queries * dim, 1), c = RandomRows(candidates * dim, 2);
  std::vector<float> scores(queries * candidates);
  ScoreScratch scratch;
  for (auto _ : state) ScoreBlock({kind, norm, dim}, q, queries, c, candidates, scratch, scores);
  ReportFlops(state, 2.0 * queries * candidates * dim);
}
BENCHMARK_CAPTURE(BM_ScoreBlock, complex, ModelKind::kComplEx, Norm::kL1);
BENCHMARK_CAPTURE(BM_ScoreBlock, transe_l1, ModelKind::kTransE, Norm::kL1);
BENCHMARK_CAPTURE(BM_ScoreBlock, transe_l2, ModelKind::kTransE, Norm::kL2);
BENCHMARK_CAPTURE(BM_ScoreBlock, rotate_l1, ModelKind::kRotatE, Norm::kL1);

}  // namespace
}  // namespace octavo

BENCHMARK_MAIN();
