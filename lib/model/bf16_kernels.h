// The parts that the backends of bf16_product.h are made of. Internal to model/.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo {

// ---- Products of rows with strips. `strips` is [n / 16][k][16] floats; `left` is [m] rows of k floats.

// c[i * ldc + j]; for any processor.
void ScalarBf16Multiply(std::size_t m, std::size_t n, std::size_t k, const float* const* left, const float* strips,
                        float* c, std::size_t ldc);
// The same by vectors of fused multiply-adds. REQUIRES: VectorBf16Works()
void VectorBf16Multiply(std::size_t m, std::size_t n, std::size_t k, const float* const* left, const float* strips,
                        float* c, std::size_t ldc);
bool VectorBf16Works();

// ---- Products of tiles (bf16_tiles.h), by AMX, and by a scalar model of it. `left` is [m, left_stride] words,
// with memory to whole tiles; `right` is [n / 16][k / 2][16][2] words.

struct TileProducts {
  // words[i] = the word of from[i]; they may begin at the same address.
  void (*round_words)(std::size_t count, const float* from, std::uint16_t* words);
  // pairs[i] = the words of first[i] (lower half) and second[i].
  void (*pair_words)(std::size_t count, const float* first, const float* second, std::uint32_t* pairs);
  // Writes c[i * ldc + j].
  void (*multiply)(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left, std::size_t left_stride,
                   const std::uint16_t* right, float* c, std::size_t ldc);
  // Writes c[j * ldc + i].
  void (*multiply_transposed)(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left,
                              std::size_t left_stride, const std::uint16_t* right, float* c, std::size_t ldc);
  // Writes c[i * ldc + j]. `rows` is the right operand: k rows of row_stride words, a multiple of 32 and at least n.
  // `panel` is scratch of Bf16PanelFloats().
  void (*multiply_by_rows)(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left,
                           std::size_t left_stride, const std::uint16_t* rows, std::size_t row_stride,
                           std::uint16_t* panel, float* c, std::size_t ldc);
  // Adds to addends[i][j], rows at any addresses, and writes c[i][j]. `n` is a multiple of kBf16Columns.
  void (*add_rows)(std::size_t m, std::size_t n, std::size_t k, const std::uint16_t* left, std::size_t left_stride,
                   const std::uint16_t* right, const float* const* addends, float* const* c);
};
extern const TileProducts kAmxProducts;  // REQUIRES: AmxWorks()
extern const TileProducts kModelProducts;

}  // namespace octavo
