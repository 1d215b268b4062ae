// The bf16 product by vectors of fused multiply-adds, and by a loop.
//
// Naive version: ScalarBf16Multiply. The fast one keeps the even and the odd sums of kRows rows of two vectors in
// registers for 32 terms, then adds both to c, which stays in memory. Denormal operands and results are zeros by the
// processor's mode for that, which is set for the time of a product.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/bf16_fma.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include <algorithm>
#include <array>

#include "hwy/highway.h"
#include "model/bf16_kernels.h"
#include "model/bf16_product.h"
#include "model/bf16_round.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());

// Two sums for each of two vectors: 28 of the 32 registers of AVX-512, 12 of the 16 of AVX2.
constexpr std::size_t kVectors = 2;
constexpr std::size_t kMostRows = kLanes == kBf16Columns ? 7 : 3;
// The columns of a block: two strips, or one.
constexpr std::size_t kColumns = kVectors * kLanes;
// Terms after which the next rows take their turn: 32 KiB of two strips stay in the first-level cache.
constexpr std::size_t kDepth = 256;

// kRows rows times kColumns columns, for the terms [begin, end) of k. `next` is the distance from a vector of the
// block to the next. Adds to c, or overwrites it.
template <std::size_t kRows>
HWY_NOINLINE void Block(std::size_t begin, std::size_t end, const float* const* left, const float* columns,
                        std::size_t next, float* c, std::size_t ldc, bool add) {
  const Tag d;
  const float* rows[kRows];
  for (std::size_t r = 0; r < kRows; ++r) rows[r] = left[r];
  for (std::size_t l = begin; l < end; l += kBf16Block) {
    Vector even[kRows][kVectors], odd[kRows][kVectors];
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) even[r][v] = odd[r][v] = hn::Zero(d);
    }
    const auto multiply = [&](std::size_t term, auto& sums) HWY_ATTR {
      Vector b[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) b[v] = hn::LoadU(d, columns + v * next + term * kBf16Columns);
      for (std::size_t r = 0; r < kRows; ++r) {
        const Vector x = hn::Set(d, rows[r][term]);
        for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, b[v], sums[r][v]);
      }
    };
    const std::size_t stop = std::min(end, l + kBf16Block);
    std::size_t term = l;
    for (; term + 2 <= stop; term += 2) {
      multiply(term, even);
      multiply(term + 1, odd);
    }
    if (term < stop) multiply(term, even);
    // Missing terms are zeros, which turn a sum of -0 into 0.
    const bool whole = stop == l + kBf16Block;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        float* const to = c + r * ldc + v * kLanes;
        if (!whole) {
          even[r][v] = hn::Add(even[r][v], hn::Zero(d));
          odd[r][v] = hn::Add(odd[r][v], hn::Zero(d));
        }
        const Vector sum = hn::Add(even[r][v], odd[r][v]);
        hn::StoreU(hn::Add(add || l > begin ? hn::LoadU(d, to) : hn::Zero(d), sum), d, to);
      }
    }
  }
}

// All rows for the terms [begin, end).
template <std::size_t kRows>
HWY_INLINE void Rows(std::size_t m, std::size_t begin, std::size_t end, const float* const* left, const float* columns,
                     std::size_t next, float* c, std::size_t ldc, bool add) {
  for (; m >= kRows; m -= kRows, left += kRows, c += kRows * ldc) {
    Block<kRows>(begin, end, left, columns, next, c, ldc, add);
  }
  if constexpr (kRows > 1) Rows<kRows / 2>(m, begin, end, left, columns, next, c, ldc, add);
}

// Columns that do not fill a block go through a tile, for so many rows at a time.
constexpr std::size_t kTileRows = 42;

