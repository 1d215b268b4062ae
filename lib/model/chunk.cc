#include "model/chunk.h"

#include <algorithm>
#include <numeric>

namespace octavo {
namespace {

// Rows [first, last) of `all`; none of an empty span.
template <typename T>
std::span<T> RowsOf(std::span<T> rows, std::size_t all, std::size_t first, std::size_t last) {
  const std::size_t width = rows.size() / all;
  return rows.subspan(first * width, (last - first) * width);
}

// The pairs of queries [first, last).
std::span<const MaskedPair> MasksOf(std::span<const MaskedPair> pairs, std::size_t first, std::size_t last) {
  const auto begin = std::ranges::lower_bound(pairs, first, {}, &MaskedPair::query);
  return {begin, std::ranges::lower_bound(begin, pairs.end(), last, {}, &MaskedPair::query)};
}

NegativeFactors From(NegativeFactors factors, std::size_t first) {
  factors.first += first;
  return factors;
}

}  // namespace

std::vector<std::uint32_t> OneQueryEach(std::size_t edges) {
  std::vector<std::uint32_t> begins(edges + 1);
  std::iota(begins.begin(), begins.end(), 0U);
  return begins;
}

ChunkInput ChunkInput::Slice(std::size_t first, std::size_t last) const {
  const auto of_queries = [&](auto rows) { return RowsOf(rows, queries(), first, last); };
  const auto of_edges = [&](auto rows) {
    return RowsOf(rows, edges(), begins[first] - begins[0], begins[last] - begins[0]);
  };
  ChunkInput slice = *this;
  slice.begins = begins.subspan(first, last - first + 1);
  slice.heads = of_queries(heads);
  slice.tails = of_edges(tails);
  slice.relations = of_queries(relations);
  slice.head_relations = of_queries(head_relations);
  slice.weights = of_edges(weights);
  slice.tail_weights = of_edges(tail_weights);
  slice.head_weights = of_edges(head_weights);
  slice.first_query = first_query + static_cast<std::uint32_t>(first);
  slice.tail_masks = MasksOf(tail_masks, first_query + first, first_query + last);
  slice.head_masks = MasksOf(head_masks, first_query + first, first_query + last);
  for (SideGroups* const groups : {&slice.tail_groups, &slice.head_groups}) {
    groups->anchors = of_queries(groups->anchors);
    groups->answers = of_edges(groups->answers);
  }
  slice.sides = of_queries(sides);
  slice.answers = of_edges(answers);
  slice.edge_relations = of_edges(edge_relations);
  return slice;
}

ChunkGradients ChunkGradients::Slice(const ChunkInput& chunk, std::size_t first, std::size_t last) const {
  const std::size_t queries = chunk.queries();
  ChunkGradients slice = *this;
  slice.heads = RowsOf(heads, queries, first, last);
  slice.tails =
      RowsOf(tails, chunk.edges(), chunk.begins[first] - chunk.begins[0], chunk.begins[last] - chunk.begins[0]);
  slice.relations = RowsOf(relations, queries, first, last);
  slice.head_relations = RowsOf(head_relations, queries, first, last);
  slice.tail_factors = From(tail_factors, first);
  slice.head_factors = From(head_factors, first);
  return slice;
}

}  // namespace octavo
