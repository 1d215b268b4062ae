// Matrix products of bf16 operands with float32 sums, in the order in which the AMX tiles of x86-64 add. All backends
// have the same bits, so a training may move between machines with AMX and without.
//
// An operand's element is rounded to the nearest of the floats with 8 significant bits, ties to the even one, as
// vcvtneps2bf16 does: denormal floats become zeros, floats beyond the largest bf16 become infinities. Then
//   c = 0; for each 32 of the k terms: even = odd = 0;
//     for i < 16: even = fma(a[2 i], b[2 i], even), odd = fma(a[2 i + 1], b[2 i + 1], odd);
//     c = c + (even + odd)
// where a denormal result of any of these steps counts as a zero of its sign; missing terms of the last 32 are zeros
// (Intel, "Architecture instruction set extensions programming reference", TDPBF16PS). A NaN is a NaN in every backend;
// its sign and payload are not defined. vdpbf16ps of AVX512_BF16 adds in another order, and is not used.
//
// Operands are packed before they are multiplied, once for several products. The layout is that of the backend:
//   left [m, k]: rows, each of LeftStride floats. AMX: words, each row padded with zeros to whole
//     blocks; the last tile has memory for all its rows, which need no values. Others: floats.
//   right [k, n]: strips of 16 columns, padded with zeros. AMX: [n / 16][k / 2][16][2] words; others: [n / 16][k][16]
//     floats.
// Sizes are in floats, and the same for all backends where training plans its memory by them (the largest counts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace octavo {

// Where the products are made: by a loop (slow; any processor), by vectors of fused multiply-adds (AVX2 or AVX-512), by
// AMX, and by AMX's code on a scalar model of its tiles (slow; for tests).
enum class Bf16Backend { kScalar, kFma, kAmx, kAmxModel };
std::string_view Bf16BackendName(Bf16Backend backend);
bool Bf16BackendWorks(Bf16Backend backend);

// The fastest backend that works here. Chosen once; OCTAVO_BF16=scalar|fma|amx|amx-model chooses another that works.
Bf16Backend ActiveBf16Backend();

// Whether the processor and the system let this process use AMX's bf16 products. Asks the system for the permission.
bool AmxWorks();

inline constexpr std::size_t kBf16Block = 32;       // terms that are added to each other before they are added to c
inline constexpr std::size_t kBf16Columns = 16;     // of a strip
inline constexpr std::size_t kBf16Rows = 16;        // of a tile
inline constexpr std::size_t kBf16PanelRows = 256;  // of a right operand given by rows: so many are packed at a time

constexpr std::size_t WholeBf16(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

// Floats that a packed operand takes in the backend that needs the most. `packed` of all functions has at least these,
// and is aligned to 64 bytes where the caller can do so.
constexpr std::size_t Bf16LeftFloats(std::size_t m, std::size_t k) {
  const std::size_t words = WholeBf16(m, kBf16Rows) * WholeBf16(k, kBf16Block) / 2;
  return words > m * k ? words : m * k;
}
constexpr std::size_t Bf16RightFloats(std::size_t k, std::size_t n) {
  const std::size_t words = WholeBf16(k, kBf16Block) / 2;
  return WholeBf16(n, kBf16Columns) * (words > k ? words : k);
}
// Whether operands are packed as words, of 16 bits; otherwise as floats.
constexpr bool Bf16HasWords(Bf16Backend backend) {
  return backend == Bf16Backend::kAmx || backend == Bf16Backend::kAmxModel;
}
// Floats from a row of a packed left operand to the next.
constexpr std::size_t Bf16LeftStride(Bf16Backend backend, std::size_t k) {
  return Bf16HasWords(backend) ? WholeBf16(k, kBf16Block) / 2 : k;
}

// All of these: REQUIRES: Bf16BackendWorks(backend).
//
// Packs a left operand [m, k] from rows a[i * stride + l]. `packed` may be `a` where stride is k.
void PackBf16Left(Bf16Backend backend, std::size_t m, std::size_t k, const float* a, std::size_t stride, float* packed);

// Packs one row of a left operand. Of the last tile, only the rows that are packed need to be written: the others count
// for no result.
void PackBf16LeftRow(Bf16Backend backend, std::size_t k, const float* a, float* packed);

// The same for a row given as words, as bf16 tables have them. Denormal words stay: products take them as zeros.
// REQUIRES: Bf16HasWords of the backend
void PackBf16LeftWords(std::size_t k, const std::uint16_t* a, float* packed);

// Packs columns [first, first + count) of left rows from the transpose: element (i, first + l) is a[l * lda + i], i <
// m. Row i is at packed + i * stride; `whole` is the number of all columns. Writes no other element, so threads may
// pack columns of the same rows; with the last column, the zeros after it, to whole blocks.
void PackBf16LeftColumns(Bf16Backend backend, std::size_t m, std::size_t whole, std::size_t first, std::size_t count,
                         const float* a, std::size_t lda, float* packed, std::size_t stride);

// Packs rows [first, first + count) of a right operand [k, n] from b[(l - first) * stride + j]; the last row with the
// zeros after it. Writes no other element.
void PackBf16RightRows(Bf16Backend backend, std::size_t k, std::size_t n, std::size_t first, std::size_t count,
                       const float* b, std::size_t stride, float* packed);

// Packs columns [first, first + count) of a right operand [k, n] from the transpose, b[(j - first) * stride + l].
// REQUIRES: first is a multiple of kBf16Columns, and so is count except with the last column
void PackBf16RightColumns(Bf16Backend backend, std::size_t k, std::size_t n, std::size_t first, std::size_t count,
                          const float* b, std::size_t stride, float* packed);

// Packs 16 columns of a right operand from 16 rows of a packed left one. Columns of rows that were not packed count for
// no result. REQUIRES: Bf16HasWords(backend)
void PackBf16Strip(Bf16Backend backend, std::size_t k, const float* left, float* packed);

// c[i * ldc + j] = the product of packed operands [m, k] and [k, n]. An element depends on its row, its column and k
// only. Any thread.
void Bf16Multiply(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* left,
                  const float* right, float* c, std::size_t ldc);

// Bf16MultiplyTransposed writes the transpose, c[j * ldc + i]. Bf16MultiplyByRows takes a right operand [k, n] that
// PackBf16Left has packed; `panel` is scratch of Bf16PanelFloats(k). So rows that are an operand of both need no other
// layout. REQUIRES: Bf16HasWords(backend) and k > 0
void Bf16MultiplyTransposed(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* left,
                            const float* right, float* c, std::size_t ldc);
constexpr std::size_t Bf16PanelFloats(std::size_t k) {
  return (k < kBf16PanelRows ? WholeBf16(k, kBf16Block) : kBf16PanelRows) * kBf16Columns;
}
void Bf16MultiplyByRows(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* left,
                        const float* rows, float* panel, float* c, std::size_t ldc);

// The product of Bf16Multiply with left rows anywhere in memory, row i at left[i], added to rows anywhere in memory:
// c[i], [n] floats, becomes addends[i] plus the sum, after that is made, by an addition that keeps denormals. Rows of
// addends and c may be the same, as the rows are written in the order of i. Left rows are as PackBf16LeftColumns writes
// them, with the zeros after column k. REQUIRES: n is a multiple of kBf16Columns
void Bf16AddProductRows(Bf16Backend backend, std::size_t m, std::size_t n, std::size_t k, const float* const* left,
                        const float* right, const float* const* addends, float* const* c);

}  // namespace octavo
