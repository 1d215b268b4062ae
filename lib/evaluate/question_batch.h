// A batch of triples to rank: its questions as query vectors, and the exact scores of their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/known_answers.h"
#include "evaluate/rank_metrics.h"

namespace octavo {

// Triples with the same question share a query vector, and answers with the same score share a threshold. Built in
// parallel and used by one owner, except that AddToBins fills the bins from several threads.
class QuestionBatch {
 public:
  // Reads the rows of the batch's nodes and computes the queries. `embedded` must outlive the batch.
  static absl::StatusOr<QuestionBatch> Make(const EmbeddedGraph& embedded, std::span<const Edge> triples);

  // Rows of nodes are gathered in pieces of this size.
  static constexpr std::uint64_t kGatherBytes = 2 << 20;

  // Memory of one triple in a batch, both sides, including what Make needs temporarily.
  static std::uint64_t BytesPerTriple(const ModelSpec& model);

  const QuestionIndex& questions() const { return questions_; }
  std::size_t size() const { return questions_.size(); }
  // Returns the query vectors of questions [begin, end): [end - begin, dim].
  std::span<const float> Queries(std::size_t begin, std::size_t end) const;
  // Returns the distinct scores of the answers to `question`, ascending.
  std::span<const float> Thresholds(std::size_t question) const;
  // The bins in which AddToBins counts for `question`: all candidates, or the known answers among them.
  std::span<std::uint64_t> CandidateBins(std::size_t question) { return BinsOf(candidate_bins_, question); }
  std::span<std::uint64_t> KnownBins(std::size_t question) { return BinsOf(known_bins_, question); }

  // Ranks of one triple. SumBins must have been called.
  struct Ranks {
    double filtered = 0;
    double raw = 0;
  };
  void SumBins();  // in parallel
  // `answer_is_candidate`: the answer itself was counted among the candidates. REQUIRES: triple < number of triples
  Ranks RanksOf(std::size_t triple, Side side, bool answer_is_candidate) const;

 private:
  // The answer that one triple gives on one side.
  struct Answer {
    std::uint64_t node = 0;
    std::uint32_t question = 0;
    float score = 0.0F;
    std::size_t threshold = 0;  // index in thresholds_
  };

  // The thresholds of one question in thresholds_, which has room for one per answer.
  struct ThresholdRange {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  QuestionBatch(const EmbeddedGraph& embedded, std::span<const Edge> triples, std::vector<LinkQuestion> questions);
  absl::Status ReadQueries();
  absl::Status ScoreAnswers();
  absl::Status CheckScores() const;
  void MakeThresholds();
  std::span<std::uint64_t> BinsOf(std::vector<std::uint64_t>& bins, std::size_t question) {
    return std::span(bins).subspan(2 * ranges_[question].first, 2 * ranges_[question].count);
  }

  const EmbeddedGraph* embedded_;
  QuestionIndex questions_;
  std::vector<Answer> answers_;         // [triples][tail side, head side]
  std::unique_ptr<float[]> queries_;    // [questions, dim]; pages are first touched by the threads that fill it
  std::vector<float> thresholds_;       // [answers]
  std::vector<ThresholdRange> ranges_;  // [questions]
  std::vector<std::uint64_t> candidate_bins_;
  std::vector<std::uint64_t> known_bins_;
};

}  // namespace octavo
