// A batch of triples to rank: its questions as query vectors, and the exact scores of their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  // `typed`: with bins of the plausible candidates.
  static absl::StatusOr<QuestionBatch> Make(const EmbeddedGraph& embedded, std::span<const Edge> triples,
                                            bool typed = false);

  // Rows of nodes are gathered in pieces of this size.
  static constexpr std::uint64_t kGatherBytes = 2 << 20;

  // Memory of one triple in a batch, both sides, including what Make needs temporarily.
  static std::uint64_t BytesPerTriple(const ModelSpec& model, bool typed = false);

  const QuestionIndex& questions() const { return questions_; }
  std::size_t size() const { return questions_.size(); }
  // Returns the query vectors of questions [begin, end): [end - begin, dim].
  std::span<const float> Queries(std::size_t begin, std::size_t end) const;
  // Returns the distinct scores of the answers to `question`, ascending.
  std::span<const float> Thresholds(std::size_t question) const;
  // The bins in which AddToBins counts for `question`: all candidates, or the known answers among them.
  std::span<std::uint64_t> CandidateBins(std::size_t question) { return BinsOf(candidate_bins_, question); }
  std::span<std::uint64_t> KnownBins(std::size_t question) { return BinsOf(known_bins_, question); }
  // The same of the plausible candidates. REQUIRES: typed
  std::span<std::uint64_t> TypedBins(std::size_t question) { return BinsOf(typed_bins_, question); }
  std::span<std::uint64_t> TypedKnownBins(std::size_t question) { return BinsOf(typed_known_bins_, question); }
  // Notes which answers among the nodes [first, last) are plausible: plausible(question, node). REQUIRES: typed
  void NoteAnswers(std::uint64_t first, std::uint64_t last,
                   const std::function<bool(std::size_t, std::uint64_t)>& plausible);

  // Ranks of one triple. SumBins must have been called.
  struct Ranks {
    double filtered = 0;
    double raw = 0;
    double typed = 0;        // if typed
    bool plausible = false;  // the answer itself
  };
  // Calls `add_up` with what was counted, before SumBins: several processes have counted parts.
  absl::Status AddUp(const std::function<absl::Status(std::span<std::uint64_t>)>& add_up);
  void SumBins();  // in parallel
  // Returns the question of a triple and side. REQUIRES: triple < number of triples
  std::size_t QuestionOf(std::size_t triple, Side side) const { return answers_[AnswerOf(triple, side)].question; }
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

  static std::size_t AnswerOf(std::size_t triple, Side side) { return 2 * triple + (side == Side::kTail ? 0 : 1); }
  QuestionBatch(const EmbeddedGraph& embedded, std::span<const Edge> triples, std::vector<LinkQuestion> questions);
  absl::Status ReadQueries();
  absl::Status ScoreAnswers();
  absl::Status CheckScores() const;
  void MakeThresholds();
  void MakeTypedBins();
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
  // If typed.
  bool typed_ = false;
  std::vector<std::uint64_t> typed_bins_;
  std::vector<std::uint64_t> typed_known_bins_;
  std::vector<std::uint32_t> by_node_;  // the answers, ascending by node
  std::vector<char> plausible_;         // [answers]
};

}  // namespace octavo