void Multiply(std::size_t m, std::size_t n, std::size_t k, const float* const* left, const float* strips, float* c,
              std::size_t ldc) {
  const std::size_t strip = k * kBf16Columns;
  for (std::size_t j = 0; j < n; j += kColumns) {
    const float* const columns = strips + j / kBf16Columns * strip + j % kBf16Columns;
    const std::size_t count = std::min(kColumns, n - j);
    // In a block of two strips the second one can be missing: then the first one stands in for it.
    const std::size_t next = kLanes < kBf16Columns ? kLanes : count > kBf16Columns ? strip : 0;
    if (count == kColumns) {
      for (std::size_t l = 0; l < k; l += kDepth) {
        Rows<kMostRows>(m, l, std::min(k, l + kDepth), left, columns, next, c + j, ldc, l > 0);
      }
      continue;
    }
    alignas(64) float tile[kTileRows * kColumns];
    for (std::size_t i = 0; i < m; i += kTileRows) {
      const std::size_t rows = std::min(kTileRows, m - i);
      for (std::size_t l = 0; l < k; l += kDepth) {
        Rows<kMostRows>(rows, l, std::min(k, l + kDepth), left + i, columns, next, tile, kColumns, l > 0);
      }
      for (std::size_t r = 0; r < rows; ++r) std::copy_n(tile + r * kColumns, count, c + (i + r) * ldc + j);
    }
  }
}

bool HasFma() { return true; }
#else
void Multiply(std::size_t m, std::size_t n, std::size_t k, const float* const* left, const float* strips, float* c,
              std::size_t ldc) {
  ScalarBf16Multiply(m, n, k, left, strips, c, ldc);
}

bool HasFma() { return false; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace octavo {
namespace {

HWY_EXPORT(Multiply);
HWY_EXPORT(HasFma);

#if defined(__x86_64__)
// Sets the calling thread's mode: denormal operands and results are zeros, rounding to nearest, no traps. A product is
// a call through a pointer, which the compiler does not move across the change of the mode.
class DenormalsAreZeros {
 public:
  DenormalsAreZeros() : before_(_mm_getcsr()) { _mm_setcsr(kMode); }
  ~DenormalsAreZeros() { _mm_setcsr(before_); }
  DenormalsAreZeros(const DenormalsAreZeros&) = delete;
  DenormalsAreZeros& operator=(const DenormalsAreZeros&) = delete;

 private:
  static constexpr unsigned kMode = 0x8000 | 0x1F80 | 0x0040;  // flush to zero, all masks, denormals are zeros
  const unsigned before_;
};
#endif

// One sum of the scalar product.
float ScalarElement(std::size_t k, const float* row, const float* column) {
  float c = 0;
  for (std::size_t l = 0; l < k; l += kBf16Block) {
    std::array<float, 2> sums{};
    for (std::size_t term = l; term < l + kBf16Block; ++term) {
      float& sum = sums[term % 2];
      sum = term < k ? FlushedFma(row[term], column[term * kBf16Columns], sum) : sum + 0.0F;
    }
    c = FlushDenormal(c + FlushDenormal(sums[0] + sums[1]));
  }
  return c;
}

}  // namespace

void ScalarBf16Multiply(std::size_t m, std::size_t n, std::size_t k, const float* const* left, const float* strips,
                        float* c, std::size_t ldc) {
  for (std::size_t j = 0; j < n; ++j) {
    const float* const column = strips + j / kBf16Columns * k * kBf16Columns + j % kBf16Columns;
    for (std::size_t i = 0; i < m; ++i) c[i * ldc + j] = ScalarElement(k, left[i], column);
  }
}

void VectorBf16Multiply(std::size_t m, std::size_t n, std::size_t k, const float* const* left, const float* strips,
                        float* c, std::size_t ldc) {
#if defined(__x86_64__)
  const DenormalsAreZeros mode;
#endif
  HWY_DYNAMIC_DISPATCH(Multiply)(m, n, k, left, strips, c, ldc);
}

bool VectorBf16Works() { return HWY_DYNAMIC_DISPATCH(HasFma)(); }

}  // namespace octavo
#endif  // HWY_ONCE
