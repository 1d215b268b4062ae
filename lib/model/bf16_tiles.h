// The bf16 product by tiles, for a unit of eight tiles: AMX (bf16_amx.cc), or a scalar model of it, by which the same
// source is tested on machines without AMX. Internal to model/.
//
// A tile has 16 rows of 64 bytes. For each 32 terms, tiles of left rows, [16, 32] words, and of right columns,
// [16][16][2] words, are loaded and multiplied into tiles of sums, [16, 16] floats. There are two kinds of blocks: of
// 2 x 2 tiles of sums, which loads four tiles for four products, and of 1 x 2, which loads three for two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/float_rows.h"
#include "model/bf16_kernels.h"
#include "model/bf16_product.h"
#include "model/bf16_round.h"
#include "model/gemm.h"

namespace octavo {

inline constexpr std::size_t kTileSide = 16;  // rows, and 32-bit columns
inline constexpr std::size_t kTileFloats = kTileSide * kTileSide;
inline constexpr std::size_t kTileRowBytes = 64;
inline constexpr std::size_t kRightWords = kTileFloats * 2;  // of a tile of right columns
// Two strips of so many blocks of terms, 16 KiB, stay in the first-level cache while all left rows pass.
inline constexpr std::size_t kMostRowBlocks = 8;
static_assert(kBf16PanelRows <= kMostRowBlocks * kBf16Block);

// What a unit does, each tile given by its number.
class ScalarTileUnit {
 public:
  static void RoundWords(std::size_t count, const float* from, std::uint16_t* words) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t word = Bf16Word(from[i]);
      std::memcpy(words + i, &word, sizeof(word));  // may be the memory of an earlier float
    }
  }
  static void PairWords(std::size_t count, const float* first, const float* second, std::uint32_t* pairs) {
    for (std::size_t i = 0; i < count; ++i) {
      pairs[i] = Bf16Word(first[i]) | std::uint32_t{Bf16Word(second[i])} << 16;
    }
  }
  // Makes two strips of 16 columns, [2][k / 2][16][2] words, of k rows of 32 words; zeros to whole blocks of terms.
  static void PackTwoStrips(std::size_t k, const std::uint16_t* rows, std::size_t stride, std::uint16_t* strips) {
    const std::size_t terms = WholeBf16(k, kBf16Block);
    for (std::size_t l = 0; l < terms; ++l) {
      for (std::size_t column = 0; column < 2 * kBf16Columns; ++column) {
        std::uint16_t* const strip = strips + column / kBf16Columns * terms * kBf16Columns;
        const std::size_t pair = l / 2 * kBf16Columns + column % kBf16Columns;
        strip[2 * pair + l % 2] = l < k ? rows[l * stride + column] : 0;
      }
    }
  }
  // Copies rows of at most kTileSide floats.
  static void CopyRows(std::size_t rows, std::size_t columns, const float* from, std::size_t ldf, float* to,
                       std::size_t ldt) {
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(from + r * ldf, columns, to + r * ldt);
  }
  // Writes columns [column, column + kTileSide) of c[0], c[1] and so on, in this order: addends plus the tile.
  static void AddTile(std::size_t rows, const float* tile, const float* const* addends, float* const* c,
                      std::size_t column) {
    for (std::size_t r = 0; r < rows; ++r) {
      AddFloats(kTileSide, addends[r] + column, tile + r * kTileSide, c[r] + column);
    }
  }

  template <int kTile>
  void Zero() {
    std::memset(tiles_[kTile], 0, sizeof(tiles_[kTile]));
  }
  // Rows are `stride` bytes apart.
  template <int kTile>
  void Load(const void* from, std::size_t stride) {
    for (std::size_t r = 0; r < kTileSide; ++r) {
      std::memcpy(tiles_[kTile][r], static_cast<const std::byte*>(from) + r * stride, kTileRowBytes);
    }
  }
  template <int kTile>
  void Store(void* to, std::size_t stride) const {
    for (std::size_t r = 0; r < kTileSide; ++r) {
      std::memcpy(static_cast<std::byte*>(to) + r * stride, tiles_[kTile][r], kTileRowBytes);
    }
  }
  // TDPBF16PS: adds the product of pairs of words.
  template <int kSums, int kLeft, int kRight>
  void MultiplyAdd() {
    for (std::size_t i = 0; i < kTileSide; ++i) {
      for (std::size_t j = 0; j < kTileSide; ++j) {
        float sums[2] = {};
        for (std::size_t pair = 0; pair < kTileSide; ++pair) {
          for (std::size_t half = 0; half < 2; ++half) {
            sums[half] = FlushedFma(Word(kLeft, i, 2 * pair + half), Word(kRight, pair, 2 * j + half), sums[half]);
          }
        }
        float c;
        std::memcpy(&c, tiles_[kSums][i] + j * sizeof(c), sizeof(c));
        c = FlushDenormal(FlushDenormal(c) + FlushDenormal(sums[0] + sums[1]));
        std::memcpy(tiles_[kSums][i] + j * sizeof(c), &c, sizeof(c));
      }
    }
  }

 private:
  float Word(int tile, std::size_t row, std::size_t column) const {
    std::uint16_t word = 0;
    std::memcpy(&word, tiles_[tile][row] + column * sizeof(word), sizeof(word));
    return FlushDenormal(FromBf16Word(word));
  }

  std::byte tiles_[8][kTileSide][kTileRowBytes] = {};
};

