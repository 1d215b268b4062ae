// Keeps the k best of a stream of scored nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace octavo {

struct ScoredNode {
  NodeId node{};
  float score = 0.0F;

  friend bool operator==(const ScoredNode&, const ScoredNode&) = default;
};

// Higher scores first; among equal scores the lower id first. A total order, so the best k do not depend on the order
// of arrival.
inline bool RanksBefore(const ScoredNode& a, const ScoredNode& b) {
  return a.score != b.score ? a.score > b.score : a.node < b.node;
}

// Keeps the best k. Not for concurrent use: use one per worker and merge them by adding the Nodes() of one to another.
class TopK {
 public:
  explicit TopK(std::size_t k) : k_(k) {}

  // A NaN, which overflow can produce from finite rows, counts as the lowest score.
  void Add(ScoredNode scored) {
    if (std::isnan(scored.score)) scored.score = -std::numeric_limits<float>::infinity();
    if (nodes_.size() < k_) {
      nodes_.push_back(scored);
      std::push_heap(nodes_.begin(), nodes_.end(), RanksBefore);
    } else if (k_ > 0 && RanksBefore(scored, nodes_.front())) {
      std::pop_heap(nodes_.begin(), nodes_.end(), RanksBefore);
      nodes_.back() = scored;
      std::push_heap(nodes_.begin(), nodes_.end(), RanksBefore);
    }
  }

  // Unordered.
  const std::vector<ScoredNode>& Nodes() const { return nodes_; }

  // Returns the nodes, best first. Leaves the object empty.
  std::vector<ScoredNode> TakeSorted() {
    std::sort(nodes_.begin(), nodes_.end(), RanksBefore);
    return std::move(nodes_);
  }

 private:
  std::size_t k_;
  std::vector<ScoredNode> nodes_;  // a heap with the worst on top
};

}  // namespace octavo
