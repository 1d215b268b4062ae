// Block kernels of the distances that are not matrix products: sums of |q - c| over real or complex elements.
//
// Naive version of the gradients: for i, j, l: dq[i, l] += g[i, j] * s, dc[j, l] -= g[i, j] * s, where s is the
// direction from q_l to c_l: the sign of c - q, or the unit complex number. The fast one keeps a block of queries and
// their gradients in registers for one vector of l and loops over all candidates; the terms of dq are added in the
// order of j, those of dc in the order of i.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/distance.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include <algorithm>

#include "base/lanes-inl.h"
#include "hwy/highway.h"
#include "model/comparison.h"
#include "model/panel.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {

constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr std::size_t kL1Rows = kManyRegisters ? 8 : 4;
constexpr std::size_t kComplexL1Rows = 4;

// kRows queries against all candidates at elements l; q, dq point at the first of the rows, g at [kRows, m].
template <std::size_t kRows, class D>
HWY_INLINE void L1GradientBlock(D d, std::size_t l, std::size_t dim, const float* q, std::size_t m, const float* c,
                                const float* g, float* dq, float* dc) {
  hn::Vec<D> queries[kRows];
  hn::Vec<D> sums[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    queries[r] = hn::LoadU(d, q + r * dim + l);
    sums[r] = hn::Zero(d);
  }
  const auto sign_bit = hn::SignBit(d);
  for (std::size_t j = 0; j < m; ++j) {
    const auto candidate = hn::LoadU(d, c + j * dim + l);
    auto candidate_sum = hn::LoadU(d, dc + j * dim + l);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto difference = hn::Sub(candidate, queries[r]);
      const auto signed_g = hn::Xor(hn::Set(d, g[r * m + j]), hn::And(difference, sign_bit));
      const auto step = hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), signed_g);
      sums[r] = hn::Add(sums[r], step);
      candidate_sum = hn::Sub(candidate_sum, step);
    }
    hn::StoreU(candidate_sum, d, dc + j * dim + l);
  }
  for (std::size_t r = 0; r < kRows; ++r) hn::StoreU(sums[r], d, dq + r * dim + l);
}

void L1GradientsTarget(std::size_t dim, std::size_t n, const float* q, std::size_t m, const float* c, const float* g,
                       float* dq, float* dc) {
  std::fill_n(dc, m * dim, 0.0F);
  ForEachLane(dim, [&](auto d, std::size_t l) HWY_ATTR {
    std::size_t i = 0;
    for (; i + kL1Rows <= n; i += kL1Rows) {
      L1GradientBlock<kL1Rows>(d, l, dim, q + i * dim, m, c, g + i * m, dq + i * dim, dc);
    }
    for (; i < n; ++i) L1GradientBlock<1>(d, l, dim, q + i * dim, m, c, g + i * m, dq + i * dim, dc);
  });
}

// The same for complex elements; l < dim / 2.
template <std::size_t kRows, class D>
HWY_INLINE void ComplexL1GradientBlock(D d, std::size_t l, std::size_t dim, const float* q, std::size_t m,
                                       const float* c, const float* g, float* dq, float* dc) {
  const std::size_t half = dim / 2;
  hn::Vec<D> re[kRows];
  hn::Vec<D> im[kRows];
  hn::Vec<D> re_sums[kRows];
  hn::Vec<D> im_sums[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    re[r] = hn::LoadU(d, q + r * dim + l);
    im[r] = hn::LoadU(d, q + r * dim + half + l);
    re_sums[r] = hn::Zero(d);
    im_sums[r] = hn::Zero(d);
  }
  for (std::size_t j = 0; j < m; ++j) {
    const float* const candidate = c + j * dim + l;
    float* const gradient = dc + j * dim + l;
    const auto candidate_re = hn::LoadU(d, candidate);
    const auto candidate_im = hn::LoadU(d, candidate + half);
    auto candidate_re_sum = hn::LoadU(d, gradient);
    auto candidate_im_sum = hn::LoadU(d, gradient + half);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto x = hn::Sub(candidate_re, re[r]);
      const auto y = hn::Sub(candidate_im, im[r]);
      const auto h = hn::Mul(hn::Set(d, g[r * m + j]), InverseModulus(d, x, y));
      re_sums[r] = hn::MulAdd(h, x, re_sums[r]);
      im_sums[r] = hn::MulAdd(h, y, im_sums[r]);
      candidate_re_sum = hn::NegMulAdd(h, x, candidate_re_sum);
      candidate_im_sum = hn::NegMulAdd(h, y, candidate_im_sum);
    }
    hn::StoreU(candidate_re_sum, d, gradient);
    hn::StoreU(candidate_im_sum, d, gradient + half);
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    hn::StoreU(re_sums[r], d, dq + r * dim + l);
    hn::StoreU(im_sums[r], d, dq + r * dim + half + l);
  }
}

