#include "train/place_nodes.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "graph/node_places.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 19;  // of nodes and places that are read together: 24 MiB

std::uint64_t MostNodesOfPlace(std::uint64_t places) {
  return std::max(PlaceNodes::kLeastNodesOfPlace, PlaceNodes::kMostNodes / std::max<std::uint64_t>(1, places));
}

// A node with the number by which a sample is drawn: those with the least.
struct Draw {
  std::uint64_t number = 0;
  NodeId node{};

  friend auto operator<=>(const Draw&, const Draw&) = default;
};

// The nodes of one place, each added once.
class PlaceSample {
 public:
  void Add(NodeId node, std::uint64_t most, std::uint64_t seed) {
    // The same number at every place: samples of places with the same nodes are the same, which harms no draw.
    draws_.push_back({RandomStream(seed, RandomPurpose::kTypedNegatives, 0, Value(node)).Next64(), node});
    if (draws_.size() >= 2 * most) Keep(most);
  }

  // Returns at most `most` nodes, ascending. Clears this.
  std::vector<NodeId> Take(std::uint64_t most) {
    if (draws_.size() > most) Keep(most);
    std::vector<NodeId> nodes;
    nodes.reserve(draws_.size());
    for (const Draw& draw : draws_) nodes.push_back(draw.node);
    std::sort(nodes.begin(), nodes.end());
    draws_ = {};
    return nodes;
  }

 private:
  void Keep(std::uint64_t most) {
    std::nth_element(draws_.begin(), draws_.begin() + static_cast<std::ptrdiff_t>(most), draws_.end());
    draws_.resize(most);
  }

  std::vector<Draw> draws_;
};

NodeId Uniform(RandomStream& stream, std::span<const NodeRange> ranges) {
  std::uint64_t nodes = 0;
  for (const NodeRange& range : ranges) nodes += range.end - range.begin;
  std::uint64_t index = stream.Below(nodes);
  for (const NodeRange& range : ranges) {
    if (index < range.end - range.begin) return NodeId{range.begin + index};
    index -= range.end - range.begin;
  }
  return NodeId{};  // not reached: index < nodes
}

}  // namespace

absl::StatusOr<PlaceNodes> PlaceNodes::Gather(const Graph& graph, std::uint64_t seed,
                                              const std::function<bool()>& stop) {
  const std::uint64_t most = MostNodesOfPlace(PlaceCount(graph));
  std::vector<PlaceSample> samples(PlaceCount(graph));
  RETURN_IF_ERROR(VisitNodePlaces(graph, 0, graph.node_count(), kMostPairs, [&](const NodePlaces& places) {
    for (const NodePlace& pair : places.pairs()) samples[pair.place].Add(NodeId{pair.node}, most, seed);
    return stop && stop() ? absl::CancelledError("reading the nodes of relations was stopped") : absl::OkStatus();
  }));
  PlaceNodes result;
  result.offsets_.push_back(0);
  for (PlaceSample& sample : samples) {
    const std::vector<NodeId> nodes = sample.Take(most);
    result.nodes_.insert(result.nodes_.end(), nodes.begin(), nodes.end());
    result.offsets_.push_back(result.nodes_.size());
  }
  return result;
}

std::uint64_t PlaceNodes::MostBytes(const GraphDescription& graph) {
  const std::uint64_t places = 2 * std::uint64_t{graph.relation_count};
  const std::uint64_t pairs = 2 * graph.train_edges;
  const std::uint64_t nodes = std::min(pairs, MostNodesOfPlace(places) * places);
  // While samples are gathered: two draws and the room to grow for each node, and the pairs that are read. Then the
  // nodes twice, which is less.
  return nodes * 4 * sizeof(Draw) + places * (sizeof(PlaceSample) + 2 * sizeof(std::uint64_t)) +
         std::min(pairs, kMostPairs) * NodePlaces::kBytes;
}

PlaceNodes PlaceNodes::In(std::span<const NodeRange> ranges) const {
  PlaceNodes result;
  result.offsets_.push_back(0);
  for (std::size_t place = 0; place + 1 < offsets_.size(); ++place) {
    const std::span<const NodeId> nodes = At(place);
    for (const NodeRange& range : ranges) {
      const auto begin = std::lower_bound(nodes.begin(), nodes.end(), NodeId{range.begin});
      const auto end = std::lower_bound(begin, nodes.end(), NodeId{range.end});
      result.nodes_.insert(result.nodes_.end(), begin, end);
    }
    result.offsets_.push_back(result.nodes_.size());
  }
  return result;
}

void PlaceNodes::Sample(RandomStream stream, std::span<const std::uint64_t> places, std::span<const NodeRange> ranges,
                        std::span<NodeId> negatives) const {
  for (NodeId& negative : negatives) {
    const std::span<const NodeId> nodes = At(places[stream.Below(places.size())]);
    negative = nodes.empty() ? Uniform(stream, ranges) : nodes[stream.Below(nodes.size())];
  }
}

}  // namespace octavo
