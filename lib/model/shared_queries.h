// Converts rows of queries to rows of the edges that share them, and back. `begins` is that of ChunkInput
// (model/chunk.h). Internal to model/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo {

// Copies the row of each query, [Q, width], to its edges, [E, width].
inline void SpreadToEdges(std::span<const std::uint32_t> begins, std::size_t width, const float* rows,
                          float* edge_rows) {
  for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
    for (std::size_t i = begins[q] - begins[0]; i < begins[q + 1] - begins[0]; ++i) {
      std::copy_n(rows + q * width, width, edge_rows + i * width);
    }
  }
}

// Adds the row of each edge to that of its query, in the order of the edges.
inline void AddToQueries(std::span<const std::uint32_t> begins, std::size_t width, const float* edge_rows,
                         float* rows) {
  for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
    for (std::size_t i = begins[q] - begins[0]; i < begins[q + 1] - begins[0]; ++i) {
      for (std::size_t l = 0; l < width; ++l) rows[q * width + l] += edge_rows[i * width + l];
    }
  }
}

}  // namespace octavo
