// Link prediction as a classification: how well the model's scores tell held-out edges from pairs that are no edges
// (Liben-Nowell & Kleinberg, "The link-prediction problem for social networks", 2007; area under the ROC curve and
// average precision as in Grover & Leskovec, "node2vec", KDD 2016).
//
// Each edge of a split gets one random non-edge (non_edges.h). Where the model gives a pair and its reverse the same
// score, which dot and distmult do, the reverse of an edge is no non-edge; where it knows no relations, which dot and
// source-context do not, an edge of another relation is none either. The score of a triple (h, r, t) is the one
// that ranks t for (h, r, ?), with reciprocal relations, too.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

struct LinkPredictionOptions {
  Split split = Split::kTest;
  std::uint64_t sample = 0;        // take this many random edges of the split; 0: all
  std::uint64_t seed = 1;          // of the sample and of the non-edges
  std::uint64_t memory_bytes = 0;  // bound on what is held; 0: 1 GiB
  // Called with the share that is done, in [0, 1].
  std::function<void(double)> progress = {};
};

struct LinkPredictionReport {
  std::uint64_t edges = 0;
  std::uint64_t non_edges = 0;  // fewer than edges where none was found for some (non_edges.h)
  double auc = 0;
  double average_precision = 0;
};

// Returns the least LinkPredictionOptions::memory_bytes that PredictHeldOutEdges keeps to: scores are held, 8 bytes for
// each edge.
std::uint64_t LeastLinkPredictionMemory(const EmbeddedGraph& embedded, const LinkPredictionOptions& options,
                                        int threads);

// Runs on the calling thread's TBB arena; rows are gathered as they are needed. The result is a pure function of
// tables, graph, split, sample and seed: the same bits for any number of threads and any memory. A usage error where
// the split has no edges, a runtime error where no pair is a non-edge or the embeddings are not finite.
absl::StatusOr<LinkPredictionReport> PredictHeldOutEdges(const EmbeddedGraph& embedded,
                                                         const LinkPredictionOptions& options);

// Writes the score of each triple, the one of its tail for (head, relation, ?). Holds a row of floats and
// 24 bytes for each triple, and some MiB. A score that is not finite is a runtime error. scores: [triples]
absl::Status ScoreTriples(const EmbeddedGraph& embedded, std::span<const Edge> triples, std::span<float> scores);

}  // namespace octavo
