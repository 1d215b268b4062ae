// A choice of training options while it is made: what it follows, the options so far, and the reasons. For the files of
// this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "choose/graph_facts.h"
#include "format/graph_description.h"
#include "model/model_spec.h"
#include "run/options.h"

namespace octavo {

// Whether the nodes have few edges.
inline bool IsSparse(const GraphFacts& facts) {
  constexpr double kFewest = 5;
  return facts.EdgesPerNode() < kFewest;
}
// Whether the nodes are so few that all are negatives of every edge: more scores, but the loss of all answers.
inline bool HasFewNodes(const GraphFacts& facts) {
  constexpr std::uint64_t kMostNodesForAll = 5000;
  return facts.nodes <= kMostNodesForAll;
}

// From this share of distinct queries on, the answers of a query are few, and gain from competing.
inline constexpr double kFewAnswers = 0.4;

struct ChoiceDraft {
  const GraphFacts& facts;
  const GraphDescription& graph;
  const std::uint64_t memory;
  const GivenOptions& given;
  const double most_flops;
  const bool timed;
  TrainOptions options = {};
  GivenOptions chosen = {};  // by Set
  std::vector<std::string> reasons = {};
  bool predicts_relations = false;  // by the rule

  bool Free(std::string_view name) const { return !given.contains(name); }
  template <typename T>
  void Set(std::string_view name, T TrainOptions::*member, T value) {
    if (!Free(name)) return;
    options.*member = value;
    chosen.emplace(name);
  }
  void Because(std::string_view reason) { reasons.emplace_back(reason); }

  bool WithRelations() const { return options.model_spec().RelationWidth() > 0; }
  bool OfWalks() const { return options.walk != Walk::kNone || facts.of_walks; }
  bool OfProducts() const {
    return options.model == ModelKind::kComplEx || options.model == ModelKind::kDistMult ||
           options.model == ModelKind::kRescal;
  }
  bool Distance() const { return options.model == ModelKind::kTransE || options.model == ModelKind::kRotatE; }
  bool Sparse() const { return IsSparse(facts); }
  bool FewNodes() const { return HasFewNodes(facts); }
};

}  // namespace octavo
