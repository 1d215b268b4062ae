#include "tables/node_rows.h"

#include <algorithm>
#include <utility>

namespace octavo {

std::span<const NodeRows::Place> NodeRows::Find(std::vector<NodeId> nodes) {
  found_ = std::move(nodes);
  places_.clear();
  rows_found_ = nodes_.size();
  auto there = nodes_.cbegin();
  for (const NodeId node : found_) {
    there = std::lower_bound(there, nodes_.cend(), node);
    if (there == nodes_.cend() || *there != node) {
      places_.push_back({.row = static_cast<std::uint32_t>(rows_found_++), .fresh = true});
    } else {
      places_.push_back({.row = rows_[static_cast<std::size_t>(there - nodes_.cbegin())], .fresh = false});
    }
  }
  return places_;
}

// Merges the fresh nodes into the sorted ones.
void NodeRows::Keep() {
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> rows;
  nodes.reserve(rows_found_);
  rows.reserve(rows_found_);
  std::size_t there = 0;
  const auto take_while = [&](const auto& takes) {
    for (; there < nodes_.size() && takes(nodes_[there]); ++there) {
      nodes.push_back(nodes_[there]);
      rows.push_back(rows_[there]);
    }
  };
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (!places_[i].fresh) continue;
    take_while([&](NodeId node) { return node < found_[i]; });
    nodes.push_back(found_[i]);
    rows.push_back(places_[i].row);
  }
  take_while([](NodeId) { return true; });
  nodes_.swap(nodes);
  rows_.swap(rows);
}

void NodeRows::Clear() {
  nodes_.clear();
  rows_.clear();
}

}  // namespace octavo
