// Naive version: for i, j: sum = 0; for l: sum = fma(a[i][l], b[l, j], sum); c[i][j] = addends[i][j] + sum. The fast
// one keeps a block of sums in registers, kRows rows of kVectors vectors, as the panel product of
// model/gemm_portable.cc does.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tables/product_sums.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "tables/product_sums.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/float_rows.h"
#include "base/parallel.h"
#include "hwy/highway.h"
#include "tables/mmap_manager.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// Registers of the CPU: 32 with AVX-512 and NEON (4 vectors x 6 rows of sums), 16 elsewhere (2 x 6).
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr std::size_t kMaxVectors = kManyRegisters ? 4 : 2;

// kRows rows of AddProductRows and kVectors vectors of columns from `column` on. Rows of c, which lie anywhere in
// memory, are prefetched while the sums are made.
template <std::size_t kRows, std::size_t kVectors>
HWY_NOINLINE void ScatterBlock(std::size_t k, const float* const* a, const float* b, std::size_t ldb,
                               const float* const* addends, float* const* c, std::size_t column) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const float* rows[kRows];
  Vector sums[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    rows[r] = a[r];
    for (std::size_t v = 0; v < kVectors; ++v) {
      __builtin_prefetch(c[r] + column + v * lanes, 1);
      sums[r][v] = hn::Zero(d);
    }
  }
  b += column;
  for (std::size_t l = 0; l < k; ++l, b += ldb) {
    Vector columns[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) columns[v] = hn::LoadU(d, b + v * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector x = hn::Set(d, rows[r][l]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, columns[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    float* const to = c[r] + column;
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(hn::Add(hn::LoadU(d, addends[r] + column + v * lanes), sums[r][v]), d, to + v * lanes);
    }
  }
}

template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void ScatterStrip(std::size_t rows, std::size_t k, const float* const* a, const float* b, std::size_t ldb,
                             const float* const* addends, float* const* c, std::size_t column) {
  const auto run = [&](auto block, std::size_t count) HWY_ATTR {
    for (; rows >= count; rows -= count, a += count, addends += count, c += count) {
      block(k, a, b, ldb, addends, c, column);
    }
  };
  run(ScatterBlock<kRows, kVectors>, kRows);
  run(ScatterBlock<4, kVectors>, 4);
  run(ScatterBlock<2, kVectors>, 2);
  run(ScatterBlock<1, kVectors>, 1);
}

// Strips of nearly equal width: 25 vectors are 4 + 4 + 4 + 4 + 3 + 3 + 3.
void ScatterTarget(std::size_t m, std::size_t n, std::size_t k, const float* const* a, const float* b, std::size_t ldb,
                   const float* const* addends, float* const* c) {
  const std::size_t lanes = hn::Lanes(Tag());
  for (std::size_t column = 0; column < n;) {
    const std::size_t left = (n - column) / lanes;
    const std::size_t strips = (left + kMaxVectors - 1) / kMaxVectors;
    const std::size_t vectors = (left + strips - 1) / strips;
    if (vectors == kMaxVectors) {
      ScatterStrip<6, kMaxVectors>(m, k, a, b, ldb, addends, c, column);
    } else if (vectors == 3) {
      ScatterStrip<8, 3>(m, k, a, b, ldb, addends, c, column);
    } else if (vectors == 2) {
      ScatterStrip<8, 2>(m, k, a, b, ldb, addends, c, column);
    } else {
      ScatterStrip<8, 1>(m, k, a, b, ldb, addends, c, column);
    }
    column += vectors * lanes;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(ScatterTarget);

// Ranges per batch and thread: enough to balance their load; and the fewest rows that are worth a task.
constexpr std::size_t kRangesOfThread = 8;
constexpr std::size_t kLeastRows = 64;
// Rows of one product at a time: a multiple of the kernel's blocks of 6 and 8.
constexpr std::size_t kProductRows = 96;
// Gradients and slopes lie anywhere in memory, so those of the next few gradients are prefetched.
constexpr std::size_t kAhead = 12;

// See kMostRangeSumBytes. The system may not know the cache.
std::size_t RangeSumBytes() {
  static const long cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return std::clamp(static_cast<std::size_t>(std::max(cache, 0L)) / 2, kMostRangeSumBytes / 2, kMostRangeSumBytes);
}

}  // namespace

void AddProductRows(std::size_t m, std::size_t n, std::size_t k, const float* const* a, const float* b, std::size_t ldb,
                    const float* const* addends, float* const* c) {
  HWY_DYNAMIC_DISPATCH(ScatterTarget)(m, n, k, a, b, ldb, addends, c);
}

std::size_t RowsOfRange(std::size_t rows, std::size_t dim) {
  // One row less than there is memory for: SumArrivals has another.
  const std::size_t fit = RangeSumBytes() / (ProductStride(dim) * sizeof(float));
  const std::size_t most = std::max<std::size_t>(2, fit) - 1;
  const std::size_t ranges = kRangesOfThread * static_cast<std::size_t>(MaxConcurrency());
  return std::min(most, std::max(kLeastRows, (rows + ranges - 1) / ranges));
}

void SumArrivals(std::span<const RowGradient> listed, std::span<const std::uint64_t> arrivals, std::size_t range_rows,
                 std::size_t dim, AlignedFloats& sums) {
  const std::size_t stride = ProductStride(dim);
  const std::size_t floats = (range_rows + 1) * stride;
  if (sums.capacity() < floats) sums = AlignedFloats();  // so that only one array exists at a time
  if (sums.size() < floats) sums.resize(floats);
  // The first arrival of a row is added to a row of what leaves every number as it is, 0 included.
  float* const nothing = sums.data() + range_rows * stride;
  FillFloats(stride, -0.0F, nothing);
  const auto sum_of = [&](std::uint64_t arrival) { return sums.data() + (arrival & (kFirstArrival - 1)) * stride; };
  std::array<const float*, kProductRows> slopes;
  std::array<const float*, kProductRows> addends;
  std::array<float*, kProductRows> to;
  for (std::size_t i = 0; i < arrivals.size();) {
    // Consecutive gradients of one product, or consecutive ones that are rows.
    const GradientProduct* const product = listed[arrivals[i] >> 32].product;
    std::size_t rows = 0;
    for (; rows < kProductRows && i < arrivals.size(); ++i, ++rows) {
      const RowGradient& one = listed[arrivals[i] >> 32];
      if (one.product != product) break;
      if (i + 2 * kAhead < arrivals.size()) __builtin_prefetch(&listed[arrivals[i + 2 * kAhead] >> 32]);
      if (i + kAhead < arrivals.size()) {
        const RowGradient& ahead = listed[arrivals[i + kAhead] >> 32];
        PrefetchFloats(ahead.values, ahead.product == nullptr ? dim : ahead.product->slope_floats);
      }
      slopes[rows] = one.values;
      to[rows] = sum_of(arrivals[i]);
      addends[rows] = (arrivals[i] & kFirstArrival) != 0 ? nothing : to[rows];
    }
    if (product != nullptr && product->add != nullptr) {
      product->add(rows, stride, product->terms, slopes.data(), product->rows, addends.data(), to.data());
      continue;
    }
    if (product != nullptr) {
      AddProductRows(rows, stride, product->terms, slopes.data(), product->rows, stride, addends.data(), to.data());
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      if (addends[r] == nothing) {
        std::copy_n(slopes[r], dim, to[r]);
        std::fill(to[r] + dim, to[r] + stride, 0.0F);  // products are added to whole vectors
      } else {
        AddFloats(dim, slopes[r], to[r]);
      }
    }
  }
}

}  // namespace octavo
#endif  // HWY_ONCE
