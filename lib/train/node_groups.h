// The two groups of nodes that a lane holds (plan/lane_schedule.h), for the nodes of a chunk.
//
// Most edges that a lane trains lead from one group to the other. If all negatives counted alike, a node would be
// compared with its own group in every round but have answers there in few, so scores within a group would fall: with 4
// lanes that costs 0.01 to 0.02 of the MRR (FB15k-237, ComplEx and TransE). model/group_scores.h has the remedy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/edge.h"
#include "base/ids.h"
#include "model/chunk.h"
#include "model/negatives.h"

namespace octavo {

// The groups of one side of a chunk (ComparedGroups in model/chunk.h).
struct SideGroups {
  std::vector<std::uint8_t> anchors;    // [Q]
  std::vector<std::uint8_t> answers;    // [E]
  std::vector<std::uint8_t> negatives;  // [N]
  float within = 0;

  ComparedGroups View() const {
    return {.anchors = anchors, .answers = answers, .negatives = negatives, .within = within};
  }
};

// One owner; const functions may be called from many threads.
class NodeGroups {
 public:
  NodeGroups() = default;
  // `first` are the nodes of group 0, ascending; all others are in group 1. Empty: there are no groups. Of the edges
  // within a group `share` are trained at the same time as all those between the two. REQUIRES: 0 < share <= 1
  NodeGroups(std::vector<NodeRange> first, double share);

  bool any() const { return !first_.empty(); }

  // Overwrites `found` for a chunk in which edges [begins[q], begins[q + 1]) share query q. Empty without groups.
  void Find(std::span<const Edge> chunk, std::span<const std::uint32_t> begins, std::span<const NodeId> negatives,
            Side side, SideGroups& found) const;

 private:
  std::uint8_t GroupOf(NodeId node) const;

  std::vector<NodeRange> first_;
  float within_ = 0;
};

}  // namespace octavo