template <int kTile>
using TileNumber = std::integral_constant<int, kTile>;

// Where the sums of a product go: c[i * ldc + j].
struct SumRows {
  float* c = nullptr;
  std::size_t ldc = 0;

  SumRows From(std::size_t i, std::size_t j) const { return {c + i * ldc + j, ldc}; }
  // Stores a tile to the part of c that exists, [rows, columns].
  template <int kTile, class Unit>
  void Store(const Unit& unit, std::size_t rows, std::size_t columns) const {
    if (rows >= kTileSide && columns >= kTileSide) {
      unit.template Store<kTile>(c, ldc * sizeof(float));
      return;
    }
    alignas(64) float whole[kTileFloats];
    unit.template Store<kTile>(whole, kTileRowBytes);
    Unit::CopyRows(std::min(rows, kTileSide), std::min(columns, kTileSide), whole, kTileSide, c, ldc);
  }
  // Loads what Store has stored.
  template <int kTile, class Unit>
  void Load(Unit& unit, std::size_t rows, std::size_t columns) const {
    if (rows >= kTileSide && columns >= kTileSide) {
      unit.template Load<kTile>(c, ldc * sizeof(float));
      return;
    }
    alignas(64) float whole[kTileFloats] = {};
    Unit::CopyRows(std::min(rows, kTileSide), std::min(columns, kTileSide), c, ldc, whole, kTileSide);
    unit.template Load<kTile>(whole, kTileRowBytes);
  }
};

// The same for the transpose: c[j * ldc + i].
struct SumColumns {
  float* c = nullptr;
  std::size_t ldc = 0;

  SumColumns From(std::size_t i, std::size_t j) const { return {c + j * ldc + i, ldc}; }
  template <int kTile, class Unit>
  void Store(const Unit& unit, std::size_t rows, std::size_t columns) const {
    alignas(64) float whole[kTileFloats];
    unit.template Store<kTile>(whole, kTileRowBytes);
    Transpose(std::min(rows, kTileSide), std::min(columns, kTileSide), whole, kTileSide, c, ldc);
  }
};

// Rows at any addresses: c[i][j] becomes addends[i][j] plus the sum. REQUIRES: columns are whole tiles
struct AddedRows {
  const float* const* addends = nullptr;
  float* const* c = nullptr;
  std::size_t column = 0;

  AddedRows From(std::size_t i, std::size_t j) const { return {addends + i, c + i, column + j}; }
  template <int kTile, class Unit>
  void Store(const Unit& unit, std::size_t rows, std::size_t /*columns*/) const {
    alignas(64) float whole[kTileFloats];
    unit.template Store<kTile>(whole, kTileRowBytes);
    Unit::AddTile(std::min(rows, kTileSide), whole, addends, c, column);
  }
};

// The operands of a block, from its first row and column on: left rows, strips of right columns.
struct TileOperands {
  std::size_t blocks = 0;  // of 32 terms
  const std::uint16_t* left = nullptr;
  std::size_t left_stride = 0;
  const std::uint16_t* right = nullptr;
  std::size_t strip = 0;  // words of a strip
};

