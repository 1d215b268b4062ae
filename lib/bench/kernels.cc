#include "bench/kernels.h"

#include <memory>

#include "base/checked_math.h"
#include "base/parallel.h"
#include "base/per_thread.h"
#include "bench/machine.h"
#include "bench/random_floats.h"
#include "bench/rate.h"
#include "fmt/format.h"
#include "model/chunk_kernel.h"

namespace octavo {
namespace {

// A chunk, its gradients, and the kernel of one thread.
struct Work {
  Work(const ModelSpec& spec, const KernelShape& shape)
      : kernel(spec, LossSpec{}, RegularizerSpec{}), relation_floats(shape.chunk * spec.RelationWidth()) {
    const std::size_t edge_floats = shape.chunk * shape.dim;
    const std::size_t negative_floats = shape.negatives * shape.dim;
    rows = RandomFloats(2 * edge_floats + 2 * negative_floats + 2 * relation_floats, 1, 0.2F);
    gradients.resize(rows.size());
    weights.assign(shape.chunk, 1.0F);
    const auto parts = [&](auto& memory) {
      const std::span all(memory);
      std::size_t at = 0;
      const auto take = [&](std::size_t floats) { return all.subspan(std::exchange(at, at + floats), floats); };
      return std::array{take(edge_floats),     take(edge_floats),     take(relation_floats),
                        take(relation_floats), take(negative_floats), take(negative_floats)};
    };
    const auto in = parts(rows);
    begins = OneQueryEach(shape.chunk);
    input = {.begins = begins,
             .negatives = shape.negatives,
             .heads = in[0],
             .tails = in[1],
             .relations = in[2],
             .head_relations = in[3],
             .weights = weights,
             .tail_negatives = in[4],
             .head_negatives = in[5],
             .tail_masks = {},
             .head_masks = {}};
    const auto out = parts(gradients);
    output = {.heads = out[0],
              .tails = out[1],
              .relations = out[2],
              .head_relations = out[3],
              .tail_negatives = out[4],
              .head_negatives = out[5]};
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  ChunkKernel kernel;
  std::size_t relation_floats;
  std::vector<std::uint32_t> begins;
  std::vector<float> rows, gradients, weights;
  ChunkInput input;
  ChunkGradients output;
};

}  // namespace

double KernelEdgesPerSecond(const ModelSpec& model, const KernelShape& shape, int threads, double seconds) {
  PerThread<std::unique_ptr<Work>> works([&] { return std::make_unique<Work>(model, shape); });
  // The same number for each thread, so that none waits for the others.
  const std::size_t chunks = RoundUp(16, static_cast<std::size_t>(threads));
  const double calls = WithThreads(threads, [&] {
    return IdleCallsPerSecond(threads, seconds, [&](std::uint64_t) {
      ParallelEach(0, chunks, [&](std::size_t) {
        Work& work = *works.local();
        work.kernel.Compute(work.input, work.output);
      });
    });
  });
  return calls * static_cast<double>(chunks * shape.chunk);
}

std::string KernelName(const ModelSpec& model) {
  const bool normed = model.kind == ModelKind::kTransE || model.kind == ModelKind::kRotatE;
  return fmt::format("{}{}", ModelName(model.kind), !normed ? "" : model.norm == Norm::kL1 ? " l1" : " l2");
}

std::vector<KernelRate> MeasureKernels(const KernelShape& shape, int threads, double seconds) {
  std::vector<std::pair<int, double>> peaks = {{1, GemmPeak(1, seconds, RateClock::kProcessor)}};
  if (threads > 1) peaks.emplace_back(threads, GemmPeak(threads, seconds, RateClock::kProcessor));
  std::vector<KernelRate> rates;
  for (const auto& [kind, norm] : {std::pair(ModelKind::kDot, Norm::kL2),
                                   {ModelKind::kSourceContext, Norm::kL2},
                                   {ModelKind::kDistMult, Norm::kL2},
                                   {ModelKind::kComplEx, Norm::kL2},
                                   {ModelKind::kRescal, Norm::kL2},
                                   {ModelKind::kTransE, Norm::kL2},
                                   {ModelKind::kTransE, Norm::kL1},
                                   {ModelKind::kRotatE, Norm::kL2},
                                   {ModelKind::kRotatE, Norm::kL1}}) {
    const ModelSpec model{.kind = kind, .norm = norm, .dim = shape.dim, .block = 0};
    for (const auto& [count, peak] : peaks) {
      const double edges = KernelEdgesPerSecond(model, shape, count, seconds);
      const double gflops = edges * 12.0 * static_cast<double>(shape.negatives * shape.dim) * 1e-9;
      rates.push_back({model, count, edges, gflops, gflops / peak});
    }
  }
  return rates;
}

}  // namespace octavo
