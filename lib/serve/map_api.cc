// The map: how far it is, its points as bytes, the names of points, and the place of a node.

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "query/name_lookup.h"
#include "report/node_survey.h"
#include "serve/service.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNamed = 1000;

ServeResponse NotYet(const MapCache::State& state) {
  if (!state.building && !state.error.empty()) return ErrorResponse(500, state.error);
  ServeResponse response = JsonResponse(202, {{"state", "building"}});
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

Json Names(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(name);
  return list;
}

}  // namespace

Service::Response Service::Map(const Call& call) {
  ASSIGN_OR_RETURN(Served* const served, Find(call.parameters.Text("run")));
  const MapCache::State state = served->map->Get(call.parameters.Flag("refresh"), options_.start, options_.ending);
  if (state.points == nullptr) return NotYet(state);
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, served->run->Current());
  const MapPoints& points = *state.points;
  Json object = {{"state", state.building ? "building" : "ready"},
                 {"points", points.count},
                 {"nodes", commit->answerer.run().graph->node_count()},
                 {"generation", points.generation},
                 {"newest_generation", commit->answerer.run().generation},
                 {"layout", points.layout},
                 {"layout_generation", points.placed_generation ? Json(*points.placed_generation) : Json()},
                 {"variance", points.variance},
                 {"record_bytes", kMapRecordBytes},
                 {"clusters", points.clusters},
                 {"types", Names(points.types)},
                 {"classes", Names(points.classes)}};
  Json& degrees = object["degree_ranges"] = Json::array();
  const std::uint64_t largest = points.degrees.empty() ? 0 : *std::ranges::max_element(points.degrees);
  for (std::size_t range = 0; range <= DegreeNorms::DegreeRange(largest); ++range) {
    degrees.push_back(DegreeNorms::LeastDegree(range));
  }
  return JsonResponse(200, object);
}

Service::Response Service::MapBytes(const Call& call) {
  ASSIGN_OR_RETURN(Served* const served, Find(call.parameters.Text("run")));
  const MapCache::State state = served->map->Get(false, options_.start, options_.ending);
  if (state.points == nullptr) return NotYet(state);
  const std::uint64_t count = call.parameters.Whole("count");
  if (count > 0 && count < state.points->count) {
    return TextResponse(200, "application/octet-stream", state.points->bytes->substr(0, count * kMapRecordBytes));
  }
  return ServeResponse{.status = 200, .type = "application/octet-stream", .body = state.points->bytes};
}

Service::Response Service::MapNodes(const Call& call) {
  ASSIGN_OR_RETURN(Served* const served, Find(call.parameters.Text("run")));
  ASSIGN_OR_RETURN(const Json body, ParseBody(call.request));
  const auto wanted = body.find("points");
  if (body.size() != 1 || wanted == body.end() || !wanted->is_array() || wanted->size() > kMostNamed) {
    return UsageError(fmt::format("expected {{\"points\": [...]}} with at most {} points", kMostNamed));
  }
  const MapCache::State state = served->map->Get(false, options_.start, options_.ending);
  if (state.points == nullptr) return NotYet(state);
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, served->run->Current());
  const Graph& graph = *commit->answerer.run().graph;
  Json list = Json::array();
  for (const Json& point : *wanted) {
    if (!point.is_number_unsigned() || point >= state.points->count ||
        state.points->NodeOf(point.get<std::uint64_t>()) >= graph.node_count()) {
      return UsageError(fmt::format("expected points from 0 to {}", state.points->count - 1));
    }
    const auto at = point.get<std::uint64_t>();
    const NodeId node{state.points->NodeOf(at)};
    Json object = {{"point", at}, {"node", graph.nodes().Name(node)}};
    if (graph.labels() != nullptr) {
      const std::string_view label = graph.LabelOf(node);
      object["label"] = label.empty() ? Json() : Json(label);
    }
    object["degree"] = state.points->degrees[at];
    list.push_back(std::move(object));
  }
  RETURN_IF_ERROR(graph.TextStatus());
  return JsonResponse(200, {{"nodes", std::move(list)}});
}

Service::Response Service::MapPlace(const Call& call) {
  ASSIGN_OR_RETURN(Served* const served, Find(call.parameters.Text("run")));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, served->run->Current());
  ASSIGN_OR_RETURN(const NodeId node, FindNode(*commit->answerer.run().graph, call.parameters.Text("name")));
  const MapCache::State state = served->map->Get(false, options_.start, options_.ending);
  if (state.points == nullptr) return NotYet(state);
  const MapPoints& points = *state.points;
  std::uint64_t point = Value(node);
  if (!points.nodes.empty()) {
    const auto at = std::ranges::lower_bound(points.nodes, Value(node));
    if (at == points.nodes.end() || *at != Value(node)) {
      return JsonResponse(200, {{"node", call.parameters.Text("name")}, {"point", nullptr}});
    }
    point = static_cast<std::uint64_t>(at - points.nodes.begin());
  }
  if (point >= points.count) return JsonResponse(200, {{"node", call.parameters.Text("name")}, {"point", nullptr}});
  std::array<float, 2> place{};
  std::memcpy(place.data(), points.bytes->data() + point * kMapRecordBytes, sizeof(place));
  return JsonResponse(200,
                      {{"node", call.parameters.Text("name")}, {"point", point}, {"x", place[0]}, {"y", place[1]}});
}

}  // namespace octavo