// One block of at most kRows x kColumns tiles of sums; [rows, columns] of it exist. Loads the fewest tiles.
//
// A tile of operands is set to zero after its last use. It changes no result, but a tile that a load overwrites is
// otherwise waited for: where the other hardware thread of the core is busy, a block takes 1.8 times as long without
// it. Where that is idle there is no difference.
template <int kRows, int kColumns, class Unit, class Sums>
void MultiplyTileBlock(Unit& unit, std::size_t rows, std::size_t columns, const TileOperands& in, const Sums& sums) {
  const std::size_t stride = in.left_stride * sizeof(std::uint16_t);
  unit.template Zero<0>();
  if constexpr (kColumns > 1) unit.template Zero<1>();
  if constexpr (kRows > 1) unit.template Zero<2>();
  if constexpr (kRows > 1 && kColumns > 1) unit.template Zero<3>();
  for (std::size_t block = 0; block < in.blocks; ++block) {
    unit.template Load<4>(in.left + block * kBf16Block, stride);
    unit.template Load<6>(in.right + block * kRightWords, kTileRowBytes);
    unit.template MultiplyAdd<0, 4, 6>();
    if constexpr (kColumns > 1) {
      unit.template Load<7>(in.right + in.strip + block * kRightWords, kTileRowBytes);
      unit.template MultiplyAdd<1, 4, 7>();
    }
    unit.template Zero<4>();
    if constexpr (kRows > 1) {
      unit.template Load<5>(in.left + kTileSide * in.left_stride + block * kBf16Block, stride);
      unit.template MultiplyAdd<2, 5, 6>();
    }
    unit.template Zero<6>();
    if constexpr (kRows > 1 && kColumns > 1) unit.template MultiplyAdd<3, 5, 7>();
    if constexpr (kRows > 1) unit.template Zero<5>();
    if constexpr (kColumns > 1) unit.template Zero<7>();
  }
  sums.template Store<0>(unit, rows, columns);
  if constexpr (kColumns > 1) sums.From(0, kTileSide).template Store<1>(unit, rows, columns - kTileSide);
  if constexpr (kRows > 1) sums.From(kTileSide, 0).template Store<2>(unit, rows - kTileSide, columns);
  if constexpr (kRows > 1 && kColumns > 1) {
    sums.From(kTileSide, kTileSide).template Store<3>(unit, rows - kTileSide, columns - kTileSide);
  }
}

template <class Unit, class Sums>
void MultiplyTileBlock(Unit& unit, std::size_t rows, std::size_t columns, const TileOperands& in, const Sums& sums) {
  const bool tall = rows > kTileSide, wide = columns > kTileSide;
  if (tall && wide) return MultiplyTileBlock<2, 2>(unit, rows, columns, in, sums);
  if (tall) return MultiplyTileBlock<2, 1>(unit, rows, columns, in, sums);
  if (wide) return MultiplyTileBlock<1, 2>(unit, rows, columns, in, sums);
  MultiplyTileBlock<1, 1>(unit, rows, columns, in, sums);
}

