// The two groups of nodes that a lane holds (plan/lane_schedule.h), and with which negatives its edges are compared.
//
// Most edges that a lane trains lead from one group to the other. With negatives of both, a node would be compared with
// its own group in every round but have answers there in few, so scores within a group would fall: with 4 lanes that
// costs 0.01 to 0.02 of the MRR (FB15k-237, ComplEx). So the negatives of a query are in the group of its answer, if
// the anchor is in the other; where both are in one group, they are in both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/edge.h"
#include "base/ids.h"
#include "model/negatives.h"

namespace octavo {

// Sets of groups, one bit each, of the queries and the negatives of one side of a chunk (ComparedGroups in
// model/chunk.h).
struct GroupSets {
  std::vector<std::uint8_t> queries;    // [Q]
  std::vector<std::uint8_t> negatives;  // [N]
};

// One owner; const functions may be called from many threads.
class NodeGroups {
 public:
  NodeGroups() = default;
  // `first` are the nodes of the first group, ascending; all others are in the second. Empty: there are no groups.
  explicit NodeGroups(std::vector<NodeRange> first) : first_(std::move(first)) {}

  bool any() const { return !first_.empty(); }

  // Overwrites `sets` for a chunk in which edges [begins[q], begins[q + 1]) share query q. Empty without groups.
  void Find(std::span<const Edge> chunk, std::span<const std::uint32_t> begins, std::span<const NodeId> negatives,
            Side side, GroupSets& sets) const;

 private:
  std::uint8_t GroupOf(NodeId node) const;

  std::vector<NodeRange> first_;
};

}  // namespace octavo
