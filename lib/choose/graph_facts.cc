#include "choose/graph_facts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "choose/edge_sample.h"
#include "io/file.h"
#include "nlohmann/json.hpp"
#include "run/footprint.h"

namespace octavo {
namespace {

// Shares are known to a thousandth long before this many edges; reading and sorting them takes half a second.
constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 21;
constexpr std::uint64_t kLeastEdges = 4096;
// The edges, and keys of both of their ends.
constexpr std::uint64_t kBytesPerEdge = sizeof(Edge) + 2 * sizeof(std::uint64_t);
// Of edges between the same two nodes, only so many are compared with each other.
constexpr std::size_t kMostParallel = 64;

std::uint64_t SampleSize(std::uint64_t memory) {
  const std::uint64_t free = memory - std::min(memory, kProgramBytes);
  return std::clamp(free / 2 / kBytesPerEdge, kLeastEdges, kMostEdges);
}

std::pair<NodeId, NodeId> Ends(const Edge& edge) { return std::minmax(edge.head, edge.tail); }

// How often an edge of one relation has one of another in the opposite direction.
using Opposites = absl::flat_hash_map<std::pair<RelationId, RelationId>, std::uint64_t>;

// `edges` are all those between two nodes.
void CountOpposites(std::span<const Edge> edges, Opposites& opposites) {
  for (const Edge& edge : edges) {
    std::vector<RelationId> found;
    for (const Edge& other : edges) {
      if (other.head == edge.tail && other.tail == edge.head) found.push_back(other.relation);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const RelationId relation : found) ++opposites[{edge.relation, relation}];
  }
}

void MeasureOpposites(std::vector<Edge>& edges, GraphFacts& facts) {
  std::ranges::sort(edges, {}, [](const Edge& edge) { return std::tuple(Ends(edge), edge.relation, edge.head); });
  Opposites opposites;
  for (std::size_t begin = 0; begin < edges.size();) {
    std::size_t end = begin;
    while (end < edges.size() && Ends(edges[end]) == Ends(edges[begin])) ++end;
    const bool loop = edges[begin].head == edges[begin].tail;
    if (!loop) CountOpposites(std::span(edges).subspan(begin, std::min(end - begin, kMostParallel)), opposites);
    begin = end;
  }
  std::uint64_t symmetric = 0;
  absl::flat_hash_map<RelationId, std::uint64_t> inverse;  // of each relation, with its best partner
  for (const auto& [relations, count] : opposites) {
    if (relations.first == relations.second) {
      symmetric += count;
    } else {
      inverse[relations.first] = std::max(inverse[relations.first], count);
    }
  }
  std::uint64_t inverses = 0;
  for (const auto& [relation, count] : inverse) inverses += count;
  facts.symmetric_share = static_cast<double>(symmetric) / static_cast<double>(edges.size());
  facts.inverse_share = static_cast<double>(inverses) / static_cast<double>(edges.size());
}

std::uint64_t Distinct(std::vector<std::uint64_t>& keys) {
  std::ranges::sort(keys);
  return static_cast<std::uint64_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
}

void MeasureQueries(std::span<const Edge> edges, GraphFacts& facts) {
  std::uint64_t queries = 0;
  std::vector<std::uint64_t> keys(edges.size());
  for (const auto end : {&Edge::head, &Edge::tail}) {
    std::ranges::transform(edges, keys.begin(), [end, &facts](const Edge& edge) {
      return Value(edge.*end) * facts.relations + Value(edge.relation);
    });
    queries += Distinct(keys);
  }
  facts.query_share = static_cast<double>(queries) / static_cast<double>(2 * edges.size());
}

bool HaveTwoKinds(std::span<const Edge> edges) {
  std::vector<std::uint64_t> heads(edges.size());
  std::ranges::transform(edges, heads.begin(), [](const Edge& edge) { return Value(edge.head); });
  heads.resize(Distinct(heads));
  return std::ranges::none_of(
      edges, [&](const Edge& edge) { return std::binary_search(heads.begin(), heads.end(), Value(edge.tail)); });
}

void MeasureDegrees(std::span<const Edge> edges, GraphFacts& facts) {
  std::vector<std::uint64_t> ends;
  ends.reserve(2 * edges.size());
  for (const Edge& edge : edges) {
    ends.push_back(Value(edge.head));
    ends.push_back(Value(edge.tail));
  }
  std::ranges::sort(ends);
  // Of the node at an end, a sample has this edge and a share of the others.
  const double unsampled = static_cast<double>(facts.edges) / static_cast<double>(edges.size());
  double logarithms = 0;
  double most = 0;
  for (std::size_t begin = 0; begin < ends.size();) {
    std::size_t end = begin;
    while (end < ends.size() && ends[end] == ends[begin]) ++end;
    const auto count = static_cast<double>(end - begin);
    logarithms += count * std::log(1 + (count - 1) * unsampled);
    most = std::max(most, count);
    begin = end;
  }
  facts.end_degree = std::exp(logarithms / static_cast<double>(ends.size()));
  facts.largest_share = std::min(1.0, most / static_cast<double>(edges.size()));  // a loop has two ends
}

// The command that made a graph has its options under its name in graph.json.
absl::StatusOr<bool> IsOfWalks(const Graph& graph) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(graph.paths().Description(), kMostBytes));
  const auto object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return object.is_object() && object.contains("walk");
}

}  // namespace

absl::StatusOr<GraphFacts> MeasureFacts(const Graph& graph, std::uint64_t memory) {
  const GraphDescription& description = graph.description();
  GraphFacts facts{.nodes = description.node_count,
                   .edges = description.train_edges,
                   .relations = description.relation_count,
                   .has_weights = description.has_weights};
  ASSIGN_OR_RETURN(facts.of_walks, IsOfWalks(graph));
  ASSIGN_OR_RETURN(EdgeSample sample, SampleEdges(graph, SampleSize(memory)));
  facts.sampled = !sample.whole;
  if (sample.edges.empty()) return facts;
  MeasureQueries(sample.edges, facts);
  MeasureDegrees(sample.edges, facts);
  facts.two_kinds = HaveTwoKinds(sample.edges);
  MeasureOpposites(sample.edges, facts);
  return facts;
}

}  // namespace octavo
