#include "evaluate/non_edges.h"

#include <algorithm>
#include <cstddef>

#include "base/random.h"
#include "base/status.h"
#include "model/model_spec.h"

namespace octavo {
namespace {

constexpr std::uint32_t kSideDraws = 32;  // at one end, before the other end is drawn
constexpr std::uint32_t kMaxDraws = 1023;
// A draw is rarely an edge, except in a dense graph. But every pass over the edges is expensive, so the first checks
// two.
constexpr std::uint32_t kFirstDraws = 2;

// Returns a uniformly drawn node other than `other`. REQUIRES: nodes > 1
NodeId DrawOtherNode(std::uint64_t nodes, NodeId other, RandomStream& random) {
  const std::uint64_t node = random.Below(nodes - 1);
  return NodeId{node + (node >= Value(other) ? 1 : 0)};
}

// Returns draw `draw` for edge `number`.
Edge Draw(const Graph& graph, const Edge& edge, std::uint64_t number, std::uint32_t draw, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::kNonEdges, draw, number);
  Edge drawn = edge;
  if (graph.relation_count() == 1) {
    drawn.head = NodeId{random.Below(graph.node_count())};
    drawn.tail = DrawOtherNode(graph.node_count(), drawn.head, random);
  } else if ((number + draw / kSideDraws) % 2 == 0) {
    drawn.tail = DrawOtherNode(graph.node_count(), edge.head, random);
  } else {
    drawn.head = DrawOtherNode(graph.node_count(), edge.tail, random);
  }
  return drawn;
}

}  // namespace

absl::StatusOr<std::vector<std::optional<Edge>>> DrawNonEdges(const Graph& graph, std::span<const Edge> edges,
                                                              std::uint64_t first_number, const NonEdgeRule& rule) {
  std::vector<std::optional<Edge>> non_edges(edges.size());
  if (graph.node_count() < 2) return non_edges;
  std::vector<std::size_t> open(edges.size());  // those without a non-edge yet
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
  std::uint32_t begin = 0;
  for (std::uint32_t draws = kFirstDraws; !open.empty() && begin < kMaxDraws; draws *= 2) {
    const std::uint32_t end = std::min(begin + draws, kMaxDraws);
    // As many draws per pass as in the first one.
    const std::size_t step = std::max<std::size_t>(1, edges.size() * kFirstDraws / (end - begin));
    std::vector<std::size_t> left;
    std::vector<Edge> drawn;
    drawn.reserve(std::min(step, open.size()) * (end - begin));
    for (std::size_t first = 0; first < open.size(); first += step) {
      const std::size_t last = std::min(first + step, open.size());
      drawn.clear();
      for (std::size_t i = first; i < last; ++i) {
        for (std::uint32_t draw = begin; draw < end; ++draw) {
          drawn.push_back(Draw(graph, edges[open[i]], first_number + open[i], draw, rule.seed));
        }
      }
      ASSIGN_OR_RETURN(const std::vector<char> is_edge, FindEdges(graph, drawn, rule.match));
      for (std::size_t i = first; i < last; ++i) {
        const auto own = is_edge.begin() + static_cast<std::ptrdiff_t>((i - first) * (end - begin));
        const auto found = std::find(own, own + (end - begin), 0);
        if (found == own + (end - begin)) {
          left.push_back(open[i]);
        } else {
          non_edges[open[i]] = drawn[static_cast<std::size_t>(found - is_edge.begin())];
        }
      }
    }
    open = std::move(left);
    begin = end;
  }
  return non_edges;
}

}  // namespace octavo
