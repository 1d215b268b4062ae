#include "train/node_groups.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace octavo {

NodeGroups::NodeGroups(std::vector<NodeRange> first, double share)
    : first_(std::move(first)), log_share_(static_cast<float>(std::log(share))) {}

std::uint8_t NodeGroups::GroupOf(NodeId node) const {
  const auto range = std::ranges::upper_bound(first_, Value(node), {}, &NodeRange::end);
  return range != first_.end() && Value(node) >= range->begin ? 0 : 1;
}

void NodeGroups::Find(std::span<const Edge> chunk, std::span<const std::uint32_t> begins,
                      std::span<const NodeId> negatives, Side side, ChunkGroups& found) const {
  found.anchors.clear();
  found.answers.clear();
  found.negatives.clear();
  found.log_share = log_share_;
  if (!any() || negatives.empty()) return;
  const bool tail = side == Side::kTail;
  for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
    const Edge& first = chunk[begins[q]];
    found.anchors.push_back(GroupOf(tail ? first.head : first.tail));
  }
  for (const Edge& edge : chunk) found.answers.push_back(GroupOf(tail ? edge.tail : edge.head));
  for (const NodeId node : negatives) found.negatives.push_back(GroupOf(node));
}

}  // namespace octavo
