// Which nodes are of a plausible type at a place, which is a side of a relation: derived from the training edges, or
// from given types of nodes.
//
// A node is plausible at a place if a training edge has it there. Other nodes are judged by what they have in common
// with the nodes seen there: without given types by their own places (two nodes are of alike type if they were seen at
// the same places; compare the pseudo-typed negatives of PyKEEN), with given types by these. One common place, or type,
// is enough if at least a given share of the nodes seen there has it. A node that has no given type is judged by its
// places also beside nodes that have. Where nothing is known, nothing is ruled out: a node without training edges and
// given types is plausible everywhere, and every node is plausible at a relation without training edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/node_labels.h"
#include "graph/graph.h"
#include "graph/node_places.h"
#include "model/model_spec.h"

namespace octavo {

// Measured on FB15k-237, NELL-995 and the graph of Debian packages (docs/evaluating.md).
inline constexpr double kTypeShare = 0.1;

inline std::uint64_t PlaceOf(RelationId relation, Side side) {
  return side == Side::kTail ? TailPlace(relation) : HeadPlace(relation);
}

struct TypeRuleOptions {
  double share = kTypeShare;          // in (0, 1]
  const NodeLabels* types = nullptr;  // given types of nodes; null: none. Must outlive the rules
  std::uint64_t memory_bytes = 0;     // limit for what counting holds; 0: 1 GiB
  // If set, called often while counting. When it returns true, counting ends with absl::CancelledError.
  std::function<bool()> stop = nullptr;
};

// For each rule, the plausible nodes among [first, last). Written by one owner.
class TypeMask {
 public:
  // Bytes of a mask.
  static std::uint64_t Bytes(std::uint64_t rules, std::uint64_t nodes) { return rules * Words(nodes) * 8; }

  // REQUIRES: rule < the rules' size(), first <= node < last
  bool Contains(std::size_t rule, std::uint64_t node) const {
    const std::uint64_t bit = node - first_;
    return (words_[rule * words_per_rule_ + bit / 64] >> (bit % 64) & 1U) != 0;
  }
  // Returns the number of plausible nodes.
  std::uint64_t Count(std::size_t rule) const;

 private:
  friend class TypeRules;
  static std::uint64_t Words(std::uint64_t nodes) { return (nodes + 63) / 64; }

  std::uint64_t first_ = 0;
  std::uint64_t words_per_rule_ = 0;
  std::vector<std::uint64_t> words_;  // [rules, words_per_rule_]
};

// The rules of some places. Constant after Count; any thread.
class TypeRules {
 public:
  // Counts what the nodes at `places` have in common; reads the training edges at least twice, in pieces that fit the
  // memory. A pure function of graph, places, share and types.
  // REQUIRES: places are below PlaceCount(graph)
  static absl::StatusOr<TypeRules> Count(const Graph& graph, std::vector<std::uint64_t> places,
                                         const TypeRuleOptions& options);

  // Returns the smallest memory_bytes that Count respects for a graph, with `type_count` given types. The result is
  // smaller. With less it works, but holds that much.
  static std::uint64_t LeastBytes(const Graph& graph, std::uint64_t type_count);

  std::size_t size() const { return open_.size(); }
  // REQUIRES: the place is one of Count's
  std::size_t RuleOf(std::uint64_t place) const { return rules_[place]; }
  std::uint64_t Bytes() const;

  // Makes `mask` that of the nodes [first, last), in parallel. REQUIRES: `places` covers these nodes
  void Mark(const NodePlaces& places, std::uint64_t first, std::uint64_t last, TypeMask& mask) const;

 private:
  friend class TypeRuleCounter;
  static constexpr std::uint32_t kNoRule = UINT32_MAX;

  // Calls use(rule), perhaps repeatedly, for each rule by which a node with these places and given types is plausible.
  template <typename Use>
  void ForEachRule(std::span<const NodePlace> places, std::span<const std::uint32_t> types, const Use& use) const;

  TypeRules(const Graph& graph, std::vector<std::uint64_t> places, const TypeRuleOptions& options);

  const NodeLabels* types_;
  std::uint64_t place_count_;
  std::vector<std::uint32_t> rules_;  // [places] of the graph: the rule, or kNoRule
  std::vector<char> open_;            // [rules]: no training edge has the place
  // The rules that what a node has makes plausible: feature f is place f or, from place_count_ on, a given type.
  std::vector<std::uint64_t> offsets_;   // [features + 1]
  std::vector<std::uint32_t> admitted_;  // of feature f: [offsets_[f], offsets_[f + 1])
};

}  // namespace octavo
