// Link prediction by ranking: the answer of each held-out triple among all nodes, on both sides (Bordes et al.,
// "Translating Embeddings for Modeling Multi-relational Data", NIPS 2013).
//
// For a triple (h, r, t) the tail side ranks t among all candidates of (h, r, ?), the head side h among those of
// (?, r, t). Filtered, the other answers known from train, valid and test do not count. Answers are ranked by exact
// scores; ties get the mean of the best and the worst rank, so a model that gives every node the same score ranks
// (n + 1) / 2 and not 1. Hits@k counts ranks up to k, a tied rank of 1.5 being no hit at 1.
//
// The table of embeddings is streamed, never held: a batch of triples (as many as the memory allows) has its queries
// gathered, then every block of the table is scored against all of them by GEMM.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/rank_metrics.h"

namespace octavo {

struct RankingOptions {
  Split split = Split::kTest;
  std::uint64_t candidates = 0;  // rank among this many random nodes, the same for all triples; 0: among all
  std::uint64_t sample = 0;      // rank this many random triples of the split; 0: all
  std::uint64_t seed = 1;        // of both draws
  bool per_relation = false;
  std::uint64_t memory_bytes = 0;  // bound on what the ranking holds; 0: 1 GiB
  // Rows read at a time; 0: by memory, up to 2 MiB. Results do not depend on it.
  std::uint64_t block_rows = 0;
  // Called with the share that is done, in [0, 1], from any thread and often.
  std::function<void(double)> progress = {};
  // Asked often, on the calling thread: where it says true the ranking ends with an absl::CancelledError.
  std::function<bool()> stop = {};
};

struct RankingReport {
  std::uint64_t triples = 0;     // ranked, each on both sides
  std::uint64_t candidates = 0;  // for each of them
  bool all_candidates = true;
  SideSums head;
  SideSums tail;
  struct Relation {
    RelationId relation{};
    SideSums head;
    SideSums tail;

    SideSums Both() const { return head + tail; }
  };
  std::vector<Relation> relations;  // with per_relation: those with triples, by falling count, then id

  SideSums Both() const { return head + tail; }
};

// Returns the least RankingOptions::memory_bytes that a ranking with `threads` keeps to. With less it works, but holds
// that much.
std::uint64_t LeastRankingMemory(const Graph& graph, const ModelSpec& model, const RankingOptions& options,
                                 int threads);

// Ranks the triples of a split. Runs on the calling thread's TBB arena and one thread that reads ahead. The result is a
// pure function of tables, graph and options.split, candidates, sample and seed: the same bits for any number of
// threads, memory and block size. An empty split is a usage error, a NaN or infinite parameter an error that names its
// place.
absl::StatusOr<RankingReport> RankTriples(const EmbeddedGraph& embedded, const RankingOptions& options);

}  // namespace octavo