// One block of 1 x kColumns tiles of sums; [rows, columns] of it exist. Loads more tiles than MultiplyTileBlock, but
// the next 32 terms have other tiles, so that they are loaded while products still read these. If its strips are in the
// first-level cache, a product takes 6 ns instead of 7, and 13 instead of 18 where the other hardware thread is busy;
// from the second-level cache it takes longer. Of an operand that is multiplied part by part, the later parts are added
// to the sums of those before: kAdd.
template <int kColumns, bool kAdd, class Unit, class Sums>
void MultiplyTileRow(Unit& unit, std::size_t rows, std::size_t columns, const TileOperands& in, const Sums& sums) {
  const std::size_t stride = in.left_stride * sizeof(std::uint16_t);
  const auto begin = [&](auto tile, std::size_t j) {
    if constexpr (kAdd) {
      sums.From(0, j).template Load<tile()>(unit, rows, columns - j);
    } else {
      unit.template Zero<tile()>();
    }
  };
  const auto add = [&](std::size_t block, auto left, auto first, auto second) {
    unit.template Load<left()>(in.left + block * kBf16Block, stride);
    unit.template Load<first()>(in.right + block * kRightWords, kTileRowBytes);
    if constexpr (kColumns > 1) {
      unit.template Load<second()>(in.right + in.strip + block * kRightWords, kTileRowBytes);
    }
    unit.template MultiplyAdd<0, left(), first()>();
    if constexpr (kColumns > 1) unit.template MultiplyAdd<1, left(), second()>();
    unit.template Zero<left()>();  // as in MultiplyTileBlock
    unit.template Zero<first()>();
    if constexpr (kColumns > 1) unit.template Zero<second()>();
  };
  begin(TileNumber<0>(), 0);
  if constexpr (kColumns > 1) begin(TileNumber<1>(), kTileSide);
  std::size_t block = 0;
  for (; block + 1 < in.blocks; block += 2) {
    add(block, TileNumber<2>(), TileNumber<3>(), TileNumber<4>());
    add(block + 1, TileNumber<5>(), TileNumber<6>(), TileNumber<7>());
  }
  if (block < in.blocks) add(block, TileNumber<2>(), TileNumber<3>(), TileNumber<4>());
  sums.template Store<0>(unit, rows, columns);
  if constexpr (kColumns > 1) sums.From(0, kTileSide).template Store<1>(unit, rows, columns - kTileSide);
}

inline constexpr std::size_t kTileBlockSide = 2 * kTileSide;

inline TileOperands OperandsOf(std::size_t k, const std::uint16_t* left, std::size_t left_stride,
                               const std::uint16_t* right) {
  const std::size_t terms = WholeBf16(k, kBf16Block);
  return {terms / kBf16Block, left, left_stride, right, terms * kBf16Columns};
}
inline TileOperands From(TileOperands in, std::size_t i, std::size_t j) {
  in.left += i * in.left_stride;
  in.right += j / kBf16Columns * in.strip;
  return in;
}

// The product of at most kTileBlockSide rows with at most 64 terms, as of the gradients of negatives in small chunks:
// the left tiles stay while all strips pass, so that half as many tiles are loaded.
template <int kRows, int kBlocks, class Unit, class Sums>
void MultiplyShortRows(Unit& unit, std::size_t rows, std::size_t n, const TileOperands& in, const Sums& sums) {
  const std::size_t stride = in.left_stride * sizeof(std::uint16_t);
  unit.template Load<4>(in.left, stride);
  if constexpr (kBlocks > 1) unit.template Load<5>(in.left + kBf16Block, stride);
  if constexpr (kRows > 1) unit.template Load<6>(in.left + kTileSide * in.left_stride, stride);
  if constexpr (kRows > 1 && kBlocks > 1) {
    unit.template Load<7>(in.left + kTileSide * in.left_stride + kBf16Block, stride);
  }
  for (std::size_t j = 0; j < n; j += kTileSide) {
    const std::uint16_t* const right = in.right + j / kBf16Columns * in.strip;
    unit.template Zero<0>();
    if constexpr (kRows > 1) unit.template Zero<1>();
    unit.template Load<2>(right, kTileRowBytes);
    unit.template MultiplyAdd<0, 4, 2>();
    if constexpr (kRows > 1) unit.template MultiplyAdd<1, 6, 2>();
    unit.template Zero<2>();  // as in MultiplyTileBlock
    if constexpr (kBlocks > 1) {
      unit.template Load<3>(right + kRightWords, kTileRowBytes);
      unit.template MultiplyAdd<0, 5, 3>();
      if constexpr (kRows > 1) unit.template MultiplyAdd<1, 7, 3>();
      unit.template Zero<3>();
    }
    sums.From(0, j).template Store<0>(unit, rows, n - j);
    if constexpr (kRows > 1) sums.From(kTileSide, j).template Store<1>(unit, rows - kTileSide, n - j);
  }
}

