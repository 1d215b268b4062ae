// Link prediction as classification: how well the model's scores separate held-out edges from pairs that are not edges
// (Liben-Nowell & Kleinberg, "The link-prediction problem for social networks", 2007; area under the ROC curve and
// average precision as in Grover & Leskovec, "node2vec", KDD 2016).
//
// Each edge of a split gets one random non-edge (non_edges.h), unless negatives or candidates are given. If the model
// gives a pair and its reverse the same score (dot, distmult), the reverse of an edge is not a non-edge. If it ignores
// relations (dot, source-context), neither is an edge with another relation. The score of a triple (h, r, t) is the one
// that ranks t for (h, r, ?), also with reciprocal relations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

struct LinkPredictionOptions {
  Split split = Split::kTest;
  std::uint64_t sample = 0;  // number of random edges of the split; 0: all
  std::uint64_t seed = 1;    // for the sample and the non-edges
  // At most one of them has elements. The negatives; they may be edges of the graph. Or nodes, ascending and distinct:
  // the negatives of an edge are all triples with one of these in place of its tail, and of its head, that are no
  // edges; an end that is not among them has none.
  std::vector<Edge> negatives = {};
  std::vector<std::uint64_t> candidate_nodes = {};
  std::uint64_t memory_bytes = 0;  // limit for what is held in addition to the negatives; 0: 1 GiB
  // Called with the share done, in [0, 1].
  std::function<void(double)> progress = {};
};

struct LinkPredictionReport {
  std::uint64_t edges = 0;
  std::uint64_t unlisted_edges = 0;   // with candidates: left out, as neither end is a candidate
  std::uint64_t non_edges = 0;        // drawn: fewer than edges if some have none (non_edges.h)
  std::uint64_t known_negatives = 0;  // given negatives that are edges of train, valid or test
  double auc = 0;
  double average_precision = 0;
  // The share of edges that score higher than the k-th best negative, for each k of kSharedHits; 1 with fewer negatives
  // (Hits@K of the Open Graph Benchmark, whose negatives are shared by all edges).
  std::array<double, 4> hits{};
};

inline constexpr std::array<std::size_t, 4> kSharedHits = {10, 20, 50, 100};

// Returns the smallest LinkPredictionOptions::memory_bytes that PredictHeldOutEdges respects: it holds the scores, 8
// bytes for each edge, or 4 for each edge and negative.
std::uint64_t LeastLinkPredictionMemory(const EmbeddedGraph& embedded, const LinkPredictionOptions& options,
                                        int threads);

// Runs on the calling thread's TBB arena; gathers rows when needed. The result is a pure function of tables, graph,
// split, sample, seed and given negatives or candidates: the same bits for any number of threads and any memory. A
// usage error if the split has no edges; a runtime error if no pair is a non-edge or the embeddings are not finite.
absl::StatusOr<LinkPredictionReport> PredictHeldOutEdges(const EmbeddedGraph& embedded,
                                                         const LinkPredictionOptions& options);

// Computes the score of each triple, that of its tail for (head, relation, ?). Holds a row of floats and 24 bytes for
// each triple, and some MiB. A score that is not finite is a runtime error. scores: [triples]
absl::Status ScoreTriples(const EmbeddedGraph& embedded, std::span<const Edge> triples, std::span<float> scores);

}  // namespace octavo
