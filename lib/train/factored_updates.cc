#include "train/factored_updates.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/parallel.h"
#include "base/status.h"
#include "model/chunk_kernel.h"

namespace octavo {
namespace {

// Ranges of a batch: enough for many threads to end together. Rows below which a range is not worth handing over.
constexpr std::size_t kRanges = 64;
constexpr std::size_t kLeastRows = 64;
// Rows of one product at a time: a multiple of the kernel's blocks of 6 and 8.
constexpr std::size_t kProductRows = 96;
// Gradients and slopes lie anywhere in memory: those of a few contributions ahead are on their way.
constexpr std::size_t kAhead = 12;

}  // namespace

FactoredUpdates::FactoredUpdates(std::size_t dim) : dim_(dim), stride_(FactorStride(dim)) {}

void FactoredUpdates::SumRows(ContributionsByNode& by_node, std::size_t first, std::size_t last,
                              std::vector<float>& sums) const {
  sums.assign((last - first) * stride_, -0.0F);  // what leaves every addend as it is, 0 included
  const std::span<const std::uint64_t> arrivals = by_node.Arrivals(first, last);
  const auto sum_of = [&](std::uint64_t arrival) { return sums.data() + (arrival & 0xFFFFFFFF) * stride_; };
  std::array<const float*, kProductRows> slopes;
  std::array<float*, kProductRows> to;
  for (std::size_t i = 0; i < arrivals.size();) {
    const GradientProduct* const product = by_node.contribution(arrivals[i] >> 32).product;
    std::size_t rows = 0;
    for (; rows < kProductRows && i < arrivals.size(); ++i, ++rows) {
      const Contribution& one = by_node.contribution(arrivals[i] >> 32);
      if (one.product != product) break;
      if (i + 2 * kAhead < arrivals.size()) __builtin_prefetch(&by_node.contribution(arrivals[i + 2 * kAhead] >> 32));
      if (i + kAhead < arrivals.size()) {
        const Contribution& ahead = by_node.contribution(arrivals[i + kAhead] >> 32);
        PrefetchFloats(ahead.gradient, ahead.product == nullptr ? dim_ : ahead.product->terms);
      }
      slopes[rows] = one.gradient;
      to[rows] = sum_of(arrivals[i]);
    }
    if (product != nullptr) {
      AddProductRows(rows, stride_, product->terms, slopes.data(), product->rows, stride_, to.data());
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t d = 0; d < dim_; ++d) to[r][d] += slopes[r][d];
    }
  }
}

absl::Status FactoredUpdates::UpdateAllRows(ContributionsByNode& by_node, RowUpdate update, MmapManager& embeddings,
                                            MmapManager& state, const std::optional<RowRounding>& rounding) {
  RETURN_IF_ERROR(embeddings.CheckRounding(rounding));
  RETURN_IF_ERROR(by_node.CheckRows(embeddings, state));
  const std::size_t rows = by_node.segments().size();
  const std::size_t most = std::max<std::size_t>(1, kSumBytes / (stride_ * sizeof(float)));
  const std::size_t each = std::min(most, std::max(kLeastRows, (rows + kRanges - 1) / kRanges));
  ParallelEach(0, (rows + each - 1) / each, [&](std::size_t range) {
    const std::size_t first = range * each;
    const std::size_t last = std::min(first + each, rows);
    std::vector<float>& sums = sums_.local();
    SumRows(by_node, first, last, sums);
    by_node.UpdateRowsBy(sums.data(), stride_, first, last, dim_, update, embeddings, state, rounding);
  });
  return absl::OkStatus();
}

}  // namespace octavo
