#include "bench/kernels.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/per_thread.h"
#include "bench/distance_terms.h"
#include "bench/machine.h"
#include "bench/random_floats.h"
#include "fmt/format.h"
#include "model/bf16_block.h"
#include "model/chunk_kernel.h"
#include "model/comparison.h"

namespace octavo {
namespace {

// A chunk, its gradients, and the kernel of one thread.
class Work {
 public:
  Work(const ModelSpec& spec, const KernelShape& shape, std::optional<Bf16Backend> bf16)
      : spec_(spec),
        shape_(shape),
        bf16_(bf16),
        kernel_(spec, LossSpec{}, RegularizerSpec{}, DropoutSpec{}, 0, bf16),
        block_(bf16.value_or(Bf16Backend::kScalar)) {
    const std::size_t edge_floats = shape.chunk * shape.dim;
    const std::size_t negative_floats = shape.negatives * shape.dim;
    const std::size_t relation_floats = shape.chunk * spec.RelationWidth();
    rows_ = RandomFloats(2 * edge_floats + 2 * negative_floats + 2 * relation_floats, 1, 0.2F);
    gradients_.resize(rows_.size());
    weights_.assign(shape.chunk, 1.0F);
    const auto parts = [&](auto& memory) {
      const std::span all(memory);
      std::size_t at = 0;
      const auto take = [&](std::size_t floats) { return all.subspan(std::exchange(at, at + floats), floats); };
      return std::array{take(edge_floats),     take(edge_floats),     take(relation_floats),
                        take(relation_floats), take(negative_floats), take(negative_floats)};
    };
    const auto in = parts(rows_);
    begins_ = OneQueryEach(shape.chunk);
    input_ = {.begins = begins_,
              .negatives = shape.negatives,
              .heads = in[0],
              .tails = in[1],
              .relations = in[2],
              .head_relations = in[3],
              .weights = weights_,
              .tail_negatives = in[4],
              .head_negatives = in[5],
              .tail_masks = {},
              .head_masks = {}};
    if (bf16_) {
      for (Packed* const packed : {&tail_packed_, &head_packed_}) {
        packed->columns.resize(
            PacksColumns(*bf16_, shape.dim, shape.chunk) ? PackedColumnFloats(shape.dim, shape.negatives) : 0);
        packed->rows.resize(PackedRowFloats(*bf16_, shape.dim, shape.negatives));
      }
      input_.tail_packed = {tail_packed_.columns, tail_packed_.rows};
      input_.head_packed = {head_packed_.columns, head_packed_.rows};
      Pack();
    }
    const auto out = parts(gradients_);
    output_ = {.heads = out[0],
               .tails = out[1],
               .relations = out[2],
               .head_relations = out[3],
               .tail_negatives = out[4],
               .head_negatives = out[5]};
    const std::size_t scores = std::max(shape.chunk * shape.negatives, Bf16LeftFloats(shape.chunk, shape.negatives));
    scores_.resize(scores);
    slopes_ = RandomFloats(scores, 2, 0.01F);
    taken_slopes_.resize(scores);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void Whole() {
    Pack();
    kernel_.Compute(input_, output_);
  }

  // The negatives' scores and gradients alone, with the heads and tails as queries.
  void Compare() {
    CompareSide(input_.heads, input_.tail_negatives, input_.tail_packed, output_.heads, output_.tail_negatives);
    CompareSide(input_.tails, input_.head_negatives, input_.head_packed, output_.tails, output_.head_negatives);
  }

  void Pack() {
    if (!bf16_) return;
    PackSide(input_.tail_negatives, tail_packed_);
    PackSide(input_.head_negatives, head_packed_);
  }

 private:
  struct Packed {
    AlignedFloats columns, rows;
  };

  void PackSide(std::span<const float> negatives, Packed& packed) const {
    for (std::size_t first = 0; first < shape_.negatives; first += kNegativesPacked) {
      PackNegatives(*bf16_, shape_.dim, shape_.negatives, first, std::min(kNegativesPacked, shape_.negatives - first),
                    negatives.data() + first * shape_.dim, packed.columns, packed.rows);
    }
  }

  void CompareSide(std::span<const float> queries, std::span<const float> negatives, const PackedNegatives& packed,
                   std::span<float> query_gradients, std::span<float> negative_gradients) {
    const std::size_t n = shape_.chunk, m = shape_.negatives, dim = shape_.dim;
    if (bf16_) {
      block_.Score(dim, n, queries.data(), m, packed, scores_.data());
    } else {
      CompareBlock(ComparisonOf(spec_), dim, n, queries.data(), m, negatives.data(), scratch_, scores_.data());
    }
    std::ranges::copy(slopes_, taken_slopes_.begin());
    if (bf16_) {
      block_.Backpropagate(dim, n, queries.data(), m, packed, taken_slopes_.data(), query_gradients.data(),
                           negative_gradients.data());
    } else {
      BackpropagateBlock(ComparisonOf(spec_), dim, n, queries.data(), m, negatives.data(), scores_.data(), scratch_,
                         taken_slopes_.data(), query_gradients.data(), negative_gradients.data());
    }
  }

  ModelSpec spec_;
  KernelShape shape_;
  std::optional<Bf16Backend> bf16_;
  ChunkKernel kernel_;
  Bf16Block block_;
  ScoreScratch scratch_;
  Packed tail_packed_, head_packed_;
  std::vector<std::uint32_t> begins_;
  std::vector<float> rows_, gradients_, weights_, scores_, slopes_, taken_slopes_;
  ChunkInput input_;
  ChunkGradients output_;
};

// Calls per second of processor time.
template <typename Call>
double CallsOfEach(int threads, double seconds, const Call& call) {
  return CallsOfThreads(threads, seconds, RateClock::kProcessor, 16, call);
}

using Works = PerThread<std::unique_ptr<Work>>;

Works MakeWorks(const ModelSpec& model, const KernelShape& shape, std::optional<Bf16Backend> bf16) {
  return Works([=] { return std::make_unique<Work>(model, shape, bf16); });
}

// The edges per second whose distances could be computed in registers; 0 for products.
double DistanceBound(const ModelSpec& model, const KernelShape& shape, int threads, double seconds) {
  const Comparison comparison = ComparisonOf(model);
  if (comparison != Comparison::kL1 && comparison != Comparison::kComplexL1) return 0;
  constexpr std::size_t kTerms = std::size_t{1} << 16;
  const bool complex = comparison == Comparison::kComplexL1;
  const double calls =
      CallsOfEach(threads, seconds, [&] { return complex ? ComputeComplexL1Terms(kTerms) : ComputeL1Terms(kTerms); });
  const double terms = 2.0 * static_cast<double>(shape.negatives * (complex ? shape.dim / 2 : shape.dim));
  return calls * static_cast<double>(kTerms) / terms;
}

KernelRate MeasureKernel(const ModelSpec& model, const KernelShape& shape, std::optional<Bf16Backend> bf16,
                         const ProductPeak& peak, double seconds) {
  Works works = MakeWorks(model, shape, bf16);
  const int threads = peak.threads;
  const double whole = CallsOfEach(threads, seconds, [&] { works.local()->Whole(); });
  const double comparing = CallsOfEach(threads, seconds, [&] { works.local()->Compare(); });
  const double packing = bf16 ? CallsOfEach(threads, seconds, [&] { works.local()->Pack(); }) : 0;
  const double edges = whole * static_cast<double>(shape.chunk);
  const double gflops = edges * 12.0 * static_cast<double>(shape.negatives * shape.dim) * 1e-9;
  const double distances = DistanceBound(model, shape, threads, seconds);
  return {.model = model,
          .bf16 = bf16.has_value(),
          .threads = threads,
          .edges_per_second = edges,
          .gflops = gflops,
          .share_of_gemm_peak = gflops / peak.float32,
          .share_of_bound = distances > 0 ? edges / distances : gflops / (bf16 ? peak.bf16 : peak.float32),
          .comparing = std::min(1.0, whole / comparing),
          .packing = packing > 0 ? std::min(1.0, whole / packing) : 0};
}

}  // namespace

double KernelEdgesPerSecond(const ModelSpec& model, const KernelShape& shape, int threads, double seconds) {
  Works works = MakeWorks(model, shape, std::nullopt);
  return CallsOfEach(threads, seconds, [&] { works.local()->Whole(); }) * static_cast<double>(shape.chunk);
}

std::string KernelName(const ModelSpec& model) {
  const bool normed = model.kind == ModelKind::kTransE || model.kind == ModelKind::kRotatE;
  return fmt::format("{}{}", ModelName(model.kind), !normed ? "" : model.norm == Norm::kL1 ? " l1" : " l2");
}

KernelReport MeasureKernels(const KernelShape& shape, int threads, double seconds) {
  const Bf16Backend backend = ActiveBf16Backend();
  KernelReport report;
  std::vector<int> counts = {1};
  if (threads > 1) counts.push_back(threads);
  for (const int count : counts) {
    report.peaks.push_back(MeasureProductPeak(count, seconds, RateClock::kProcessor));
  }
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
    for (const bool bf16 : {false, true}) {
      if (bf16 && !HasInnerProducts(model)) continue;
      for (const ProductPeak& peak : report.peaks) {
        report.rates.push_back(
            MeasureKernel(model, shape, bf16 ? std::optional(backend) : std::nullopt, peak, seconds));
      }
    }
  }
  return report;
}

}  // namespace octavo
