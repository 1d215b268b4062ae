// Which walks octavo walk takes, and which pairs of nodes it counts.
//
//   deepwalk  `walks` walks from each node, each step to a neighbour by weight; pairs within a window
//             Perozzi et al., "DeepWalk", KDD 2014
//   node2vec  the same with second-order steps: weight times 1/p back to the previous node, 1 to one of its
//             neighbours, 1/q to any other                            Grover and Leskovec, "node2vec", KDD 2016
//   ppr       `samples` walks from each node that continue with probability alpha: the pair of first and last node is
//             a draw of personalised PageRank                         Tsitsulin et al., "VERSE", WWW 2018
// Steps follow training edges from head to tail, or both ways. A walk ends at a node without any.
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
  std::uint64_t walks = 10;     // from each node; not for ppr
  std::uint64_t length = 80;    // nodes of a walk, including the first; not for ppr
  std::uint64_t window = 10;    // most steps between the nodes of a pair; not for ppr
  double p = 1;                 // node2vec: the larger, the rarer a step back
  double q = 1;                 // node2vec: the larger, the closer a walk stays
  double alpha = 0.85;          // ppr
  std::uint64_t samples = 200;  // ppr: walks from each node
  PairDirection pairs = PairDirection::kBoth;
  bool keep_self_loops = false;  // pairs of a node with itself
  bool both_ways = false;        // steps follow edges also from tail to head
  std::uint64_t seed = 1;

  bool windowed() const { return kind != WalkKind::kPersonalPageRank; }
  std::uint64_t walks_of_node() const { return windowed() ? walks : samples; }
  // The most pairs that one walk can give.
  std::uint64_t pairs_of_walk() const;
  // The number of last nodes that a walk keeps between steps: those that make pairs with the next node, and those that
  // the next step depends on.
  std::size_t carried_nodes() const;
  // The number of buckets when walks are grouped by the data their next step needs, with `ranges` ranges of partitions:
  // one for each range of the last node; for node2vec one for each pair of ranges of the last two nodes.
  std::size_t walker_buckets(std::size_t ranges) const {
    return kind == WalkKind::kNode2Vec ? ranges * ranges : ranges;
  }
};

inline constexpr std::uint64_t kMaxWalks = 1'000'000;
inline constexpr std::uint64_t kMaxLength = 10'000;
inline constexpr std::uint64_t kMaxWindow = 1'000;
// Far from 1, hardly any drawn step is accepted.
inline constexpr double kMinBias = 0.001;
inline constexpr double kMaxBias = 1'000;
inline constexpr double kMaxAlpha = 0.999;

// "deepwalk", "node2vec" or "ppr".
std::string_view WalkKindName(WalkKind kind);

// Returns a usage error that names the flag, what was found and what is expected.
absl::Status ValidateWalkOptions(const WalkOptions& options);

}  // namespace octavo
