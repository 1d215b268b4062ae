// The panel product by Highway, and the transposes that packing needs.
//
// Naive version: for i, j: for l: c[i, j] = fma(a[i, l], panel[l, j], c[i, j]). The fast one keeps a block of c in
// registers: kRows rows of kVectors vectors; each step in l loads kVectors vectors of the panel and broadcasts kRows
// elements of a. The terms of an element are added in the order of l, whichever block it is in.
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
HWY_NOINLINE void Block(const float* a, std::size_t stride, const Panel& panel, float* c, std::size_t ldc,
                        bool accumulate) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  Vector sums[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = accumulate ? hn::LoadU(d, c + r * ldc + v * lanes) : hn::Zero(d);
    }
  }
  const float* columns = panel.data;
  for (std::size_t l = 0; l < panel.depth; ++l) {
    Vector b[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) b[v] = hn::LoadU(d, columns + v * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector x = hn::Set(d, kTransposed ? a[r] : a[r * stride]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = Term::Apply(x, b[v], sums[r][v]);
    }
    columns += panel.stride;
    a += kTransposed ? stride : 1;
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, c + r * ldc + v * lanes);
  }
}

// All rows against the first kVectors vectors of the panel: blocks of kRows, then of 4, 2 and 1.
template <class Term, bool kTransposed, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void Strip(std::size_t rows, const float* a, std::size_t stride, const Panel& panel, float* c,
                      std::size_t ldc, bool accumulate) {
  const auto run = [&](auto block, std::size_t count) HWY_ATTR {
    for (; rows >= count; rows -= count) {
      block(a, stride, panel, c, ldc, accumulate);
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
HWY_INLINE void Strips(std::size_t rows, const float* a, std::size_t stride, Panel panel, float* c, std::size_t ldc,
                       bool accumulate) {
  const std::size_t lanes = hn::Lanes(Tag());
  while (panel.width > 0) {
    const std::size_t vectors = std::min(panel.width / lanes, kMaxVectors);
    if (vectors == kMaxVectors) {
      Strip<Term, kTransposed, 6, kMaxVectors>(rows, a, stride, panel, c, ldc, accumulate);
    } else if (vectors == 3) {
      Strip<Term, kTransposed, 8, 3>(rows, a, stride, panel, c, ldc, accumulate);
    } else {
      Strip<Term, kTransposed, 8, 2>(rows, a, stride, panel, c, ldc, accumulate);
    }
    panel.data += vectors * lanes;
    panel.width -= vectors * lanes;
    c += vectors * lanes;
  }
}

void MultiplyPanelTarget(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  if (a.transposed) {
    Strips<Multiply, true>(rows, a.data, a.stride, panel, c, ldc, accumulate);
  } else {
    Strips<Multiply, false>(rows, a.data, a.stride, panel, c, ldc, accumulate);
  }
}

void L1PanelTarget(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  Strips<NegatedAbsoluteDifference, false>(rows, a.data, a.stride, panel, c, ldc, accumulate);
}

// Transposes squares of kSide rows. A vector has blocks of four elements. Four vectors, each with four elements of
// every fourth row in its blocks, become four whole columns by transposing their blocks.
#if HWY_TARGET == HWY_SCALAR
constexpr std::size_t kLargeSquare = 4, kSmallSquare = 4;

template <std::size_t kSide>
HWY_INLINE void TransposeSquare(const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j < kSide; ++j) to[j * ldt + i] = from[i * ldf + j];
  }
}
#else
constexpr std::size_t kLargeSquare = hn::MaxLanes(hn::CappedTag<float, 16>());
constexpr std::size_t kSmallSquare = hn::MaxLanes(hn::CappedTag<float, 8>());

// Elements 0 to 3 of rows 0, 4, 8 and 12, as many as d has blocks. A load that repeats a block, and a blend, cost less
// than a shuffle.
template <class SquareTag>
HWY_INLINE hn::Vec<SquareTag> LoadBlocks(SquareTag d, const float* from, std::size_t ldf) {
  const auto block = [&](std::size_t b) HWY_ATTR { return hn::LoadDup128(d, from + 4 * b * ldf); };
  if constexpr (hn::MaxLanes(d) == 4) {
    return block(0);
  } else if constexpr (hn::MaxLanes(d) == 8) {
    return hn::ConcatUpperLower(d, block(1), block(0));
  } else {
    return hn::ConcatUpperLower(d, hn::OddEvenBlocks(block(3), block(2)), hn::OddEvenBlocks(block(1), block(0)));
  }
}

template <std::size_t kSide>
HWY_INLINE void TransposeSquare(const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  const hn::CappedTag<float, kSide> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  for (std::size_t j = 0; j < kSide; j += 4, to += 4 * ldt) {
    const auto r0 = LoadBlocks(d, from + j, ldf);
    const auto r1 = LoadBlocks(d, from + j + ldf, ldf);
    const auto r2 = LoadBlocks(d, from + j + 2 * ldf, ldf);
    const auto r3 = LoadBlocks(d, from + j + 3 * ldf, ldf);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));  // 00 10 01 11
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));  // 20 30 21 31
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + ldt);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * ldt);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * ldt);
  }
}
#endif

// kSide rows.
template <std::size_t kSide>
HWY_INLINE void TransposeRows(std::size_t columns, const float* from, std::size_t ldf, float* to, std::size_t ldt) {
  std::size_t j = 0;
  for (; j + kSide <= columns; j += kSide) TransposeSquare<kSide>(from + j, ldf, to + j * ldt, ldt);
  for (; j < columns; ++j) {
    for (std::size_t r = 0; r < kSide; ++r) to[j * ldt + r] = from[r * ldf + j];
  }
}

void TransposeTarget(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf, float* to,
                     std::size_t ldt) {
  std::size_t i = 0;
  for (; i + kLargeSquare <= rows; i += kLargeSquare) {
    TransposeRows<kLargeSquare>(columns, from + i * ldf, ldf, to + i, ldt);
  }
  for (; i + kSmallSquare <= rows; i += kSmallSquare) {
    TransposeRows<kSmallSquare>(columns, from + i * ldf, ldf, to + i, ldt);
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
HWY_EXPORT(L1PanelTarget);
HWY_EXPORT(TransposeTarget);

}  // namespace

void MultiplyPanel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanelTarget)(rows, a, panel, c, ldc, accumulate);
}

void L1Panel(std::size_t rows, MatrixView a, Panel panel, float* c, std::size_t ldc, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(L1PanelTarget)(rows, a, panel, c, ldc, accumulate);
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
