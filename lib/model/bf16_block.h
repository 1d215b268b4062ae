// The three products of one side of a chunk with bf16 operands (model/bf16_product.h): scores of queries and negatives,
// and from their slopes the gradients of both. Relation prediction has all relations in place of negatives. What is an
// operand of two products is packed once.
//
// Negatives are many, so their packing counts. As words they are packed as rows: the left operand of the scores'
// transpose, and by rows the right one of the queries' gradients. With many queries the transposes of the scores cost
// more than packing the negatives as columns, too. As floats, which fill their vectors with negatives, they are packed
// as the right operand of each.
#pragma once

#include <cstddef>
#include <span>

#include "base/aligned_floats.h"
#include "model/bf16_product.h"
#include "model/chunk.h"

namespace octavo {

// Whether negatives are packed as columns for a chunk with so many queries.
constexpr bool PacksColumns(Bf16Backend backend, std::size_t dim, std::size_t queries) {
  return !Bf16HasWords(backend) || 2 * queries > dim;
}
constexpr std::size_t PackedColumnFloats(std::size_t dim, std::size_t negatives) {
  return Bf16RightFloats(dim, negatives);
}
constexpr std::size_t PackedRowFloats(Bf16Backend backend, std::size_t dim, std::size_t negatives) {
  return Bf16HasWords(backend) ? Bf16LeftFloats(negatives, dim) : Bf16RightFloats(negatives, dim);
}

// Packs rows [first, first + count) of N negatives, [count, dim], into their copies, which have the sizes above;
// `columns` is empty if not wanted. Call it for all rows in their order. REQUIRES: Bf16HasWords(backend), or first is a
// multiple of kNegativesPacked and count at most that
inline constexpr std::size_t kNegativesPacked = 16;  // rows that stay in the first caches while they are packed
void PackNegatives(Bf16Backend backend, std::size_t dim, std::size_t negatives, std::size_t first, std::size_t count,
                   const float* rows, std::span<float> columns, std::span<float> packed_rows);
// The same for row i alone, given as words. REQUIRES: Bf16HasWords(backend)
void PackNegativeWords(Bf16Backend backend, std::size_t dim, std::size_t negatives, std::size_t i,
                       const std::uint16_t* row, std::span<float> columns, std::span<float> packed_rows);

// Adds products of gradients' factors to rows, for GradientProduct (tables/product_sums.h). `n` is a multiple of
// kBf16Columns.
void AddBf16Factors(std::size_t m, std::size_t n, std::size_t k, const float* const* slopes, const float* queries,
                    const float* const* addends, float* const* rows);

// One owner, which calls Score and then one of the others, of the same side.
class Bf16Block {
 public:
  explicit Bf16Block(Bf16Backend backend) : backend_(backend) {}

  Bf16Backend backend() const { return backend_; }

  // scores[i * m + j] = queries [n, dim] row i times negative j of m.
  void Score(std::size_t dim, std::size_t n, const float* queries, std::size_t m, const PackedNegatives& negatives,
             float* scores);

  // With slopes g [n, m] = d loss / d score: overwrites the gradients of queries [n, dim] and of negatives [m, dim], or
  // writes the factors of the latter. Clobbers g. REQUIRES: g has Bf16LeftFloats(n, m) floats
  void Backpropagate(std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                     const PackedNegatives& negatives, float* g, float* query_gradients, float* negative_gradients);
  void BackpropagateFactors(std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                            const PackedNegatives& negatives, float* g, float* query_gradients,
                            const NegativeFactors& factors);

 private:
  void QueryGradients(std::size_t dim, std::size_t n, std::size_t m, const PackedNegatives& negatives, float* g,
                      float* query_gradients);

  Bf16Backend backend_;
  AlignedFloats queries_;        // left [n, dim], or, without columns of negatives, right [dim, n]
  AlignedFloats query_rows_;     // right [n, dim]
  AlignedFloats slope_columns_;  // left [m, n]
  AlignedFloats panel_;          // of words: Bf16MultiplyByRows
};

}  // namespace octavo
