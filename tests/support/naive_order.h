// The oracle of the order of edges: all of them in memory, shuffled by the plainest loop and cut. No code of prefetch/.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/edge.h"
#include "base/random.h"
#include "graph/cell_reader.h"
#include "plan/epoch_plan.h"
#include "tests/support/expect_status.h"

namespace octavo {

struct NaiveBatch {
  std::size_t state = 0;
  std::vector<Edge> edges;
};

template <typename T>
void NaiveShuffle(std::vector<T>& values, RandomStream stream) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[stream.Below(i)]);
}

// Each edge both ways, those with the same first node and relation together, by a random number of the two.
inline std::vector<Edge> NaiveGroups(const std::vector<Edge>& edges, std::uint64_t seed, std::uint32_t epoch,
                                     std::uint32_t inverse_offset) {
  std::multimap<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t, float>, Edge> sorted;
  const auto add = [&](const Edge& edge) {
    const std::uint64_t head = Value(edge.head);
    const auto words = Philox4x32(
        {static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(head >> 32), Value(edge.relation), epoch},
        RandomKey(seed, RandomPurpose::kGroupShuffle));
    sorted.emplace(std::tuple((std::uint64_t{words[0]} << 32) | words[1], head, Value(edge.relation), Value(edge.tail),
                              edge.weight),
                   edge);
  };
  for (const Edge& edge : edges) {
    add(edge);
    add({.head = edge.tail,
         .tail = edge.head,
         .relation = static_cast<RelationId>(Value(edge.relation) + inverse_offset),
         .weight = edge.weight});
  }
  std::vector<Edge> grouped;
  for (const auto& [key, edge] : sorted) grouped.push_back(edge);
  return grouped;
}

// Returns the batches of an epoch. REQUIRES: pool_edges is a multiple of batch_edges
inline std::vector<NaiveBatch> NaiveBatches(const CellReader& cells, std::uint64_t seed, std::uint64_t batch_edges,
                                            std::uint64_t pool_edges, std::optional<std::uint32_t> inverse_offset,
                                            std::uint64_t epoch, const EpochPlan& plan) {
  const auto round = static_cast<std::uint32_t>(epoch);
  const absl::StatusOr<std::vector<Edge>> read = cells.ReadAll();
  EXPECT_OK(read);
  std::vector<std::vector<Edge>> blocks;
  for (std::size_t block = 0, begin = 0; block < cells.block_count(); ++block) {
    const auto first = read->begin() + static_cast<std::ptrdiff_t>(begin);
    blocks.emplace_back(first, first + cells.block(block).edges);
    begin += cells.block(block).edges;
  }
  std::vector<NaiveBatch> batches;
  std::uint64_t pool = 0;
  for (std::size_t state = 0; state < plan.states.size(); ++state) {
    std::vector<std::size_t> order;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const CellId cell{static_cast<PartitionId>(cells.block(block).head_partition),
                        static_cast<PartitionId>(cells.block(block).tail_partition)};
      if (std::ranges::count(plan.states[state].cells, cell) != 0) order.push_back(block);
    }
    NaiveShuffle(order, RandomStream(seed, RandomPurpose::kBlockOrder, round, state));
    std::vector<Edge> all;
    for (const std::size_t block : order) all.insert(all.end(), blocks[block].begin(), blocks[block].end());
    for (std::size_t begin = 0; begin < all.size(); begin += pool_edges, ++pool) {
      const std::size_t end = std::min<std::size_t>(begin + pool_edges, all.size());
      std::vector<Edge> edges(all.begin() + static_cast<std::ptrdiff_t>(begin),
                              all.begin() + static_cast<std::ptrdiff_t>(end));
      if (inverse_offset) {
        edges = NaiveGroups(edges, seed, round, *inverse_offset);
      } else {
        NaiveShuffle(edges, RandomStream(seed, RandomPurpose::kPoolShuffle, round, pool));
      }
      const std::size_t size = batch_edges * (inverse_offset ? 2 : 1);
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (i % size == 0) batches.push_back({.state = state, .edges = {}});
        batches.back().edges.push_back(edges[i]);
      }
    }
  }
  return batches;
}

}  // namespace octavo
