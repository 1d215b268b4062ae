// The panel product by Highway, and the transposes that packing needs.
//
// Naive version: for i, j: for l: c[i, j] = fma(a[i, l], panel[l, j], c[i, j]). The fast one keeps a block of c in
// registers: kRows rows of kVectors vectors; each step in l loads kVectors vectors of the panel and broadcasts kRows
// elements of a. The terms of an element are added in the order of l whatever block it falls to.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/gemm_portable.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "hwy/highway.h"
#include "model/gemm.h"
#include "model/panel.h"

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// Registers of the CPU: 32 with AVX-512 and NEON (4 vectors x 6 rows of sums), 16 elsewhere (2 x 6).
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr std::size_t kMaxVectors = kManyRegisters ? 4 : 2;

struct Multiply {
  static HWY_INLINE Vector Apply(Vector a, Vector b, Vector sum) { return hn::MulAdd(a, b, sum); }
};

struct NegatedAbsoluteDifference {
  static HWY_INLINE Vector Apply(Vector a, Vector b, Vector sum) { return hn::Sub(sum, hn::Abs(hn::Sub(a, b))); }
};

template <class Term, bool kTransposed, std::size_t kRows, std::size_t kVectors>
HWY_NOINLINE void Block(std::size_t depth, const float* a, std::size_t stride, const float* panel, float* c,
                        std::size_t ldc, bool accumulate) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  Vector sums[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = accumulate ? hn::LoadU(d, c + r * ldc + v * lanes) : hn::Zero(d);
    }
  }
  for (std::size_t l = 0; l < depth; ++l) {
    Vector b[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) b[v] = hn::Load(d, panel + v * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector x = hn::Set(d, kTransposed ? a[r] : a[r * stride]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = Term::Apply(x, b[v], sums[r][v]);
    }
    panel += kPanelColumns;
    a += kTransposed ? stride : 1;
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, c + r * ldc + v * lanes);
  }
}

// All rows against kVectors vectors of the panel: blocks of kRows, then of 4, 2 and 1.
template <class Term, bool kTransposed, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void Strip(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, const float* panel,
                      float* c, std::size_t ldc, bool accumulate) {
  const auto run = [&](auto block, std::size_t count) HWY_ATTR {
    for (; rows >= count; rows -= count) {
      block(depth, a, stride, panel, c, ldc, accumulate);
      a += kTransposed ? count : count * stride;
      c += count * ldc;
    }
  };
  run(Block<Term, kTransposed, kRows, kVectors>, kRows);
  run(Block<Term, kTransposed, 4, kVectors>, 4);
  run(Block<Term, kTransposed, 2, kVectors>, 2);
  run(Block<Term, kTransposed, 1, kVectors>, 1);
}

template <class Term, bool kTransposed>
HWY_INLINE void Panel(std::size_t rows, std::size_t depth, std::size_t width, const float* a, std::size_t stride,
                      const float* panel, float* c, std::size_t ldc, bool accumulate) {
  const std::size_t lanes = hn::Lanes(Tag());
  for (std::size_t j = 0; j < width;) {
    const std::size_t vectors = (width - j) / lanes;
    if (vectors >= kMaxVectors) {
      Strip<Term, kTransposed, 6, kMaxVectors>(rows, depth, a, stride, panel + j, c + j, ldc, accumulate);
      j += kMaxVectors * lanes;
    } else if (vectors == 3) {
      Strip<Term, kTransposed, 8, 3>(rows, depth, a, stride, panel + j, c + j, ldc, accumulate);
      j += 3 * lanes;
    } else {
      Strip<Term, kTransposed, 8, 2>(rows, depth, a, stride, panel + j, c + j, ldc, accumulate);
      j += 2 * lanes;
    }
  }
}

void MultiplyPanelTarget(std::size_t rows, std::size_t depth, std::size_t width, MatrixView a, const float* panel,
                         float* c, std::size_t ldc, bool accumulate) {
  if (a.transposed) {
    Panel<Multiply, true>(rows, depth, width, a.data, a.stride, panel, c, ldc, accumulate);
  } else {
    Panel<Multiply, false>(rows, depth, width, a.data, a.stride, panel, c, ldc, accumulate);
  }
}

void AbsoluteDifferencePanelTarget(std::size_t rows, std::size_t depth, std::size_t width, MatrixView a,
                                   const float* panel, float* c, std::size_t ldc, bool accumulate) {
  Panel<NegatedAbsoluteDifference, false>(rows, depth, width, a.data, a.stride, panel, c, ldc, accumulate);
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void TransposeBlock(const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) to[j * ldt + i] = from[i * ldf + j];
  }
}
#else
// 4 x 4 blocks: two rounds of interleaving pairs.
HWY_INLINE void TransposeBlock(const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  const hn::CappedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + ldf);
  const auto r2 = hn::LoadU(d, from + 2 * ldf);
  const auto r3 = hn::LoadU(d, from + 3 * ldf);
  const auto a = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));  // 00 10 01 11
  const auto b = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));  // 20 30 21 31
  const auto e = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto f = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)), d, to + ldt);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, e, f)), d, to + 2 * ldt);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, e, f)), d, to + 3 * ldt);
}
#endif

// Four source rows at a time, so that whole pieces of cache lines are written.
void TransposeTarget(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf, float* to,
                     std::size_t ldt) {
  const std::size_t block_columns = columns / 4 * 4;
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    for (std::size_t j = 0; j < block_columns; j += 4) TransposeBlock(from + i * ldf + j, ldf, to + j * ldt + i, ldt);
    for (std::size_t j = block_columns; j < columns; ++j) {
      for (std::size_t r = i; r < i + 4; ++r) to[j * ldt + r] = from[r * ldf + j];
    }
  }
  for (; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) to[j * ldt + i] = from[i * ldf + j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(MultiplyPanelTarget);
HWY_EXPORT(AbsoluteDifferencePanelTarget);
HWY_EXPORT(TransposeTarget);

}  // namespace

void MultiplyPanel(std::size_t rows, std::size_t depth, std::size_t width, MatrixView a, const float* panel, float* c,
                   std::size_t ldc, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanelTarget)(rows, depth, width, a, panel, c, ldc, accumulate);
}

void AbsoluteDifferencePanel(std::size_t rows, std::size_t depth, std::size_t width, MatrixView a, const float* panel,
                             float* c, std::size_t ldc, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(AbsoluteDifferencePanelTarget)(rows, depth, width, a, panel, c, ldc, accumulate);
}

void Transpose(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  HWY_DYNAMIC_DISPATCH(TransposeTarget)(rows, columns, from, ldf, to, ldt);
}

void PackPanel(std::size_t depth, std::size_t columns, std::size_t width, MatrixView b, float* panel) {
  if (b.transposed) {
    Transpose(columns, depth, b.data, b.stride, panel, kPanelColumns);
  } else {
    for (std::size_t l = 0; l < depth; ++l) std::copy_n(b.data + l * b.stride, columns, panel + l * kPanelColumns);
  }
  if (columns == width) return;
  for (std::size_t l = 0; l < depth; ++l) {
    std::fill(panel + l * kPanelColumns + columns, panel + l * kPanelColumns + width, 0.0F);
  }
}

}  // namespace octavo
#endif  // HWY_ONCE
