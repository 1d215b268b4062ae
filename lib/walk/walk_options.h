// Which walks octavo walk takes, and which pairs of nodes it makes of them.
//
//   deepwalk  `walks` walks from each node, each step to a neighbour by weight; pairs within a window
//             Perozzi et al., "DeepWalk", KDD 2014
//   node2vec  the same with steps of second order: by weight times 1/p back to the node before, 1 to one of its
//             neighbours, 1/q to any other                            Grover and Leskovec, "node2vec", KDD 2016
//   ppr       `samples` walks from each node that go on with probability alpha: the pair of first and last node is a
//             draw of personalised PageRank                           Tsitsulin et al., "VERSE", WWW 2018
// Steps follow training edges from head to tail. A node without any ends the walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

enum class WalkKind { kDeepWalk, kNode2Vec, kPersonalPageRank };

// kBoth: each pair in both directions. kForward: from the earlier node of a walk to the later one only.
enum class PairDirection { kBoth, kForward };

struct WalkOptions {
  WalkKind kind = WalkKind::kDeepWalk;
  std::uint64_t walks = 10;     // from each node; not of ppr
  std::uint64_t length = 80;    // nodes of a walk, the first included; not of ppr
  std::uint64_t window = 10;    // steps between the nodes of a pair, at most; not of ppr
  double p = 1;                 // of node2vec: the larger, the rarer a step back
  double q = 1;                 // of node2vec: the larger, the nearer a walk stays
  double alpha = 0.85;          // of ppr
  std::uint64_t samples = 200;  // from each node; of ppr
  PairDirection pairs = PairDirection::kBoth;
  bool keep_self_loops = false;  // pairs of a node with itself
  std::uint64_t seed = 1;

  bool windowed() const { return kind != WalkKind::kPersonalPageRank; }
  std::uint64_t walks_of_node() const { return windowed() ? walks : samples; }
  // Pairs that one walk gives at most.
  std::uint64_t pairs_of_walk() const;
  // The last nodes that a walk carries from step to step: those that make pairs with the next one, and those that
  // decide about it.
  std::size_t carried_nodes() const;
  // Buckets of walks whose next step needs the same of `ranges` ranges of partitions: those of their last node, for
  // node2vec together with those of the node before.
  std::size_t walker_buckets(std::size_t ranges) const {
    return kind == WalkKind::kNode2Vec ? ranges * ranges : ranges;
  }
};

inline constexpr std::uint64_t kMaxWalks = 1'000'000;
inline constexpr std::uint64_t kMaxLength = 10'000;
inline constexpr std::uint64_t kMaxWindow = 1'000;
// Far from 1 hardly any step that is drawn is taken.
inline constexpr double kMinBias = 0.001;
inline constexpr double kMaxBias = 1'000;
inline constexpr double kMaxAlpha = 0.999;

// "deepwalk", "node2vec" or "ppr".
std::string_view WalkKindName(WalkKind kind);

// A usage error names the flag, what was found and what is expected.
absl::Status ValidateWalkOptions(const WalkOptions& options);

}  // namespace octavo
