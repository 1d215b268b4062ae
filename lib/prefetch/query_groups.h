// Groups edges into queries that share their scores. Each edge becomes two entries, (h, r, t) and (t, r^-1, h); entries
// with the same anchor and relation are a group and adjacent. The cost of an epoch that scores all nodes is
// proportional to the number of groups: FB15k-237 has 149,689 for 544,230 entries (as "1-N scoring" in Dettmers et al.,
// AAAI 2018).
#pragma once

#include <cstdint>
#include <vector>

#include "base/edge.h"

namespace octavo {

// One owner; keeps its memory.
class QueryGroups {
 public:
  // Memory per entry, for the largest set of edges so far.
  static constexpr std::uint64_t kBytesPerEntry = sizeof(std::uint64_t) + sizeof(Edge);

  // r^-1 is r + `inverse_offset`.
  QueryGroups(std::uint64_t seed, std::uint32_t inverse_offset) : seed_(seed), inverse_offset_(inverse_offset) {}

  // Replaces the edges by their entries, twice as many, with the groups in random order. The result depends on the
  // seed, the epoch and the set of edges, not on their order.
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
