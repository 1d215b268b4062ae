#include "serve/map_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "base/status.h"
#include "evaluate/row_stream.h"
#include "fmt/format.h"
#include "graph/node_places.h"
#include "report/node_survey.h"
#include "report/page.h"
#include "serve/vector_clusters.h"

namespace octavo {
namespace {

constexpr std::uint32_t kNoPlace = UINT32_MAX;
constexpr std::size_t kMostKinds = 256;  // values of a byte
constexpr std::uint64_t kSurveyBytes = std::uint64_t{2} << 20;
constexpr double kShownShare = 0.995;  // of the coordinates that are in [-0.95, 0.95]: few outliers do not shrink all

absl::Status Stopped(const MapPointOptions& options) {
  return options.stop && options.stop() ? absl::CancelledError("the map was stopped") : absl::OkStatus();
}

// The degree of each point, and the side of a relation that most of its edges have it at.
struct PointEdges {
  std::vector<std::uint32_t> degrees;
  std::vector<std::uint32_t> places;  // kNoPlace: no edges
};

absl::StatusOr<PointEdges> CountEdges(const Graph& graph, const MapPoints& points, const MapPointOptions& options) {
  PointEdges found{std::vector<std::uint32_t>(points.count), std::vector<std::uint32_t>(points.count, kNoPlace)};
  std::vector<std::uint32_t> votes(points.count);
  const auto add = [&](NodeId node, std::uint64_t place) {
    std::uint64_t point = Value(node);
    if (!points.nodes.empty()) {
      const auto at = std::lower_bound(points.nodes.begin(), points.nodes.end(), point);
      if (at == points.nodes.end() || *at != point) return;
      point = static_cast<std::uint64_t>(at - points.nodes.begin());
    }
    ++found.degrees[point];
    const auto vote = static_cast<std::uint32_t>(place);
    if (votes[point] == 0) found.places[point] = vote;
    votes[point] += found.places[point] == vote ? 1U : UINT32_MAX;  // minus one
  };
  const CellReader& cells = graph.Edges(Split::kTrain);
  std::vector<Edge> edges;
  std::vector<std::byte> scratch;
  for (std::size_t block = 0; block < cells.block_count(); ++block) {
    RETURN_IF_ERROR(Stopped(options));
    edges.resize(cells.block(block).edges);
    RETURN_IF_ERROR(cells.ReadBlock(block, edges, scratch));
    for (const Edge& edge : edges) {
      add(edge.head, HeadPlace(edge.relation));
      add(edge.tail, TailPlace(edge.relation));
    }
    cells.Forget(block, block + 1);
  }
  return found;
}

// Gives each point the number of its kind: kinds by descending number of points, the last one for all that are rarer
// than the first 255. `kind_of` returns kNoPlace for a point without one, which is kind 0, named `none`.
template <typename KindOf, typename NameOf>
std::vector<std::uint8_t> RankKinds(std::uint64_t count, std::uint64_t kinds, const std::string& none,
                                    const KindOf& kind_of, const NameOf& name_of, std::vector<std::string>& names) {
  std::vector<std::uint64_t> members(kinds);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (kind_of(i) != kNoPlace) ++members[kind_of(i)];
  }
  std::vector<std::uint32_t> order(kinds);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t kind) { return members[kind]; });
  std::vector<std::uint8_t> rank(kinds);
  names = {none};
  for (const std::uint32_t kind : order) {
    if (members[kind] == 0) break;
    const bool last = names.size() == kMostKinds - 1;
    if (names.size() < kMostKinds) names.push_back(last ? "another" : name_of(kind));
    rank[kind] = static_cast<std::uint8_t>(names.size() - 1);
  }
  std::vector<std::uint8_t> of_points(count);
  for (std::uint64_t i = 0; i < count; ++i) of_points[i] = kind_of(i) == kNoPlace ? 0 : rank[kind_of(i)];
  return of_points;
}

// Moves the middle to 0 and scales both axes alike.
void FitSquare(std::vector<MapPoint>& points) {
  if (points.empty()) return;
  MapPoint middle{};
  float largest = 0;
  std::vector<float> values(points.size());
  const auto quantile = [&](double share) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::ranges::transform(points, values.begin(), [&](const MapPoint& point) { return point[axis]; });
    const float low = quantile(1 - kShownShare);
    const float high = quantile(kShownShare);
    middle[axis] = low + (high - low) / 2;
    largest = std::max(largest, (high - low) / 2);
  }
  const float scale = largest > 0 ? 0.95F / largest : 1;
  for (MapPoint& point : points) {
    for (std::size_t axis = 0; axis < 2; ++axis) point[axis] = (point[axis] - middle[axis]) * scale;
  }
}

