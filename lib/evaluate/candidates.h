// The nodes that answers are ranked against: all of them, a random sample, or given ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

// Candidates in memory, ascending by node id. Valid during the call that receives it.
struct CandidateBlock {
  std::span<const std::uint64_t> ids;  // unless all nodes are candidates; empty if the nodes are first, first + 1, ...
  std::uint64_t first = 0;
  std::size_t count = 0;
  std::span<const float> rows;  // [count, dim]

  // Calls `use(column)` for each of `nodes` (ascending) that is a candidate in columns [begin, end).
  template <typename Use>
  void ForEachColumn(std::span<const std::uint64_t> nodes, std::size_t begin, std::size_t end, const Use& use) const;
};

// Which nodes are candidates. Constant after construction; any thread.
class CandidateSet {
 public:
  // All nodes [0, node_count).
  explicit CandidateSet(std::uint64_t node_count) : node_count_(node_count) {}
  // `sample` distinct nodes, drawn uniformly; all nodes if there are no more. A pure function of the arguments.
  CandidateSet(std::uint64_t node_count, std::uint64_t sample, std::uint64_t seed);
  // The given nodes, ascending and distinct. REQUIRES: some
  CandidateSet(std::uint64_t node_count, std::vector<std::uint64_t> nodes)
      : node_count_(node_count), nodes_(std::move(nodes)) {}

  std::uint64_t size() const { return all() ? node_count_ : nodes_.size(); }
  bool all() const { return nodes_.empty(); }
  bool Contains(std::uint64_t node) const;
  // Returns the number of candidates in [begin, end).
  std::uint64_t CountIn(std::uint64_t begin, std::uint64_t end) const;

  // Calls `visit` with the candidates in [begin, end) in order, at most `block_rows` at a time. Checks rows for NaN and
  // infinity. Stops at the first error.
  absl::Status Stream(const EmbeddedGraph& embedded, std::uint64_t begin, std::uint64_t end, std::uint64_t block_rows,
                      const std::function<absl::Status(const CandidateBlock&)>& visit) const;

 private:
  std::span<const std::uint64_t> NodesIn(std::uint64_t begin, std::uint64_t end) const;

  std::uint64_t node_count_;
  std::vector<std::uint64_t> nodes_;  // ascending; empty: all nodes
};

// Returns `count` distinct numbers below `bound`, ascending, drawn uniformly: a pure function of the arguments.
// `stream` separates the uses of a seed.
// REQUIRES: count <= bound
std::vector<std::uint64_t> DrawWithoutReplacement(std::uint64_t count, std::uint64_t bound, std::uint64_t seed,
                                                  std::uint32_t stream);

template <typename Use>
void CandidateBlock::ForEachColumn(std::span<const std::uint64_t> nodes, std::size_t begin, std::size_t end,
                                   const Use& use) const {
  if (begin >= end || nodes.empty()) return;
  const std::uint64_t low = ids.empty() ? first + begin : ids[begin];
  const std::uint64_t high = ids.empty() ? first + end - 1 : ids[end - 1];
  auto node = std::lower_bound(nodes.begin(), nodes.end(), low);
  for (; node != nodes.end() && *node <= high; ++node) {
    if (ids.empty()) {
      use(static_cast<std::size_t>(*node - first));
      continue;
    }
    const auto id = std::lower_bound(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                     ids.begin() + static_cast<std::ptrdiff_t>(end), *node);
    if (id != ids.end() && *id == *node) use(static_cast<std::size_t>(id - ids.begin()));
  }
}

}  // namespace octavo
