// Ranks of answers among candidates that a benchmark gives for each question, as in the link prediction of the Open
// Graph Benchmark (Hu et al., NeurIPS 2020): the rank among these and the answer, and nothing is filtered. Ties get the
// mean of the best and the worst rank; a candidate that is the answer itself is a tie.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/question_file.h"
#include "evaluate/rank_metrics.h"

namespace octavo {

struct GivenCandidatesReport {
  RankSums head;
  RankSums tail;
  std::uint64_t candidates = 0;  // of all questions
  UnknownNames unknown_questions;
  UnknownNames unknown_candidates;

  RankSums Both() const { return head + tail; }
};

// The smallest memory that RankGivenCandidates respects.
std::uint64_t LeastGivenCandidatesMemory(const EmbeddedGraph& embedded, int threads);

// Ranks the questions of `path`. Holds at most `memory_bytes`, or the least, and one question. `progress` is called
// from time to time with the number of questions done. The result is a pure function of tables, graph and file: the
// same bits for any number of threads and any memory. A file without a known question is an input error.
absl::StatusOr<GivenCandidatesReport> RankGivenCandidates(const EmbeddedGraph& embedded, const std::string& path,
                                                          std::uint64_t memory_bytes,
                                                          const std::function<void(std::uint64_t)>& progress = {});

}  // namespace octavo
