// Link prediction by ranking: ranks the answer of each held-out triple among all nodes, on both sides (Bordes et al.,
// "Translating Embeddings for Modeling Multi-relational Data", NIPS 2013).
//
// For a triple (h, r, t) the tail side ranks t among all candidates for (h, r, ?), the head side ranks h among those
// for (?, r, t). The filtered rank ignores the other answers known from train, valid and test. Answers are ranked by
// exact scores. Ties get the mean of the best and the worst rank: a model that gives every node the same score gets
// rank (n + 1) / 2, not 1. Hits@k counts ranks up to k; a tied rank of 1.5 is not a hit at 1.
//
// The embedding table is read in blocks, never held as a whole. For each batch of triples (as many as the memory
// allows) the queries are gathered; then every block of the table is scored against all of them by GEMM.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/edge.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/rank_metrics.h"
#include "evaluate/type_rules.h"

namespace octavo {

// Several processes rank the same triples together: each scores its part of the nodes, and the counts of all are added
// up, so the result is that of one process.
struct RankingShare {
  std::uint64_t part = 0;
  std::uint64_t parts = 1;
  // Returns the least of the values that the processes give.
  std::function<absl::StatusOr<std::uint64_t>(std::uint64_t)> least = {};
  // Replaces the counts by their sums over all processes.
  std::function<absl::Status(std::span<std::uint64_t>)> add_up = {};
};

struct RankingOptions {
  Split split = Split::kTest;
  std::uint64_t candidates = 0;  // rank among this many random nodes, the same for all triples; 0: all
  // If any, ascending and distinct: rank among these nodes. An end that is not among them is not ranked.
  std::vector<std::uint64_t> candidate_nodes = {};
  std::uint64_t sample = 0;  // rank this many random triples of the split; 0: all
  std::uint64_t seed = 1;    // for both draws
  bool per_relation = false;
  // If set, ranks each answer also among the nodes that are plausible by these rules (type_rules.h) and the answer.
  // Their memory and stop are ignored. REQUIRES: all nodes are candidates
  std::optional<TypeRuleOptions> types = {};
  std::uint64_t memory_bytes = 0;  // limit for what the ranking holds; 0: 1 GiB
  // Rows read at a time; 0: by memory, up to 2 MiB. Results do not depend on it.
  std::uint64_t block_rows = 0;
  RankingShare share = {};
  // Called with the share done, in [0, 1], from any thread and often.
  std::function<void(double)> progress = {};
  // Called often, on the calling thread. When it returns true the ranking ends with absl::CancelledError.
  std::function<bool()> stop = {};
};

struct RankingReport {
  std::uint64_t triples = 0;     // ranked, each on both sides unless the candidates are given
  std::uint64_t candidates = 0;  // for each of them
  bool all_candidates = true;
  SideSums head;
  SideSums tail;
  // With types: the answers that are plausible, and the plausible candidates of all answers together.
  std::uint64_t plausible_answers = 0;
  std::uint64_t plausible_candidates = 0;
  struct Relation {
    RelationId relation{};
    std::uint64_t triples = 0;
    SideSums head;
    SideSums tail;

    SideSums Both() const { return head + tail; }
  };
  std::vector<Relation> relations;  // with per_relation: relations with triples, by descending count, then id

  SideSums Both() const { return head + tail; }
};

// Returns the smallest RankingOptions::memory_bytes that a ranking with `threads` respects. With less it works, but
// holds that much.
std::uint64_t LeastRankingMemory(const Graph& graph, const ModelSpec& model, const RankingOptions& options,
                                 int threads);

// Ranks the triples of a split. Runs on the calling thread's TBB arena and one thread that reads ahead. The result is a
// pure function of tables, graph and options.split, candidates, candidate_nodes, sample and seed: the same bits for any
// number of threads, memory and block size. An empty split is a usage error, and so are given candidates none of which
// is an end of a triple; a NaN or infinite parameter is an error that names its place.
absl::StatusOr<RankingReport> RankTriples(const EmbeddedGraph& embedded, const RankingOptions& options);

}  // namespace octavo
