#include "model/bf16_block.h"

namespace octavo {
namespace {

// Grows, never shrinks.
float* Room(AlignedFloats& memory, std::size_t size) {
  if (memory.size() < size) memory.resize(size);
  return memory.data();
}

// Packs the columns of a strip if row i of N is its last one.
void PackStripIfComplete(Bf16Backend backend, std::size_t dim, std::size_t negatives, std::size_t i,
                         std::span<float> columns, std::span<const float> packed_rows) {
  const bool complete = (i + 1) % kBf16Columns == 0 || i + 1 == negatives;
  if (columns.empty() || !complete) return;
  const std::size_t begin = i / kBf16Columns * kBf16Columns * Bf16LeftStride(backend, dim);
  PackBf16Strip(backend, dim, packed_rows.data() + begin, columns.data() + begin);
}

}  // namespace

void PackNegativeWords(Bf16Backend backend, std::size_t dim, std::size_t negatives, std::size_t i,
                       const std::uint16_t* row, std::span<float> columns, std::span<float> packed_rows) {
  PackBf16LeftWords(dim, row, packed_rows.data() + i * Bf16LeftStride(backend, dim));
  PackStripIfComplete(backend, dim, negatives, i, columns, packed_rows);
}

void PackNegatives(Bf16Backend backend, std::size_t dim, std::size_t negatives, std::size_t first, std::size_t count,
                   const float* rows, std::span<float> columns, std::span<float> packed_rows) {
  if (Bf16HasWords(backend)) {
    for (std::size_t i = first; i < first + count; ++i) {
      PackBf16LeftRow(backend, dim, rows + (i - first) * dim, packed_rows.data() + i * Bf16LeftStride(backend, dim));
      PackStripIfComplete(backend, dim, negatives, i, columns, packed_rows);
    }
    return;
  }
  PackBf16RightColumns(backend, dim, negatives, first, count, rows, dim, columns.data());
  PackBf16RightRows(backend, negatives, dim, first, count, rows, dim, packed_rows.data());
}

void AddBf16Factors(std::size_t m, std::size_t n, std::size_t k, const float* const* slopes, const float* queries,
                    const float* const* addends, float* const* rows) {
  Bf16AddProductRows(ActiveBf16Backend(), m, n, k, slopes, queries, addends, rows);
}

void Bf16Block::Score(std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                      const PackedNegatives& negatives, float* scores) {
  if (negatives.columns.empty()) {
    float* const right = Room(queries_, Bf16RightFloats(dim, n));
    PackBf16RightColumns(backend_, dim, n, 0, n, queries, dim, right);
    Bf16MultiplyTransposed(backend_, m, n, dim, negatives.rows.data(), right, scores, m);
    return;
  }
  float* const left = Room(queries_, Bf16LeftFloats(n, dim));
  PackBf16Left(backend_, n, dim, queries, dim, left);
  Bf16Multiply(backend_, n, m, dim, left, negatives.columns.data(), scores, m);
}

// The packed slopes replace the slopes in their memory.
void Bf16Block::QueryGradients(std::size_t dim, std::size_t n, std::size_t m, const PackedNegatives& negatives,
                               float* g, float* query_gradients) {
  PackBf16Left(backend_, n, m, g, m, g);
  if (Bf16HasWords(backend_)) {
    Bf16MultiplyByRows(backend_, n, dim, m, g, negatives.rows.data(), Room(panel_, Bf16PanelFloats(m)), query_gradients,
                       dim);
    return;
  }
  Bf16Multiply(backend_, n, dim, m, g, negatives.rows.data(), query_gradients, dim);
}

void Bf16Block::Backpropagate(std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                              const PackedNegatives& negatives, float* g, float* query_gradients,
                              float* negative_gradients) {
  float* const slopes = Room(slope_columns_, Bf16LeftFloats(m, n));
  float* const rows = Room(query_rows_, Bf16RightFloats(n, dim));
  PackBf16LeftColumns(backend_, m, n, 0, n, g, m, slopes, Bf16LeftStride(backend_, n));
  PackBf16RightRows(backend_, n, dim, 0, n, queries, dim, rows);
  Bf16Multiply(backend_, m, dim, n, slopes, rows, negative_gradients, dim);
  QueryGradients(dim, n, m, negatives, g, query_gradients);
}

void Bf16Block::BackpropagateFactors(std::size_t dim, std::size_t n, const float* queries, std::size_t m,
                                     const PackedNegatives& negatives, float* g, float* query_gradients,
                                     const NegativeFactors& factors) {
  PackBf16LeftColumns(backend_, m, factors.whole, factors.first, n, g, m, factors.slopes.data(), factors.stride);
  PackBf16RightRows(backend_, factors.whole, dim, factors.first, n, queries, dim, factors.queries.data());
  QueryGradients(dim, n, m, negatives, g, query_gradients);
}

}  // namespace octavo