template <class Unit, class Sums>
void MultiplyShort(Unit& unit, std::size_t m, std::size_t n, const TileOperands& in, const Sums& sums) {
  for (std::size_t i = 0; i < m; i += kTileBlockSide) {
    const std::size_t rows = m - i;
    const bool tall = rows > kTileSide;
    const auto run = [&](auto multiply) { multiply(unit, rows, n, From(in, i, 0), sums.From(i, 0)); };
    if (in.blocks == 1) {
      run(tall ? MultiplyShortRows<2, 1, Unit, Sums> : MultiplyShortRows<1, 1, Unit, Sums>);
    } else {
      run(tall ? MultiplyShortRows<2, 2, Unit, Sums> : MultiplyShortRows<1, 2, Unit, Sums>);
    }
  }
}

// At most two strips of right columns, which stay in the caches while all left rows pass.
template <bool kAdd, class Unit, class Sums>
void MultiplyRowBlocks(Unit& unit, std::size_t m, std::size_t columns, const TileOperands& in, const Sums& sums) {
  const auto multiply =
      columns > kTileSide ? MultiplyTileRow<2, kAdd, Unit, Sums> : MultiplyTileRow<1, kAdd, Unit, Sums>;
  for (std::size_t i = 0; i < m; i += kTileSide) multiply(unit, m - i, columns, From(in, i, 0), sums.From(i, 0));
}
template <class Unit, class Sums>
void MultiplyTileBlocks(Unit& unit, std::size_t m, std::size_t columns, const TileOperands& in, const Sums& sums) {
  for (std::size_t i = 0; i < m; i += kTileBlockSide) {
    MultiplyTileBlock(unit, m - i, columns, From(in, i, 0), sums.From(i, 0));
  }
}

// The whole product.
template <class Unit, class Sums>
void MultiplyTiles(Unit& unit, std::size_t m, std::size_t n, const TileOperands& in, const Sums& sums) {
  if (m == 0 || n == 0) return;
  if (in.blocks == 1 || in.blocks == 2) return MultiplyShort(unit, m, n, in, sums);
  const auto multiply =
      in.blocks <= kMostRowBlocks ? MultiplyRowBlocks<false, Unit, Sums> : MultiplyTileBlocks<Unit, Sums>;
  for (std::size_t j = 0; j < n; j += kTileBlockSide) multiply(unit, m, n - j, From(in, 0, j), sums.From(0, j));
}

// The same with c as the transpose, for many left rows and few columns. All columns stay in the caches while the left
// rows pass, but they are too many for the first-level one.
template <class Unit>
void MultiplyTilesTransposed(Unit& unit, std::size_t m, std::size_t n, const TileOperands& in, const SumColumns& sums) {
  for (std::size_t i = 0; i < m; i += kTileBlockSide) {
    for (std::size_t j = 0; j < n; j += kTileBlockSide) {
      MultiplyTileBlock(unit, m - i, n - j, From(in, i, j), sums.From(i, j));
    }
  }
}

// A part of MultiplyTilesByRows, of k rows: two strips at a time are made in `panel`.
template <bool kAdd, class Unit>
void MultiplyPanels(Unit& unit, std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left,
                    std::size_t left_stride, const std::uint16_t* rows, std::size_t row_stride, std::uint16_t* panel,
                    const SumRows& sums) {
  const TileOperands in = OperandsOf(k, left, left_stride, panel);
  for (std::size_t j = 0; j < n; j += kTileBlockSide) {
    Unit::PackTwoStrips(k, rows + j, row_stride, panel);
    MultiplyRowBlocks<kAdd>(unit, m, n - j, in, sums.From(0, j));
  }
}
// MultiplyTiles with rows [k, n] of words in place of strips. Of kBf16PanelRows rows at a time, the strips stay in the
// first-level cache with the left columns that they are multiplied by.
template <class Unit>
void MultiplyTilesByRows(Unit& unit, std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left,
                         std::size_t left_stride, const std::uint16_t* rows, std::size_t row_stride,
                         std::uint16_t* panel, const SumRows& sums) {
  for (std::size_t l = 0; l < k; l += kBf16PanelRows) {
    const auto multiply = l == 0 ? MultiplyPanels<false, Unit> : MultiplyPanels<true, Unit>;
    multiply(unit, m, n, std::min(kBf16PanelRows, k - l), left + l, left_stride, rows + l * row_stride, row_stride,
             panel, sums);
  }
}

}  // namespace octavo
