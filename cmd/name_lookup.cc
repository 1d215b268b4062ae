#include "cmd/name_lookup.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/usage.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNamesAhead = 16'384;
constexpr std::chrono::milliseconds kSameEndTime(1000);  // for an error in a graph of tens of millions of names
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

absl::Status UnknownName(std::string_view kind, const Graph& graph, std::string_view name, std::uint64_t size,
                         const std::function<std::string_view(std::uint64_t)>& name_of) {
  const SameEnd same = FindNamesEnding(name, size, name_of, kSameEndTime);
  return UsageError(
      fmt::format("{}: no {} \"{}\"{}", graph.paths().folder().string(), kind, EscapeName(name),
                  same.matches > 0 ? SameEndText(kind, same) : DidYouMean(NearNames(name, size, name_of))));
}

}  // namespace

absl::StatusOr<NodeId> FindNode(const Graph& graph, std::string_view name, bool suggest) {
  if (const std::optional<NodeId> node = graph.nodes().Find(name)) return *node;
  absl::Status unknown = UnknownName("node", graph, name, suggest ? graph.node_count() : 0, NodeNamesInTurn(graph));
  RETURN_IF_ERROR(graph.nodes().status());  // a damaged name is not found
  return unknown;
}

absl::StatusOr<RelationId> FindRelation(const Graph& graph, std::string_view name, bool suggest) {
  if (const std::optional<RelationId> relation = graph.FindRelation(name)) return *relation;
  return UnknownName("relation", graph, name, suggest ? graph.relation_count() : 0, RelationNamesInTurn(graph));
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

std::function<std::string_view(std::uint64_t)> RelationNamesInTurn(const Graph& graph) {
  return [&graph](std::uint64_t i) { return graph.RelationName(RelationId{static_cast<std::uint32_t>(i)}); };
}

}  // namespace octavo
