#include "evaluate/question_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "evaluate/score_bins.h"
#include "evaluate/wanted_rows.h"
#include "fmt/format.h"
#include "model/scorer.h"
#include "oneapi/tbb/enumerable_thread_specific.h"

namespace octavo {
namespace {

constexpr std::array<Side, 2> kSides = {Side::kTail, Side::kHead};

LinkQuestion QuestionOf(const Edge& triple, Side side) {
  return {side == Side::kTail ? triple.head : triple.tail, triple.relation, side};
}

std::uint64_t AnswerOf(const Edge& triple, Side side) { return Value(side == Side::kTail ? triple.tail : triple.head); }

std::vector<LinkQuestion> QuestionsOf(std::span<const Edge> triples) {
  std::vector<LinkQuestion> questions;
  questions.reserve(2 * triples.size());
  for (const Edge& triple : triples) {
    for (const Side side : kSides) questions.push_back(QuestionOf(triple, side));
  }
  return questions;
}

}  // namespace

std::uint64_t QuestionBatch::BytesPerTriple(const ModelSpec& model) {
  // A side: query, threshold (its vector may have grown to twice as much) and its bins, answer, question with its place
  // in a hash map that may be half empty, wanted row and its node.
  constexpr std::uint64_t kSideBytes = 2 * sizeof(float) + 4 * sizeof(std::uint64_t) + sizeof(Answer) +
                                       5 * sizeof(LinkQuestion) + sizeof(WantedRow) + 2 * sizeof(std::uint64_t);
  return 2 * (model.dim * sizeof(float) + kSideBytes) + sizeof(Edge);
}

QuestionBatch::QuestionBatch(const EmbeddedGraph& embedded, std::span<const Edge> triples,
                             std::vector<LinkQuestion> questions)
    : embedded_(&embedded), questions_(std::move(questions)) {
  answers_.reserve(2 * triples.size());
  for (const Edge& triple : triples) {
    for (const Side side : kSides) {
      answers_.push_back({AnswerOf(triple, side), questions_.Find(QuestionOf(triple, side))});
    }
  }
}

absl::StatusOr<QuestionBatch> QuestionBatch::Make(const EmbeddedGraph& embedded, std::span<const Edge> triples) {
  QuestionBatch batch(embedded, triples, QuestionsOf(triples));
  RETURN_IF_ERROR(batch.ReadQueries());
  RETURN_IF_ERROR(batch.ScoreAnswers());
  RETURN_IF_ERROR(batch.CheckScores());
  batch.MakeThresholds();
  return batch;
}

absl::Status QuestionBatch::ReadQueries() {
  const std::size_t dim = embedded_->model.dim;
  queries_.resize(questions_.size() * dim);
  std::vector<WantedRow> wanted(questions_.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = {Value(questions_[i].known), static_cast<std::uint32_t>(i)};
  }
  return ForEachWantedRow(*embedded_, wanted, kGatherBytes, [&](std::size_t question, std::span<const float> row) {
    MakeLinkQuery(*embedded_, questions_[question].side, questions_[question].relation, row,
                  std::span(queries_).subspan(question * dim, dim));
  });
}

absl::Status QuestionBatch::ScoreAnswers() {
  std::vector<WantedRow> wanted(answers_.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = {answers_[i].node, static_cast<std::uint32_t>(i)};
  tbb::enumerable_thread_specific<ScoreScratch> scratch;
  return ForEachWantedRow(*embedded_, wanted, kGatherBytes, [&](std::size_t index, std::span<const float> row) {
    Answer& answer = answers_[index];
    ScoreBlock(embedded_->model, Queries(answer.question, answer.question + 1), 1, row, 1, scratch.local(),
               std::span(&answer.score, 1));
  });
}

absl::Status QuestionBatch::CheckScores() const {
  const auto bad =
      std::find_if(answers_.begin(), answers_.end(), [](const Answer& answer) { return !std::isfinite(answer.score); });
  if (bad == answers_.end()) return absl::OkStatus();
  const LinkQuestion& question = questions_[bad->question];
  const Graph& graph = embedded_->graph;
  return RuntimeError(fmt::format(
      "the score of an edge between \"{}\" and \"{}\" with relation \"{}\" is {}; expected a finite number: the "
      "embeddings are too large for single precision",
      Escape(graph.nodes().Name(question.known)), Escape(graph.nodes().Name(NodeId{bad->node})),
      Escape(graph.RelationName(question.relation)), bad->score));
}

void QuestionBatch::MakeThresholds() {
  std::vector<std::uint32_t> order(answers_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(answers_[a].question, answers_[a].score) < std::pair(answers_[b].question, answers_[b].score);
  });
  first_threshold_.assign(questions_.size() + 1, 0);
  const Answer* before = nullptr;
  for (const std::uint32_t index : order) {
    Answer& answer = answers_[index];
    if (before == nullptr || before->question != answer.question || before->score != answer.score) {
      thresholds_.push_back(answer.score);
      ++first_threshold_[answer.question + 1];
    }
    answer.threshold = thresholds_.size() - 1;
    before = &answer;
  }
  for (std::size_t i = 0; i < questions_.size(); ++i) first_threshold_[i + 1] += first_threshold_[i];
  candidate_bins_.assign(2 * thresholds_.size(), 0);
  known_bins_.assign(2 * thresholds_.size(), 0);
}

std::span<const float> QuestionBatch::Queries(std::size_t begin, std::size_t end) const {
  const std::size_t dim = embedded_->model.dim;
  return std::span(queries_).subspan(begin * dim, (end - begin) * dim);
}

std::span<const float> QuestionBatch::Thresholds(std::size_t question) const {
  const std::size_t begin = first_threshold_[question];
  return std::span(thresholds_).subspan(begin, first_threshold_[question + 1] - begin);
}

void QuestionBatch::SumBins() {
  for (std::size_t question = 0; question < size(); ++question) {
    SumBinsAbove(CandidateBins(question));
    SumBinsAbove(KnownBins(question));
  }
}

QuestionBatch::Ranks QuestionBatch::RanksOf(std::size_t triple, Side side, bool answer_is_candidate) const {
  const Answer& answer = answers_[2 * triple + (side == Side::kTail ? 0 : 1)];
  const std::size_t bin = 2 * answer.threshold;
  const std::uint64_t equal = candidate_bins_[bin];
  const std::uint64_t above = candidate_bins_[bin + 1];
  // The answer is among the known ones, and among the candidates wherever those are: taken off once, either way.
  return {TiedRank(above - known_bins_[bin + 1], equal - known_bins_[bin]),
          TiedRank(above, equal - (answer_is_candidate ? 1 : 0))};
}

}  // namespace octavo
