#include "model/bf16_product.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/aligned_floats.h"
#include "base/float_rows.h"
#include "model/bf16_kernels.h"
#include "model/bf16_round.h"
#include "model/gemm.h"

namespace octavo {
namespace {

constexpr std::array kBackends = {Bf16Backend::kAmx, Bf16Backend::kFma, Bf16Backend::kScalar, Bf16Backend::kAmxModel};

// Rows are rounded in pieces of this many elements before they are transposed: 16 KiB for 16 rows.
constexpr std::size_t kPiece = 256;

const TileProducts& TilesOf(Bf16Backend backend) {
  return backend == Bf16Backend::kAmx ? kAmxProducts : kModelProducts;
}

std::uint16_t* Words(float* packed) { return reinterpret_cast<std::uint16_t*>(packed); }
const std::uint16_t* Words(const float* packed) { return reinterpret_cast<const std::uint16_t*>(packed); }
// Pairs of words, which are moved as if they were floats: the moves keep the bits.
float* AsFloats(std::uint32_t* pairs) { return reinterpret_cast<float*>(pairs); }

Bf16Backend ChooseBackend() {
  const char* wish = std::getenv("OCTAVO_BF16");
  for (const Bf16Backend backend : kBackends) {
    if (wish != nullptr && Bf16BackendName(backend) == wish && Bf16BackendWorks(backend)) return backend;
  }
  return *std::find_if(kBackends.begin(), kBackends.end(), Bf16BackendWorks);
}

// Words of the columns [first, first + count) of left rows: two at a time, by a transpose of pairs. The columns of
// zeros up to `end`, if any, are written, too. A column whose neighbour is not among them all is written alone.
void PackLeftWords(const TileProducts& tiles, std::size_t m, std::size_t first, std::size_t count, std::size_t end,
                   const float* a, std::size_t lda, float* packed, std::size_t stride) {
  if (count == 0) return;
  const auto alone = [&](std::size_t l) {
    for (std::size_t i = 0; i < m; ++i) Words(packed + i * stride)[first + l] = Bf16Word(a[l * lda + i]);
  };
  std::size_t l = 0;
  if (first % 2 == 1) alone(l++);
  constexpr std::array<float, kPiece> kZeros{};
  alignas(64) std::array<std::uint32_t, kBf16Rows * kPiece> pairs;
  const std::size_t last = end - first;
  while (l + 2 <= last) {
    const std::size_t some = std::min(kBf16Rows, (last - l) / 2);
    for (std::size_t i = 0; i < m; i += kPiece) {
      const std::size_t rows = std::min(kPiece, m - i);
      const auto column = [&](std::size_t c) { return c < count ? a + c * lda + i : kZeros.data(); };
      for (std::size_t p = 0; p < some; ++p) {
        tiles.pair_words(rows, column(l + 2 * p), column(l + 2 * p + 1), pairs.data() + p * kPiece);
      }
      Transpose(some, rows, AsFloats(pairs.data()), kPiece, packed + i * stride + (first + l) / 2, stride);
    }
    l += 2 * some;
  }
  if (l < count) alone(l);
}

// Rows [first, first + count) of strips of pairs of rows.
void PackRightWords(const TileProducts& tiles, std::size_t k, std::size_t n, std::size_t first, std::size_t count,
                    const float* b, std::size_t stride, std::uint16_t* words) {
  const std::size_t strip = WholeBf16(k, kBf16Block) * kBf16Columns;
  const auto strips = [&](const auto& pack) {
    for (std::size_t j = 0; j < n; j += kBf16Columns) pack(j, std::min(kBf16Columns, n - j), words + j * strip / 16);
  };
  const auto alone = [&](std::size_t l) {
    const float* const row = b + (l - first) * stride;
    strips([&](std::size_t j, std::size_t columns, std::uint16_t* to) {
      to += l / 2 * 2 * kBf16Columns + l % 2;
      for (std::size_t c = 0; c < kBf16Columns; ++c) to[2 * c] = c < columns ? Bf16Word(row[j + c]) : 0;
    });
  };
  std::size_t l = first;
  const std::size_t last = first + count;
  if (l % 2 == 1 && l < last) alone(l++);
  const std::size_t pairs_end = l + (last - l) / 2 * 2;
  strips([&](std::size_t j, std::size_t columns, std::uint16_t* to) {
    for (std::size_t pair = l; pair < pairs_end; pair += 2) {
      const float* const row = b + (pair - first) * stride + j;
      auto* const out = reinterpret_cast<std::uint32_t*>(to + pair * kBf16Columns);
      tiles.pair_words(columns, row, row + stride, out);
      std::fill(out + columns, out + kBf16Columns, 0);
    }
  });
  if (pairs_end < last) alone(pairs_end);
  if (last < k) return;
  strips([&](std::size_t, std::size_t, std::uint16_t* to) {
    for (std::size_t row = k; row < WholeBf16(k, kBf16Block); ++row) {
      for (std::size_t c = 0; c < kBf16Columns; ++c) to[row / 2 * 2 * kBf16Columns + 2 * c + row % 2] = 0;
    }
  });
}

// One strip of words, [k / 2][16][2], from `columns` rows of b.
void PackStripWords(const TileProducts& tiles, std::size_t k, std::size_t columns, const float* b, std::size_t stride,
                    float* to) {
  constexpr std::size_t kPairs = kPiece / 2;
  alignas(64) std::array<std::uint32_t, kBf16Columns * kPairs> pairs{};
  for (std::size_t l = 0; l < k; l += kPiece) {
    const std::size_t terms = std::min(kPiece, k - l);
    const std::size_t whole = WholeBf16(terms, kBf16Block);
    for (std::size_t j = 0; j < columns; ++j) {
      auto* const words = reinterpret_cast<std::uint16_t*>(pairs.data() + j * kPairs);
      tiles.round_words(terms, b + j * stride + l, words);
      std::fill(words + terms, words + whole, std::uint16_t{0});
    }
    Transpose(kBf16Columns, whole / 2, AsFloats(pairs.data()), kPairs, to + l / 2 * kBf16Columns, kBf16Columns);
  }
}

// One strip of floats, [k][16].
void PackStripFloats(std::size_t k, std::size_t columns, const float* b, std::size_t stride, float* to) {
  Transpose(columns, k, b, stride, to, kBf16Columns);
  for (std::size_t l = 0; l < k && columns < kBf16Columns; ++l) {
    std::fill(to + l * kBf16Columns + columns, to + (l + 1) * kBf16Columns, 0.0F);
  }
  RoundFloatsToBf16(k * kBf16Columns, to, to);
}

// Rows of a sum that is added to rows elsewhere: so many at a time, two tiles or whole blocks of the vectors' product,
// and, of the latter, so many floats.
constexpr std::size_t kTileSumRows = 2 * kBf16Rows;
constexpr std::size_t kVectorSumRows = 42;
constexpr std::size_t kVectorSumFloats = 6144;  // 24 KiB

void MultiplyFloats(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* const* left,
                    const float* strips, float* c, std::size_t ldc) {
  (backend == Bf16Backend::kFma ? VectorBf16Multiply : ScalarBf16Multiply)(m, n, k, left, strips, c, ldc);
}

}  // namespace

std::string_view Bf16BackendName(Bf16Backend backend) {
  switch (backend) {
    case Bf16Backend::kScalar:
      return "scalar";
    case Bf16Backend::kFma:
      return "fma";
    case Bf16Backend::kAmx:
      return "amx";
    case Bf16Backend::kAmxModel:
      return "amx-model";
  }
  return "";
}

bool Bf16BackendWorks(Bf16Backend backend) {
  return backend == Bf16Backend::kAmx ? AmxWorks() : backend != Bf16Backend::kFma || VectorBf16Works();
}

Bf16Backend ActiveBf16Backend() {
  static const Bf16Backend backend = ChooseBackend();
  return backend;
}

void PackBf16LeftRow(Bf16Backend backend, std::size_t k, const float* a, float* packed) {
  if (!Bf16HasWords(backend)) return RoundFloatsToBf16(k, a, packed);
  TilesOf(backend).round_words(k, a, Words(packed));
  std::fill(Words(packed) + k, Words(packed) + WholeBf16(k, kBf16Block), std::uint16_t{0});
}

void PackBf16LeftWords(std::size_t k, const std::uint16_t* a, float* packed) {
  std::uint16_t* const to = Words(packed);
  std::copy_n(a, k, to);  // a product takes denormal words as zeros
  std::fill(to + k, to + WholeBf16(k, kBf16Block), std::uint16_t{0});
}

void PackBf16Left(Bf16Backend backend, std::size_t m, std::size_t k, const float* a, std::size_t stride,
                  float* packed) {
  const std::size_t width = Bf16LeftStride(backend, k);
  // In place, a packed row must end before the next row of floats begins.
  std::vector<float> copy;
  if (packed == a && width > k) {
    copy.assign(a, a + m * k);
    a = copy.data();
  }
  for (std::size_t i = 0; i < m; ++i) PackBf16LeftRow(backend, k, a + i * stride, packed + i * width);
}

void PackBf16LeftColumns(Bf16Backend backend, std::size_t m, std::size_t whole, std::size_t first, std::size_t count,
                         const float* a, std::size_t lda, float* packed, std::size_t stride) {
  if (Bf16HasWords(backend)) {
    const std::size_t end = first + count < whole ? first + count : WholeBf16(whole, kBf16Block);
    return PackLeftWords(TilesOf(backend), m, first, count, end, a, lda, packed, stride);
  }
  alignas(64) std::array<float, kBf16Rows * kPiece> rounded;
  for (std::size_t l = 0; l < count; l += kBf16Rows) {
    const std::size_t some = std::min(kBf16Rows, count - l);
    for (std::size_t i = 0; i < m; i += kPiece) {
      const std::size_t rows = std::min(kPiece, m - i);
      for (std::size_t r = 0; r < some; ++r)
        RoundFloatsToBf16(rows, a + (l + r) * lda + i, rounded.data() + r * kPiece);
      Transpose(some, rows, rounded.data(), kPiece, packed + i * stride + first + l, stride);
    }
  }
}

void PackBf16RightRows(Bf16Backend backend, std::size_t k, std::size_t n, std::size_t first, std::size_t count,
                       const float* b, std::size_t stride, float* packed) {
  if (Bf16HasWords(backend)) return PackRightWords(TilesOf(backend), k, n, first, count, b, stride, Words(packed));
  // Some rows at a time for each strip, so that whole cache lines in sequence are written.
  const std::size_t last = first + count;
  for (std::size_t begin = first; begin < last; begin += kBf16Rows) {
    const std::size_t end = std::min(last, begin + kBf16Rows);
    for (std::size_t j = 0; j < n; j += kBf16Columns) {
      const std::size_t columns = std::min(kBf16Columns, n - j);
      for (std::size_t l = begin; l < end; ++l) {
        float* const to = packed + j * k + l * kBf16Columns;
        RoundFloatsToBf16(columns, b + (l - first) * stride + j, to);
        std::fill(to + columns, to + kBf16Columns, 0.0F);
      }
    }
  }
}

void PackBf16RightColumns(Bf16Backend backend, std::size_t k, std::size_t n, std::size_t first, std::size_t count,
                          const float* b, std::size_t stride, float* packed) {
  const std::size_t depth = Bf16HasWords(backend) ? WholeBf16(k, kBf16Block) / 2 : k;
  for (std::size_t j = first; j < std::min(n, first + count); j += kBf16Columns) {
    const std::size_t columns = std::min(kBf16Columns, n - j);
    const float* const rows = b + (j - first) * stride;
    if (Bf16HasWords(backend)) {
      PackStripWords(TilesOf(backend), k, columns, rows, stride, packed + j * depth);
    } else {
      PackStripFloats(k, columns, rows, stride, packed + j * depth);
    }
  }
}

void PackBf16Strip(Bf16Backend backend, std::size_t k, const float* left, float* packed) {
  const std::size_t pairs = Bf16LeftStride(backend, k);
  Transpose(kBf16Columns, pairs, left, pairs, packed, kBf16Columns);
}

void Bf16Multiply(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* left,
                  const float* right, float* c, std::size_t ldc) {
  if (k == 0) {
    for (std::size_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, 0.0F);
  } else if (Bf16HasWords(backend)) {
    TilesOf(backend).multiply(m, n, k, Words(left), WholeBf16(k, kBf16Block), Words(right), c, ldc);
  } else {
    // Rows by their addresses, some at a time: a strip of columns is read from the second-level cache for each of them.
    std::array<const float*, 504> rows;  // a multiple of the rows of all blocks
    for (std::size_t i = 0; i < m; i += rows.size()) {
      const std::size_t some = std::min(rows.size(), m - i);
      for (std::size_t r = 0; r < some; ++r) rows[r] = left + (i + r) * k;
      MultiplyFloats(backend, some, n, k, rows.data(), right, c + i * ldc, ldc);
    }
  }
}

void Bf16MultiplyTransposed(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* left,
                            const float* right, float* c, std::size_t ldc) {
  TilesOf(backend).multiply_transposed(m, n, k, Words(left), WholeBf16(k, kBf16Block), Words(right), c, ldc);
}

void Bf16MultiplyByRows(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* left,
                        const float* rows, float* panel, float* c, std::size_t ldc) {
  TilesOf(backend).multiply_by_rows(m, n, k, Words(left), WholeBf16(k, kBf16Block), Words(rows),
                                    WholeBf16(n, kBf16Block), Words(panel), c, ldc);
}

void Bf16AddProductRows(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* const* left,
                        const float* right, const float* const* addends, float* const* c) {
  if (Bf16HasWords(backend)) {
    thread_local AlignedFloats tiles;
    const std::size_t stride = WholeBf16(k, kBf16Block);
    tiles.resize(std::max(tiles.size(), kTileSumRows * stride / 2));
    for (std::size_t i = 0; i < m; i += kTileSumRows) {
      const std::size_t rows = std::min(kTileSumRows, m - i);
      for (std::size_t r = 0; r < rows; ++r) {
        // Whole blocks, each of which is a few instructions; a copy of any length would be a call.
        for (std::size_t l = 0; l < stride; l += kBf16Block) {
          std::memcpy(Words(tiles.data()) + r * stride + l, Words(left[i + r]) + l, kBf16Block * sizeof(std::uint16_t));
        }
      }
      TilesOf(backend).add_rows(rows, n, k, Words(tiles.data()), stride, Words(right), addends + i, c + i);
    }
    return;
  }
  alignas(64) std::array<float, kVectorSumFloats> sums;
  for (std::size_t i = 0; i < m; i += kVectorSumRows) {
    const std::size_t rows = std::min(kVectorSumRows, m - i);
    const std::size_t most = kVectorSumFloats / rows / kBf16Columns * kBf16Columns;
    for (std::size_t j = 0; j < n; j += most) {
      const std::size_t columns = std::min(most, n - j);
      MultiplyFloats(backend, rows, columns, k, left + i, right + j * k, sums.data(), columns);
      for (std::size_t r = 0; r < rows; ++r) {
        AddFloats(columns, addends[i + r] + j, sums.data() + r * columns, c[i + r] + j);
      }
    }
  }
}

}  // namespace octavo
