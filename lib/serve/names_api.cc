// Names: search, completion, relations, and what is known of one node.

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <utility>

#include "base/status.h"
#include "evaluate/name_completion.h"
#include "evaluate/near_names.h"
#include "nlohmann/json.hpp"
#include "query/name_lookup.h"
#include "query/node_edges.h"
#include "serve/service.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kCompletionTime = std::chrono::milliseconds(150);  // for each list: someone is typing
constexpr std::size_t kMostNear = 8;
constexpr std::size_t kMostSameLabel = 20;
constexpr std::size_t kMostRelations = 1000;

Json LabelOrNull(std::string_view label) { return label.empty() ? Json() : Json(label); }

Json NodeJson(const Graph& graph, NodeId node) {
  Json object = {{"kind", "node"}, {"name", graph.nodes().Name(node)}};
  if (graph.labels() != nullptr) object["label"] = LabelOrNull(graph.LabelOf(node));
  return object;
}

Json RelationJson(const Graph& graph, RelationId relation) {
  Json object = {{"kind", "relation"}, {"name", graph.RelationName(relation)}};
  if (graph.labels() != nullptr) object["label"] = LabelOrNull(graph.LabelOf(relation));
  return object;
}

// Texts of one kind that can be completed, and what each is.
struct TextList {
  std::string_view kind;  // node or relation
  std::string_view by;    // name or label
  std::uint64_t size = 0;
  std::function<std::string_view(std::uint64_t)> text;
};

std::vector<TextList> ListsOf(const Graph& graph, bool nodes, bool relations) {
  std::vector<TextList> lists;
  if (relations) {
    lists.push_back({"relation", "name", graph.relation_count(), RelationNamesInTurn(graph)});
    if (graph.labels() != nullptr) {
      lists.push_back({"relation", "label", graph.relation_count(),
                       [&graph](std::uint64_t i) { return graph.LabelOf(RelationId{static_cast<std::uint32_t>(i)}); }});
    }
  }
  if (nodes) {
    lists.push_back({"node", "name", graph.node_count(), NodeNamesInTurn(graph)});
    if (graph.labels() != nullptr) lists.push_back({"node", "label", graph.node_count(), NodeLabelsInTurn(graph)});
  }
  return lists;
}

struct Completions {
  Json list = Json::array();
  std::uint64_t matches = 0;
  bool whole = true;
};

Completions CompleteText(const std::string& text, const std::vector<TextList>& lists, std::size_t count) {
  Completions found;
  for (const CompletedPart part : {CompletedPart::kName, CompletedPart::kShortName}) {
    if (found.matches > 0) break;  // short names only help where no name begins like this
    for (const TextList& list : lists) {
      const NameCompletion completion = CompleteName(text, list.size, list.text, count, kCompletionTime, part);
      found.matches += completion.matches;
      found.whole = found.whole && completion.whole;
      for (const std::string& name : completion.names) {
        if (name.empty() || found.list.size() >= count) continue;
        found.list.push_back({{"kind", list.kind}, {"by", list.by}, {"text", name}});
      }
    }
  }
  // The shortest ones are what most people mean: "nginx" before "nginx-common".
  std::stable_sort(found.list.begin(), found.list.end(), [](const Json& a, const Json& b) {
    return a["text"].get_ref<const std::string&>().size() < b["text"].get_ref<const std::string&>().size();
  });
  return found;
}

}  // namespace

Service::Response Service::Complete(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run->Current());
  const Graph& graph = *commit->answerer.run().graph;
  const std::string kind = call.parameters.Text("kind");
  const Completions found = CompleteText(
      call.parameters.Text("text"), ListsOf(graph, kind != "relation", kind != "node"), call.parameters.Whole("count"));
  RETURN_IF_ERROR(graph.TextStatus());
  return JsonResponse(200, {{"text", call.parameters.Text("text")},
                            {"completions", found.list},
                            {"matches", found.matches},
                            {"whole", found.whole}});
}

Service::Response Service::Search(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run->Current());
  const Graph& graph = *commit->answerer.run().graph;
  const std::string text = call.parameters.Text("text");
  Json exact = Json::array();
  if (const std::optional<NodeId> node = graph.nodes().Find(text)) exact.push_back(NodeJson(graph, *node));
  if (const std::optional<RelationId> relation = graph.FindRelation(text)) {
    exact.push_back(RelationJson(graph, *relation));
  }
  if (graph.labels() != nullptr) {
    for (const NodeId node : graph.labels()->FindNodes(text, kMostSameLabel).nodes)
      exact.push_back(NodeJson(graph, node));
    for (const RelationId relation : graph.labels()->FindRelations(text))
      exact.push_back(RelationJson(graph, relation));
  }
  const std::vector<TextList> lists = ListsOf(graph, true, true);
  const Completions found = CompleteText(text, lists, call.parameters.Whole("count"));
  Json near = Json::array();
  for (const TextList& list : lists) {
    for (const std::string& name : NearNames(text, list.size, list.text, kMostNear)) {
      if (!name.starts_with(text)) near.push_back({{"kind", list.kind}, {"by", list.by}, {"text", name}});
    }
  }
  RETURN_IF_ERROR(graph.TextStatus());
  return JsonResponse(200, {{"text", text},
                            {"exact", std::move(exact)},
                            {"completions", found.list},
                            {"matches", found.matches},
                            {"whole", found.whole},
                            {"near", std::move(near)}});
}

Service::Response Service::Relations(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run->Current());
  const Graph& graph = *commit->answerer.run().graph;
  std::vector<std::uint32_t> order(graph.relation_count());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::uint32_t relation) { return graph.RelationTrainEdges(RelationId{relation}); });
  Json list = Json::array();
  for (const std::uint32_t relation : order) {
    if (list.size() == kMostRelations) break;
    Json object = RelationJson(graph, RelationId{relation});
    object.erase("kind");
    object["train_edges"] = graph.RelationTrainEdges(RelationId{relation});
    list.push_back(std::move(object));
  }
  return JsonResponse(200, {{"count", graph.relation_count()}, {"relations", std::move(list)}});
}

Service::Response Service::Node(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run->Current());
  const Graph& graph = *commit->answerer.run().graph;
  ASSIGN_OR_RETURN(const NodeId node, FindNode(graph, call.parameters.Text("name")));
  ASSIGN_OR_RETURN(const NodeEdges edges, FindNodeEdges(graph, node, call.parameters.Whole("edges"), call.stop));
  Json object = {{"node", graph.nodes().Name(node)}};
  if (graph.labels() != nullptr) object["label"] = LabelOrNull(graph.LabelOf(node));
  object["degree"] = edges.degree;
  Json& groups = object["edges"] = Json::array();
  for (const NodeEdges::Group& group : edges.groups) {
    Json each = {{"relation", graph.RelationName(group.relation)}};
    if (graph.labels() != nullptr) each["relation_label"] = LabelOrNull(graph.LabelOf(group.relation));
    each["direction"] = group.is_head ? "out" : "in";
    each["train"] = group.counts[0];
    each["valid"] = group.counts[1];
    each["test"] = group.counts[2];
    Json& others = each["nodes"] = Json::array();
    for (const auto& [other, split] : group.others) {
      Json end = {{"node", graph.nodes().Name(other)}};
      if (graph.labels() != nullptr) end["label"] = LabelOrNull(graph.LabelOf(other));
      end["split"] = SplitName(split);
      others.push_back(std::move(end));
    }
    groups.push_back(std::move(each));
  }
  RETURN_IF_ERROR(graph.TextStatus());
  return JsonResponse(200, object);
}

}  // namespace octavo
