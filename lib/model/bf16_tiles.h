// The bf16 product by tiles, for a unit of eight tiles: AMX (bf16_amx.cc), or a scalar model of it, by which the same
// source is tested on machines without AMX. Internal to model/.
//
// A tile has 16 rows of 64 bytes. A block of the product is at most 2 x 2 tiles of sums, [16, 16] floats each, for
// which two tiles of left rows, [16, 32] words, and two of right columns, [16][16][2] words, are loaded for each 32
// terms. So four tiles are loaded for four products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "model/bf16_product.h"
#include "model/bf16_round.h"

namespace octavo {

inline constexpr std::size_t kTileSide = 16;  // rows, and 32-bit columns
inline constexpr std::size_t kTileFloats = kTileSide * kTileSide;
inline constexpr std::size_t kTileRowBytes = 64;

// What a unit does, each tile given by its number.
class ScalarTileUnit {
 public:
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

// Stores a tile of sums to the part of c that exists, [rows, columns].
template <int kTile, class Unit>
void StoreSums(Unit& unit, std::size_t rows, std::size_t columns, float* c, std::size_t ldc) {
  if (rows >= kTileSide && columns >= kTileSide) {
    unit.template Store<kTile>(c, ldc * sizeof(float));
    return;
  }
  alignas(64) float whole[kTileFloats];
  unit.template Store<kTile>(whole, kTileRowBytes);
  for (std::size_t r = 0; r < std::min(rows, kTileSide); ++r) {
    std::copy_n(whole + r * kTileSide, std::min(columns, kTileSide), c + r * ldc);
  }
}

// One block of at most 2 kRows x kColumns tiles of sums; [rows, columns] of it exist. `blocks` is the number of 32
// terms, `strip` the words of a strip.
template <int kRows, int kColumns, class Unit>
void MultiplyTileBlock(Unit& unit, std::size_t rows, std::size_t columns, std::size_t blocks, const std::uint16_t* left,
                       std::size_t left_stride, const std::uint16_t* right, std::size_t strip, float* c,
                       std::size_t ldc) {
  constexpr std::size_t kRightWords = kTileFloats * 2;
  const std::size_t stride = left_stride * sizeof(std::uint16_t);
  unit.template Zero<0>();
  if constexpr (kColumns > 1) unit.template Zero<1>();
  if constexpr (kRows > 1) unit.template Zero<2>();
  if constexpr (kRows > 1 && kColumns > 1) unit.template Zero<3>();
  for (std::size_t block = 0; block < blocks; ++block) {
    unit.template Load<4>(left + block * kBf16Block, stride);
    unit.template Load<6>(right + block * kRightWords, kTileRowBytes);
    unit.template MultiplyAdd<0, 4, 6>();
    if constexpr (kColumns > 1) {
      unit.template Load<7>(right + strip + block * kRightWords, kTileRowBytes);
      unit.template MultiplyAdd<1, 4, 7>();
    }
    if constexpr (kRows > 1) {
      unit.template Load<5>(left + kTileSide * left_stride + block * kBf16Block, stride);
      unit.template MultiplyAdd<2, 5, 6>();
    }
    if constexpr (kRows > 1 && kColumns > 1) unit.template MultiplyAdd<3, 5, 7>();
  }
  StoreSums<0>(unit, rows, columns, c, ldc);
  if constexpr (kColumns > 1) StoreSums<1>(unit, rows, columns - kTileSide, c + kTileSide, ldc);
  if constexpr (kRows > 1) StoreSums<2>(unit, rows - kTileSide, columns, c + kTileSide * ldc, ldc);
  if constexpr (kRows > 1 && kColumns > 1) {
    StoreSums<3>(unit, rows - kTileSide, columns - kTileSide, c + kTileSide * ldc + kTileSide, ldc);
  }
}

// The whole product. Two strips of right columns stay in the caches while all left rows pass.
template <class Unit>
void MultiplyTiles(Unit& unit, std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left,
                   std::size_t left_stride, const std::uint16_t* right, float* c, std::size_t ldc) {
  const std::size_t strip = WholeBf16(k, kBf16Block) * kBf16Columns;
  const std::size_t blocks = WholeBf16(k, kBf16Block) / kBf16Block;
  for (std::size_t j = 0; j < n; j += 2 * kTileSide) {
    const std::uint16_t* const columns = right + j / kBf16Columns * strip;
    for (std::size_t i = 0; i < m; i += 2 * kTileSide) {
      const auto run = [&](auto multiply) {
        multiply(unit, m - i, n - j, blocks, left + i * left_stride, left_stride, columns, strip, c + i * ldc + j, ldc);
      };
      const bool tall = m - i > kTileSide, wide = n - j > kTileSide;
      if (tall && wide) {
        run(MultiplyTileBlock<2, 2, Unit>);
      } else if (tall) {
        run(MultiplyTileBlock<2, 1, Unit>);
      } else if (wide) {
        run(MultiplyTileBlock<1, 2, Unit>);
      } else {
        run(MultiplyTileBlock<1, 1, Unit>);
      }
    }
  }
}

}  // namespace octavo
