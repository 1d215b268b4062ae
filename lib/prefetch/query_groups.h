// Edges as questions that share their scores: each edge twice, as (h, r, t) and as (t, r^-1, h), and what has the same
// first node and relation, a group, next to each other. The number of questions is what an epoch costs that scores all
// nodes: FB15k-237 has 149,689 of them for 544,230 answers (as "1-N scoring" in Dettmers et al., AAAI 2018).
#pragma once

#include <cstdint>
#include <vector>

#include "base/edge.h"

namespace octavo {

// One owner; keeps its memory.
class QueryGroups {
 public:
  // What is kept for each entry of the largest set of edges so far.
  static constexpr std::uint64_t kBytesPerEntry = sizeof(std::uint64_t) + sizeof(Edge);

  // r^-1 is r + `inverse_offset`.
  QueryGroups(std::uint64_t seed, std::uint32_t inverse_offset) : seed_(seed), inverse_offset_(inverse_offset) {}

  // Puts in the place of the edges their entries, twice as many, the groups in random order: a function of the seed,
  // the epoch and the set of edges, whatever their order.
  void Group(std::uint32_t epoch, std::vector<Edge>& edges);

 private:
  struct Entry {
    std::uint64_t key = 0;  // random, of the group
    Edge edge;
  };
  static_assert(sizeof(Entry) == kBytesPerEntry);

  void Add(std::uint32_t epoch, const Edge& edge);

  const std::uint64_t seed_;
  const std::uint32_t inverse_offset_;
  std::vector<Entry> entries_;
};

}  // namespace octavo
