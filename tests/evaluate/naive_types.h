// Plausible nodes by their definition, with sets and loops over all edges. Shares no code with lib/evaluate.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/edge.h"
#include "model/model_spec.h"

namespace octavo {

struct NaiveTypes {
  double share = 0.1;
  // Given types of nodes; empty: none.
  std::map<std::uint64_t, std::set<std::string>> types = {};

  // What is seen at a side of a relation in `train`.
  using Place = std::pair<std::uint32_t, Side>;

  bool Plausible(const std::vector<Edge>& train, std::uint64_t node, RelationId relation, Side side) const {
    std::map<std::uint64_t, std::set<Place>> places;
    for (const Edge& edge : train) {
      places[Value(edge.head)].insert({Value(edge.relation), Side::kHead});
      places[Value(edge.tail)].insert({Value(edge.relation), Side::kTail});
    }
    const Place asked{Value(relation), side};
    if (places[node].contains(asked)) return true;
    if (places[node].empty() && !types.contains(node)) return true;
    double seen = 0;
    double typed = 0;
    std::map<Place, double> with_place;
    std::map<std::string, double> with_type;
    for (const auto& [other, own] : places) {
      if (!own.contains(asked)) continue;
      ++seen;
      for (const Place& place : own) ++with_place[place];
      const auto given = types.find(other);
      if (given == types.end()) continue;
      ++typed;
      for (const std::string& type : given->second) ++with_type[type];
    }
    if (seen == 0) return true;
    if (const auto given = types.find(node); given != types.end()) {
      for (const std::string& type : given->second) {
        if (with_type[type] > 0 && with_type[type] >= share * typed) return true;
      }
      return false;
    }
    for (const Place& place : places[node]) {
      if (with_place[place] > 0 && with_place[place] >= share * seen) return true;
    }
    return false;
  }
};

}  // namespace octavo