void Append(std::string& bytes, float value) {
  std::array<char, sizeof(float)> raw{};
  std::memcpy(raw.data(), &value, sizeof(float));
  bytes.append(raw.data(), raw.size());
}

// The class of each point; of several the first.
std::vector<std::uint8_t> ClassesOf(const MapPoints& points, const NodeLabels& classes,
                                    std::vector<std::string>& names) {
  const auto of = [&](std::uint64_t point) {
    const auto at = std::lower_bound(classes.nodes.begin(), classes.nodes.end(), points.NodeOf(point));
    if (at == classes.nodes.end() || *at != points.NodeOf(point)) return kNoPlace;
    const std::span<const std::uint32_t> labels = classes.Of(static_cast<std::size_t>(at - classes.nodes.begin()));
    return labels.empty() ? kNoPlace : labels[0];
  };
  return RankKinds(
      points.count, classes.names.size(), "without a class", of,
      [&](std::uint32_t kind) { return MapName(classes.names[kind]); }, names);
}

absl::Status ChooseNodes(const EmbeddedGraph& embedded, const MapPointOptions& options, MapPoints& points) {
  points.count = std::min(options.most_nodes, embedded.graph.node_count());
  if (points.count == embedded.graph.node_count()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const NodeSurvey survey,
                   SurveyNodes(embedded, {.top = points.count,
                                          .memory_bytes = LeastSurveyMemory(embedded, points.count) + kSurveyBytes}));
  for (const SurveyedNode& node : survey.top) points.nodes.push_back(node.node);
  std::ranges::sort(points.nodes);
  return absl::OkStatus();
}

}  // namespace

std::uint64_t MapWorkBytes(const EmbeddedGraph& embedded) {
  return MapPlaceBytes(embedded) + LeastSurveyMemory(embedded, 0) + kSurveyBytes + ClusterBytes(embedded);
}

absl::StatusOr<MapPoints> MakeMapPoints(const EmbeddedGraph& embedded, const MapPointOptions& options) {
  MapPoints points;
  RETURN_IF_ERROR(ChooseNodes(embedded, options, points));
  RETURN_IF_ERROR(Stopped(options));
  ASSIGN_OR_RETURN(MapPlaces places, PlaceNodes(embedded, options.run, options.file, points.nodes));
  points.layout = std::move(places.layout);
  points.variance = places.variance;
  points.placed_generation = places.generation;
  FitSquare(places.points);
  RETURN_IF_ERROR(Stopped(options));
  ASSIGN_OR_RETURN(PointEdges edges, CountEdges(embedded.graph, points, options));
  const std::vector<std::uint8_t> types = RankKinds(
      points.count, PlaceCount(embedded.graph), "no edges", [&](std::uint64_t i) { return edges.places[i]; },
      [&](std::uint32_t place) {
        const RelationId relation{place / 2};
        return fmt::format("{} of {}", place % 2 == 0 ? "head" : "tail",
                           MapName(embedded.graph.RelationName(relation), embedded.graph.LabelOf(relation)));
      },
      points.types);
  ASSIGN_OR_RETURN(const std::vector<std::uint8_t> clusters, ClusterVectors(embedded, points.nodes, options.stop));
  points.clusters = kClusters;
  std::vector<std::uint8_t> classes(points.count);
  if (options.classes != nullptr) classes = ClassesOf(points, *options.classes, points.classes);
  std::string bytes;
  bytes.reserve(points.count * kMapRecordBytes);
  for (std::uint64_t i = 0; i < points.count; ++i) {
    for (const float x : places.points[i]) Append(bytes, x);
    bytes += static_cast<char>(std::min<std::size_t>(DegreeNorms::DegreeRange(edges.degrees[i]), 255));
    bytes += static_cast<char>(types[i]);
    bytes += static_cast<char>(clusters[i]);
    bytes += static_cast<char>(classes[i]);
  }
  points.degrees = std::move(edges.degrees);
  points.bytes = std::make_shared<const std::string>(std::move(bytes));
  return points;
}

}  // namespace octavo
