#include "tables/gradients_by_node.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/status.h"
#include "hwy/contrib/sort/vqsort.h"

namespace octavo {

// Adds place `at` of the order, a gradient of `node`, to the segments. `at` ascends from call to call.
void GradientsByNode::AddToSegments(std::uint32_t at, NodeId node) {
  if (segments_.empty() || node != segments_.back().node) segments_.push_back({.node = node, .begin = at, .end = at});
  segments_.back().end = at + 1;
}

// Node and place in one word: sorting these is an order of magnitude faster than sorting pairs. No two keys are equal.
// That matters here and in Arrivals: there is one result, and nothing after the last key is written
// (walk/pair_counter.cc).
void GradientsByNode::SortTogether(unsigned index_bits) {
  for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = (Value(listed_[i].node) << index_bits) | i;
  hwy::Sorter()(keys_.data(), keys_.size(), hwy::SortAscending());
  const std::uint64_t mask = (std::uint64_t{1} << index_bits) - 1;
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    order_[i] = static_cast<std::uint32_t>(keys_[i] & mask);
    AddToSegments(i, static_cast<NodeId>(keys_[i] >> index_bits));
  }
}

// For ids so large that a word has no room for the place.
void GradientsByNode::SortApart() {
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return listed_[a].node < listed_[b].node; });
  for (std::uint32_t i = 0; i < order_.size(); ++i) AddToSegments(i, listed_[order_[i]].node);
}

void GradientsByNode::Order() {
  order_.resize(listed_.size());
  keys_.resize(listed_.size());
  segments_.clear();
  std::uint64_t nodes = 0;  // the bitwise or of all ids
  for (const RowGradient& gradient : listed_) nodes |= Value(gradient.node);
  const auto index_bits = static_cast<unsigned>(std::bit_width(listed_.size()));
  if (static_cast<unsigned>(std::bit_width(nodes)) + index_bits <= 64) {
    SortTogether(index_bits);
  } else {
    SortApart();
  }
}

std::span<const std::uint64_t> GradientsByNode::Arrivals(std::size_t first, std::size_t last) {
  const std::uint32_t begin = segments_[first].begin;
  const std::span<std::uint64_t> arrivals = std::span(keys_).subspan(begin, segments_[last - 1].end - begin);
  for (std::size_t i = first; i < last; ++i) {
    for (std::uint32_t at = segments_[i].begin; at < segments_[i].end; ++at) {
      arrivals[at - begin] = std::uint64_t{order_[at]} << 32 | (i - first);
    }
  }
  hwy::Sorter()(arrivals.data(), arrivals.size(), hwy::SortAscending());
  return arrivals;
}

absl::Status GradientsByNode::CheckRows(const MmapManager& embeddings, const MmapManager& state) const {
  // Nodes of one partition are adjacent, so checking the first one is enough.
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    RETURN_IF_ERROR(embeddings.CheckRow(segment->node));
    RETURN_IF_ERROR(state.CheckRow(segment->node));
    const NodeId end = std::min(embeddings.EndOf(embeddings.PartitionOf(segment->node)),
                                state.EndOf(state.PartitionOf(segment->node)));
    segment = std::partition_point(segment, segments_.end(), [end](const Segment& other) { return other.node < end; });
  }
  return absl::OkStatus();
}

}  // namespace octavo
