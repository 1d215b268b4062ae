#include "query/name_lookup.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "base/escape.h"
#include "base/status.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr char kUnknownPayload[] = "octavo/unknown-name";
constexpr std::uint64_t kNamesAhead = 16'384;
constexpr std::chrono::milliseconds kSameEndTime(1000);  // for an error in a graph of tens of millions of names
constexpr std::size_t kMostCandidates = 10;              // nodes with the same label that are listed
constexpr std::size_t kMostShownBytes = 300;             // of a name that the user should be able to copy

// Names that end with what was typed.
std::string SameEndText(std::string_view kind, const SameEnd& same) {
  const std::string_view looked_at = same.whole ? "" : " of those checked";
  if (same.matches == 1) {
    return fmt::format("; one {}{} ends with that after a / or #: \"{}\"; expected its full name", kind, looked_at,
                       EscapeName(same.names[0], kMostShownBytes));
  }
  std::string names;
  for (const std::string& name : same.names) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", EscapeName(name, kMostShownBytes));
  }
  return fmt::format("; {} {}s{} end with that after a / or #, such as {}; expected a full name", same.matches, kind,
                     looked_at, names);
}

// What a text can be the name of: nodes or relations, and their labels.
struct Texts {
  std::string_view kind;
  std::uint64_t size = 0;
  std::function<std::string_view(std::uint64_t)> name;
  std::function<std::string_view(std::uint64_t)> label = {};  // empty: none
};

// Names and labels with similar spellings. Both are looked at in turn, as only the first ones are.
std::vector<std::string> NearTexts(std::string_view wanted, const Texts& texts) {
  if (!texts.label) return NearNames(wanted, texts.size, texts.name);
  return NearNames(wanted, 2 * texts.size,
                   [&](std::uint64_t i) { return i % 2 == 0 ? texts.name(i / 2) : texts.label(i / 2); });
}

absl::Status UnknownName(const Graph& graph, std::string_view name, const Texts& texts) {
  const SameEnd same = FindNamesEnding(name, texts.size, texts.name, kSameEndTime);
  absl::Status status =
      UsageError(fmt::format("{}: no {} \"{}\"{}", graph.paths().folder().string(), texts.kind, EscapeName(name),
                             same.matches > 0 ? SameEndText(texts.kind, same) : DidYouMean(NearTexts(name, texts))));
  status.SetPayload(kUnknownPayload, absl::Cord());
  return status;
}

// The label of several nodes or relations, which have these names.
absl::Status SharedLabel(const Graph& graph, std::string_view kind, std::string_view label, std::uint64_t count,
                         const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", EscapeName(name, kMostShownBytes));
  }
  if (count > names.size()) list += fmt::format(" and {} more", count - names.size());
  return UsageError(fmt::format("{}: \"{}\" is the label of {} {}s: {}; expected one of these names",
                                graph.paths().folder().string(), EscapeName(label), count, kind, list));
}

}  // namespace

bool IsUnknownName(const absl::Status& status) { return status.GetPayload(kUnknownPayload).has_value(); }

absl::StatusOr<NodeId> FindNode(const Graph& graph, std::string_view name, bool suggest) {
  if (const std::optional<NodeId> node = graph.nodes().Find(name)) return *node;
  Texts texts = {.kind = "node", .size = suggest ? graph.node_count() : 0, .name = NodeNamesInTurn(graph)};
  if (graph.labels() != nullptr) {
    texts.label = NodeLabelsInTurn(graph);
    const LabelledNodes found = graph.labels()->FindNodes(name, kMostCandidates);
    RETURN_IF_ERROR(graph.TextStatus());
    if (found.count == 1) return found.nodes[0];
    std::vector<std::string_view> names;
    for (const NodeId node : found.nodes) names.push_back(graph.nodes().Name(node));
    if (found.count > 1) return SharedLabel(graph, texts.kind, name, found.count, names);
  }
  absl::Status unknown = UnknownName(graph, name, texts);
  RETURN_IF_ERROR(graph.TextStatus());  // a damaged name is not found
  return unknown;
}

absl::StatusOr<RelationId> FindRelation(const Graph& graph, std::string_view name, bool suggest) {
  if (const std::optional<RelationId> relation = graph.FindRelation(name)) return *relation;
  Texts texts = {.kind = "relation", .size = suggest ? graph.relation_count() : 0, .name = RelationNamesInTurn(graph)};
  if (graph.labels() != nullptr) {
    texts.label = [&graph](std::uint64_t i) { return graph.LabelOf(RelationId{static_cast<std::uint32_t>(i)}); };
    const std::vector<RelationId> found = graph.labels()->FindRelations(name);
    if (found.size() == 1) return found[0];
    std::vector<std::string_view> names;
    for (const RelationId relation : found) {
      if (names.size() < kMostCandidates) names.push_back(graph.RelationName(relation));
    }
    if (found.size() > 1) return SharedLabel(graph, texts.kind, name, found.size(), names);
  }
  return UnknownName(graph, name, texts);
}

std::function<std::string_view(std::uint64_t)> NodeNamesInTurn(const Graph& graph) {
  return [&graph](std::uint64_t i) {
    if (i % kNamesAhead == 0) {
      graph.nodes().Forget(i - std::min(i, kNamesAhead), std::min(i, kNamesAhead));
      graph.nodes().WillRead(i, std::min(kNamesAhead, graph.node_count() - i));
    }
    return graph.nodes().Name(NodeId{i});
  };
}

std::function<std::string_view(std::uint64_t)> NodeLabelsInTurn(const Graph& graph) {
  return [&graph](std::uint64_t i) {
    if (i % kNamesAhead == 0) {
      graph.labels()->Forget(i - std::min(i, kNamesAhead), std::min(i, kNamesAhead));
      graph.labels()->WillRead(i, std::min(kNamesAhead, graph.node_count() - i));
    }
    return graph.LabelOf(NodeId{i});
  };
}

std::function<std::string_view(std::uint64_t)> RelationNamesInTurn(const Graph& graph) {
  return [&graph](std::uint64_t i) { return graph.RelationName(RelationId{static_cast<std::uint32_t>(i)}); };
}

}  // namespace octavo