void ComplexL1GradientsTarget(std::size_t dim, std::size_t n, const float* q, std::size_t m, const float* c,
                              const float* g, float* dq, float* dc) {
  std::fill_n(dc, m * dim, 0.0F);
  ForEachLane(dim / 2, [&](auto d, std::size_t l) HWY_ATTR {
    std::size_t i = 0;
    for (; i + kComplexL1Rows <= n; i += kComplexL1Rows) {
      ComplexL1GradientBlock<kComplexL1Rows>(d, l, dim, q + i * dim, m, c, g + i * m, dq + i * dim, dc);
    }
    for (; i < n; ++i) ComplexL1GradientBlock<1>(d, l, dim, q + i * dim, m, c, g + i * m, dq + i * dim, dc);
  });
}

// One row against two vectors of the panel, or the remaining one: square roots limit the speed, not loads.
void ComplexL1PanelTarget(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  const FullTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto term = [&](auto re, auto im, const float* b) HWY_ATTR {
    const auto x = hn::Sub(re, hn::LoadU(d, b));
    const auto y = hn::Sub(im, hn::LoadU(d, b + kPanelDepth * kPanelColumns));
    return Modulus(d, x, y);
  };
  std::size_t j = 0;
  for (; j + 2 * lanes <= panel.width; j += 2 * lanes) {
    for (std::size_t i = 0; i < rows; ++i) {
      float* const out = c + i * ldc + j;
      auto sum0 = accumulate ? hn::LoadU(d, out) : hn::Zero(d);
      auto sum1 = accumulate ? hn::LoadU(d, out + lanes) : hn::Zero(d);
      const float* const row = a.data + i * a.stride;
      for (std::size_t l = 0; l < panel.depth; ++l) {
        const auto re = hn::Set(d, row[l]);
        const auto im = hn::Set(d, row[a.half + l]);
        const float* const b = panel.data + l * panel.stride + j;
        sum0 = hn::Sub(sum0, term(re, im, b));
        sum1 = hn::Sub(sum1, term(re, im, b + lanes));
      }
      hn::StoreU(sum0, d, out);
      hn::StoreU(sum1, d, out + lanes);
    }
  }
  for (; j < panel.width; j += lanes) {
    for (std::size_t i = 0; i < rows; ++i) {
      float* const out = c + i * ldc + j;
      auto sum = accumulate ? hn::LoadU(d, out) : hn::Zero(d);
      const float* const row = a.data + i * a.stride;
      for (std::size_t l = 0; l < panel.depth; ++l) {
        sum = hn::Sub(sum, term(hn::Set(d, row[l]), hn::Set(d, row[a.half + l]), panel.data + l * panel.stride + j));
      }
      hn::StoreU(sum, d, out);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(L1GradientsTarget);
HWY_EXPORT(ComplexL1GradientsTarget);
HWY_EXPORT(ComplexL1PanelTarget);

}  // namespace

void L1Gradients(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                 const float* g, float* query_gradients, float* candidate_gradients) {
  HWY_DYNAMIC_DISPATCH(L1GradientsTarget)
  (dim, n, queries, m, candidates, g, query_gradients, candidate_gradients);
}

void ComplexL1Gradients(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const float* candidates,
                        const float* g, float* query_gradients, float* candidate_gradients) {
  HWY_DYNAMIC_DISPATCH(ComplexL1GradientsTarget)
  (dim, n, queries, m, candidates, g, query_gradients, candidate_gradients);
}

void ComplexL1Panel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(ComplexL1PanelTarget)(rows, a, panel, c, ldc, accumulate);
}

}  // namespace octavo
#endif  // HWY_ONCE
