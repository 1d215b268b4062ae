// Searches the whole table for one query: the nodes most similar to a node, or the likeliest ends of an edge. Exact:
// scores every row, block by block, so memory does not grow with the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/known_answers.h"
#include "evaluate/top_k.h"
#include "evaluate/type_rules.h"

namespace octavo {

// The similarity of two rows: their cosine (0 if a row is all zero) or their inner product.
enum class Similarity { kCosine, kDot };

struct NodeSearchOptions {
  std::size_t k = 10;
  std::uint64_t memory_bytes = 0;  // limit for what the search holds apart from its answers; 0: 1 GiB
  std::uint64_t block_rows = 0;    // rows read at a time; 0: by memory, up to 16 MiB. Results depend on neither.
  // If set, called for every block, from the calling thread. When it returns true the search ends with
  // absl::CancelledError.
  std::function<bool()> stop = nullptr;
};

// Returns the smallest NodeSearchOptions::memory_bytes that a search respects. With less it works, but holds that much.
std::uint64_t LeastSearchMemory(const EmbeddedGraph& embedded);

// Returns the k nodes other than `node` whose rows are most similar to its row, best first, ties by id.
// REQUIRES: node is a node of the graph
absl::StatusOr<std::vector<ScoredNode>> NearestNodes(const EmbeddedGraph& embedded, NodeId node, Similarity similarity,
                                                     const NodeSearchOptions& options);

// The same for a vector [dim], among the nodes that are not in `skip`.
// REQUIRES: `skip` is ascending
absl::StatusOr<std::vector<ScoredNode>> NearestToVector(const EmbeddedGraph& embedded, std::span<const float> vector,
                                                        std::span<const std::uint64_t> skip, Similarity similarity,
                                                        const NodeSearchOptions& options);

// What to do with answers that are in train, valid or test.
enum class KnownEdges { kHide, kMark };

struct Prediction {
  NodeId node{};
  float score = 0.0F;
  bool known = false;
  bool plausible = true;  // by the rules of types, if any

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

struct Predictions {
  std::vector<Prediction> nodes;  // plausible ones first, then best first, ties by id
  std::uint64_t known = 0;        // all nodes that answer the question in train, valid or test; of model dot in
                                  // either direction

  friend bool operator==(const Predictions&, const Predictions&) = default;
};

// Returns the k nodes with the best scores as answers to `question`. With `types`, the nodes that are plausible at its
// open end come first, then the others. With model dot, or in a graph of one relation, the asked node is left out with
// the known ones.
// REQUIRES: the question's node and relation are in the graph; `types` has a rule for the open end
absl::StatusOr<Predictions> PredictLinks(const EmbeddedGraph& embedded, const LinkQuestion& question,
                                         KnownEdges known_edges, const NodeSearchOptions& options,
                                         const TypeRules* types = nullptr);

}  // namespace octavo
