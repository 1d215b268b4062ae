#include "train/node_groups.h"

#include <algorithm>
#include <utility>

namespace octavo {
namespace {

constexpr std::uint8_t kBoth = 3;

}  // namespace

std::uint8_t NodeGroups::GroupOf(NodeId node) const {
  const auto range = std::ranges::upper_bound(first_, Value(node), {}, &NodeRange::end);
  return range != first_.end() && Value(node) >= range->begin ? 1 : 2;
}

void NodeGroups::Find(std::span<const Edge> chunk, std::span<const std::uint32_t> begins,
                      std::span<const NodeId> negatives, Side side, GroupSets& sets) const {
  sets.queries.clear();
  sets.negatives.clear();
  if (!any() || negatives.empty()) return;
  for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
    std::uint8_t groups = 0;
    for (std::size_t i = begins[q]; i < begins[q + 1]; ++i) {
      const auto& [answer, anchor] =
          side == Side::kTail ? std::pair(chunk[i].tail, chunk[i].head) : std::pair(chunk[i].head, chunk[i].tail);
      groups |= GroupOf(answer);
      if (GroupOf(answer) == GroupOf(anchor)) groups = kBoth;
    }
    sets.queries.push_back(groups);
  }
  for (const NodeId node : negatives) sets.negatives.push_back(GroupOf(node));
}

}  // namespace octavo
