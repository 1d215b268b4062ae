// Which nodes of a chunk are in which of the two groups that a lane holds (plan/lane_schedule.h).
//
// Most edges that a lane trains lead from one group to the other. If all negatives counted alike, a node would be
// compared with its own group in every round but have answers there in few, so scores within a group would fall: with 4
// lanes that costs 0.01 to 0.02 of the MRR (FB15k-237, ComplEx and TransE). model/group_adjustment.h corrects this.
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

// The groups of one side of a chunk, as SideGroups (model/chunk.h) has them.
struct ChunkGroups {
  std::vector<std::uint8_t> anchors;    // [Q]
  std::vector<std::uint8_t> answers;    // [E]
  std::vector<std::uint8_t> negatives;  // [N]
  float log_share = 0;

  SideGroups View() const {
    return {.anchors = anchors, .answers = answers, .negatives = negatives, .log_share = log_share};
  }
};

// One owner; const functions may be called from many threads.
class NodeGroups {
 public:
  NodeGroups() = default;
  // `first` are the nodes of group 0, ascending; all others are in group 1. Empty: there are no groups. A round trains
  // all edges between the two and `share` of those within a group. REQUIRES: 0 < share <= 1
  NodeGroups(std::vector<NodeRange> first, double share);

  bool any() const { return !first_.empty(); }

  // Overwrites `found` for a chunk in which edges [begins[q], begins[q + 1]) share query q. Empty without groups.
  void Find(std::span<const Edge> chunk, std::span<const std::uint32_t> begins, std::span<const NodeId> negatives,
            Side side, ChunkGroups& found) const;

 private:
  std::uint8_t GroupOf(NodeId node) const;

  std::vector<NodeRange> first_;
  float log_share_ = 0;
};

}  // namespace octavo
