// One edge, or triple, of a graph as training and evaluation see it.
#pragma once

#include "base/ids.h"

namespace octavo {

struct Edge {
  NodeId head{};
  NodeId tail{};
  RelationId relation{};
  float weight = 1.0F;

  friend bool operator==(const Edge&, const Edge&) = default;
};

// The three disjoint sets of a graph's edges.
enum class Split { kTrain, kValid, kTest };

}  // namespace octavo
