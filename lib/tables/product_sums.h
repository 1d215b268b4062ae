// Sums of gradients that are products: the gradients of negatives, which are made here, row by row, and summed while
// they are in the second-level cache. As rows, those of a batch of small chunks and many negatives are larger than all
// caches and go from the cores to memory and back; their factors are not.
//
// The sums of a range of rows are contiguous. The gradients are added in the order in which they were listed. Those of
// one product are added together, by a matrix product of their slopes with the other factor. So one thread makes each
// row's sum, in the order of the gradients: the bits are the same as if the gradients were computed first and added
// afterwards, whatever the threads and ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/aligned_floats.h"
#include "base/ids.h"

namespace octavo {

// Gradients of rows as a product: the gradient of a row is sum_l slopes[l] * rows[l], l < terms; each row has its own
// slopes.
struct GradientProduct {
  // As AddProductRows, of factors in another form: a has [k], b [k, n] elements. In its order of terms, a sum must
  // depend on its row and column only.
  using AddRows = void (*)(std::size_t m, std::size_t n, std::size_t k, const float* const* a, const float* b,
                           const float* const* addends, float* const* c);

  std::size_t terms = 0;
  std::size_t slope_floats = 0;  // that a row's slopes take: `terms`, or another number in another form
  const float* rows = nullptr;   // [terms, ProductStride(dim)]
  AddRows add = nullptr;         // null: AddProductRows
};

// A gradient of one row: [dim] floats, or, with a product, the [terms] slopes.
struct RowGradient {
  NodeId node{};
  const float* values = nullptr;
  const GradientProduct* product = nullptr;
};

// The most that the sums of a range take. They take half of the second-level cache, the other half being for the
// factors, but at least half of this. The more rows a range has, the fewer times the factors are read. Each thread has
// this much memory.
inline constexpr std::size_t kMostRangeSumBytes = std::size_t{1} << 20;

// Rows of a product's second factor, and of sums, are padded with zeros to a multiple of this many floats.
inline constexpr std::size_t kProductColumns = 16;
constexpr std::size_t ProductStride(std::size_t dim) {
  return (dim + kProductColumns - 1) / kProductColumns * kProductColumns;
}

// The number of rows in a range, of `rows` rows that the threads of the caller's arena share. The bits do not depend on
// it.
std::size_t RowsOfRange(std::size_t rows, std::size_t dim);

// Makes the first floats of `sums`, which it never makes smaller, the sums of a range of rows: [range_rows,
// ProductStride(dim)]. Each of `arrivals` is the place of a gradient in `listed`, shifted left by 32 bits, its row in
// the range, and kFirstArrival if it is the first one of that row. Any thread. REQUIRES: each row has an arrival
inline constexpr std::uint64_t kFirstArrival = std::uint64_t{1} << 31;
void SumArrivals(std::span<const RowGradient> listed, std::span<const std::uint64_t> arrivals, std::size_t range_rows,
                 std::size_t dim, AlignedFloats& sums);

// Adds the product of a and b to rows at any addresses: c[i][j] = addends[i][j] + sum_l a[i][l] * b[l * ldb + j] for
// i < m and j < n, b being [k, n]. The sum has the bits of Gemm (model/gemm.h): terms are added in the order of l by
// fused multiply-adds; then the addend is added. Rows of addends and c may be the same, as the rows are written in the
// order of i. REQUIRES: n is a multiple of kProductColumns
void AddProductRows(std::size_t m, std::size_t n, std::size_t k, const float* const* a, const float* b, std::size_t ldb,
                    const float* const* addends, float* const* c);

}  // namespace octavo
