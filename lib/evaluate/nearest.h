// Searches of the whole table for one query: the nodes most like a node, and the likeliest ends of an edge. Exact:
// every row is scored, streamed block by block, so memory does not grow with the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/known_answers.h"
#include "evaluate/top_k.h"

namespace octavo {

// How alike two rows are: their cosine (0 where a row is all zero), or their inner product.
enum class Similarity { kCosine, kDot };

struct SearchOptions {
  std::size_t k = 10;
  std::uint64_t memory_bytes = 0;  // bound on what the search holds beside its answers; 0: 1 GiB
  std::uint64_t block_rows = 0;    // rows read at a time; 0: by memory, up to 16 MiB. Results depend on neither.
  // If it is there, it is asked for every block, from this thread; when it says true the search ends with
  // absl::CancelledError.
  std::function<bool()> stop = nullptr;
};

// Returns the least SearchOptions::memory_bytes that a search keeps to. With less it works, but holds that much.
std::uint64_t LeastSearchMemory(const EmbeddedGraph& embedded);

// Returns the k nodes other than `node` whose rows are most like its own, best first, ties by id.
// REQUIRES: node is a node of the graph
absl::StatusOr<std::vector<ScoredNode>> NearestNodes(const EmbeddedGraph& embedded, NodeId node, Similarity similarity,
                                                     const SearchOptions& options);

// What becomes of answers that stand in train, valid or test.
enum class KnownEdges { kHide, kMark };

struct Prediction {
  NodeId node{};
  float score = 0.0F;
  bool known = false;

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

struct Predictions {
  std::vector<Prediction> nodes;  // best first, ties by id
  std::uint64_t known = 0;        // all nodes that answer the question in train, valid or test

  friend bool operator==(const Predictions&, const Predictions&) = default;
};

// Returns the k nodes that answer `question` best by the model's score.
// REQUIRES: the question's node and relation are of the graph
absl::StatusOr<Predictions> PredictLinks(const EmbeddedGraph& embedded, const LinkQuestion& question,
                                         KnownEdges known_edges, const SearchOptions& options);

}  // namespace octavo
