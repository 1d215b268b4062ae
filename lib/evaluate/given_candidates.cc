#include "evaluate/given_candidates.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/escape.h"
#include "base/status.h"
#include "evaluate/pair_scorer.h"
#include "evaluate/wanted_rows.h"
#include "fmt/format.h"
#include "format/paths.h"

namespace octavo {
namespace {

constexpr std::uint64_t kGatherBytes = std::uint64_t{2} << 20;  // rows are gathered in pieces of this size
constexpr std::uint64_t kLeastPairs = 4096;
constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 22;  // more would not make gathering cheaper
// A question and a node that it is compared with: its id twice, its place, its score, its question.
constexpr std::uint64_t kPairBytes = sizeof(NodeId) + 2 * sizeof(WantedRow) + sizeof(float) + sizeof(std::uint32_t);

std::uint64_t QuestionBytes(const EmbeddedGraph& embedded) {
  return embedded.model.dim * sizeof(float) + sizeof(GivenQuestion) + sizeof(WantedRow) + kPairBytes;
}

std::uint64_t FixedBytes(const EmbeddedGraph& embedded, int threads) {
  const auto workers = static_cast<std::uint64_t>(std::max(1, threads));
  return 2 * std::max(kGatherBytes, workers * embedded.model.dim * sizeof(float)) + QuestionFile::kBytes;
}

// Questions that are scored together. Pair p compares question pair_question[p] with pair_node[p]; the first pair of a
// question is its answer.
class Batch {
 public:
  explicit Batch(const EmbeddedGraph& embedded) : embedded_(embedded) {}

  bool empty() const { return questions_.empty(); }
  std::uint64_t Bytes() const { return nodes_.size() * kPairBytes + questions_.size() * QuestionBytes(embedded_); }
  std::size_t pairs() const { return nodes_.size(); }

  void Add(GivenQuestion question) {
    const auto number = static_cast<std::uint32_t>(questions_.size());
    firsts_.push_back(nodes_.size());
    nodes_.push_back(question.answer);
    nodes_.insert(nodes_.end(), question.candidates.begin(), question.candidates.end());
    question_of_.resize(nodes_.size(), number);
    question.candidates = {};
    questions_.push_back(std::move(question));
  }

  // Adds the ranks in the order of the questions, and empties the batch.
  absl::Status Rank(GivenCandidatesReport& report) {
    RETURN_IF_ERROR(Score());
    for (std::size_t q = 0; q < questions_.size(); ++q) {
      const std::size_t end = q + 1 < questions_.size() ? firsts_[q + 1] : nodes_.size();
      const float answer = scores_[firsts_[q]];
      std::uint64_t above = 0;
      std::uint64_t equal = 0;
      for (std::size_t p = firsts_[q] + 1; p < end; ++p) {
        above += scores_[p] > answer ? 1 : 0;
        equal += scores_[p] == answer ? 1 : 0;
      }
      report.candidates += end - firsts_[q] - 1;
      (questions_[q].side == Side::kTail ? report.tail : report.head).Add(TiedRank(above, equal));
    }
    questions_.clear();
    firsts_.clear();
    nodes_.clear();
    question_of_.clear();
    return absl::OkStatus();
  }

 private:
  absl::Status Score() {
    const std::size_t dim = embedded_.model.dim;
    std::vector<float> queries(questions_.size() * dim);
    const auto query_of = [&](std::size_t q) { return std::span(queries).subspan(q * dim, dim); };
    std::vector<WantedRow> wanted;
    for (std::size_t q = 0; q < questions_.size(); ++q) {
      wanted.push_back({Value(questions_[q].anchor), static_cast<std::uint32_t>(q)});
    }
    RETURN_IF_ERROR(ForEachWantedRow(embedded_, wanted, kGatherBytes, [&](std::size_t q, std::span<const float> row) {
      MakeLinkQuery(embedded_, questions_[q].side, questions_[q].relation, row, query_of(q));
    }));
    wanted.clear();
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      wanted.push_back({Value(nodes_[p]), static_cast<std::uint32_t>(p)});
    }
    scores_.resize(nodes_.size());
    PairScorer scorer(embedded_.model);
    RETURN_IF_ERROR(ForEachWantedRow(embedded_, wanted, kGatherBytes, [&](std::size_t p, std::span<const float> row) {
      scorer.Add(query_of(question_of_[p]), row, scores_[p]);
    }));
    scorer.Finish();
    const auto bad = std::find_if(scores_.begin(), scores_.end(), [](float score) { return !std::isfinite(score); });
    if (bad == scores_.end()) return absl::OkStatus();
    const auto pair = static_cast<std::size_t>(bad - scores_.begin());
    const GivenQuestion& question = questions_[question_of_[pair]];
    const Graph& graph = embedded_.graph;
    return RuntimeError(fmt::format(
        "the score of \"{}\", relation \"{}\", \"{}\" is {}; expected a finite number: the embeddings are too large "
        "for single precision",
        Escape(graph.nodes().Name(question.anchor)), Escape(graph.RelationName(question.relation)),
        Escape(graph.nodes().Name(nodes_[pair])), *bad));
  }

  const EmbeddedGraph& embedded_;
  std::vector<GivenQuestion> questions_;  // without their candidates
  std::vector<std::size_t> firsts_;       // [questions], the first pair of each
  std::vector<NodeId> nodes_;             // [pairs]
  std::vector<std::uint32_t> question_of_;
  std::vector<float> scores_;
};

}  // namespace

std::uint64_t LeastGivenCandidatesMemory(const EmbeddedGraph& embedded, int threads) {
  return FixedBytes(embedded, threads) + 2 * kLeastPairs * (kPairBytes + QuestionBytes(embedded) / 8);
}

absl::StatusOr<GivenCandidatesReport> RankGivenCandidates(const EmbeddedGraph& embedded, const std::string& path,
                                                          std::uint64_t memory_bytes,
                                                          const std::function<void(std::uint64_t)>& progress) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  const std::uint64_t fixed = FixedBytes(embedded, 1);
  const std::uint64_t room = memory_bytes > fixed ? (memory_bytes - fixed) / 2 : 0;  // vectors double
  ASSIGN_OR_RETURN(QuestionFile file, QuestionFile::Open(embedded.graph, path));
  GivenCandidatesReport report;
  Batch batch(embedded);
  while (true) {
    ASSIGN_OR_RETURN(std::optional<GivenQuestion> question, file.Next());
    if (question) batch.Add(*std::move(question));
    const bool full = batch.pairs() >= kMostPairs || (batch.pairs() >= kLeastPairs && batch.Bytes() >= room);
    if (!batch.empty() && (full || !question)) {
      RETURN_IF_ERROR(batch.Rank(report));
      if (progress) progress(report.Both().count);
    }
    if (!question) break;
  }
  report.unknown_questions = file.unknown_questions();
  report.unknown_candidates = file.unknown_candidates();
  if (report.Both().count > 0) return report;
  return InputError(report.unknown_questions.lines == 0
                        ? fmt::format("{}: found no question", path)
                        : fmt::format("{}: found no question of {} in {} lines; \"{}\" is the first unknown name", path,
                                      embedded.graph.paths().folder().string(), report.unknown_questions.lines,
                                      Escape(report.unknown_questions.first)));
}

}  // namespace octavo
