// Finds nodes and relations of a graph by the names that a user typed.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "graph/graph.h"

namespace octavo {

// Finds a name, or, where nothing has that name, a label that only one node or relation has. A label of several is a
// usage error that lists the first of their names; so is an unknown text, with up to three names that end with it after
// a / or #, or else with similar spellings of names and labels. Without `suggest` there are no suggestions, whose
// search takes up to a second and a quarter in a large graph.
absl::StatusOr<NodeId> FindNode(const Graph& graph, std::string_view name, bool suggest = true);
absl::StatusOr<RelationId> FindRelation(const Graph& graph, std::string_view name, bool suggest = true);

// Whether FindNode or FindRelation returned this because nothing has the name or label.
bool IsUnknownName(const absl::Status& status);

// Returns a function for the name of a node or relation by number, for callers that go through all in order from 0:
// reads names ahead and drops them afterwards. Refers to `graph`.
std::function<std::string_view(std::uint64_t)> NodeNamesInTurn(const Graph& graph);
std::function<std::string_view(std::uint64_t)> RelationNamesInTurn(const Graph& graph);
// The same for the labels of the nodes. REQUIRES: the graph has labels
std::function<std::string_view(std::uint64_t)> NodeLabelsInTurn(const Graph& graph);

}  // namespace octavo
