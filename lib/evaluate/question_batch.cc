#include "evaluate/question_batch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/escape.h"
#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/pair_scorer.h"
#include "evaluate/score_bins.h"
#include "evaluate/wanted_rows.h"
#include "fmt/format.h"
#include "model/scorer.h"

namespace octavo {
namespace {

constexpr std::array<Side, 2> kSides = {Side::kTail, Side::kHead};
constexpr std::size_t kGrain = 512;  // triples or questions per task

LinkQuestion AskedBy(const Edge& triple, Side side) {
  return {side == Side::kTail ? triple.head : triple.tail, triple.relation, side};
}

std::uint64_t AnsweredBy(const Edge& triple, Side side) {
  return Value(side == Side::kTail ? triple.tail : triple.head);
}

// The first product of a program makes libxsmm allocate its tables: some milliseconds, in which no other thread can map
// memory. Sorting the questions maps little and takes as long, so both run at once.
void WarmUp(const ModelSpec& model) {
  const std::vector<float> row(model.dim);
  ScoreScratch scratch;
  float score = 0.0F;
  ScoreBlock(model, row, 1, row, 1, scratch, std::span(&score, 1));
}

// Large pages are populated and freed in a fraction of the time. Best effort.
void WishLargePages(std::span<float> memory) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = RoundUp(reinterpret_cast<std::uintptr_t>(memory.data()), page);
  const auto end = reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size_bytes();
  if (begin < end) static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
}

std::vector<LinkQuestion> QuestionsOf(std::span<const Edge> triples) {
  std::vector<LinkQuestion> questions;
  questions.reserve(2 * triples.size());
  for (const Edge& triple : triples) {
    for (const Side side : kSides) questions.push_back(AskedBy(triple, side));
  }
  return questions;
}

}  // namespace

std::uint64_t QuestionBatch::BytesPerTriple(const ModelSpec& model, bool typed) {
  // Per side: query, threshold and its bins, answer, question with up to four slots of its index and with its ranges of
  // thresholds and known answers, wanted row and its node.
  constexpr std::uint64_t kSideBytes = sizeof(float) + 4 * sizeof(std::uint64_t) + sizeof(Answer) +
                                       sizeof(LinkQuestion) + 4 * sizeof(std::uint32_t) + sizeof(ThresholdRange) +
                                       2 * sizeof(std::uint64_t) + sizeof(WantedRow) + sizeof(std::uint64_t);
  // Typed bins, the answer in the order of nodes, and whether it is plausible.
  constexpr std::uint64_t kTypedBytes = 4 * sizeof(std::uint64_t) + sizeof(std::uint32_t) + sizeof(char);
  return 2 * (model.dim * sizeof(float) + kSideBytes + (typed ? kTypedBytes : 0)) + sizeof(Edge);
}

QuestionBatch::QuestionBatch(const EmbeddedGraph& embedded, std::span<const Edge> triples,
                             std::vector<LinkQuestion> questions)
    : embedded_(&embedded), questions_(std::move(questions)), answers_(2 * triples.size()) {
  ParallelRanges(0, answers_.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Edge& triple = triples[i / 2];
      answers_[i] = {AnsweredBy(triple, kSides[i % 2]), questions_.Find(AskedBy(triple, kSides[i % 2]))};
    }
  });
}

absl::StatusOr<QuestionBatch> QuestionBatch::Make(const EmbeddedGraph& embedded, std::span<const Edge> triples,
                                                  bool typed) {
  std::optional<QuestionBatch> made;
  ParallelBoth([&] { WarmUp(embedded.model); }, [&] { made = QuestionBatch(embedded, triples, QuestionsOf(triples)); });
  QuestionBatch& batch = *made;
  RETURN_IF_ERROR(batch.ReadQueries());
  RETURN_IF_ERROR(batch.ScoreAnswers());
  RETURN_IF_ERROR(batch.CheckScores());
  batch.MakeThresholds();
  if (typed) batch.MakeTypedBins();
  return *std::move(made);
}

absl::Status QuestionBatch::ReadQueries() {
  const std::size_t dim = embedded_->model.dim;
  queries_ = std::make_unique_for_overwrite<float[]>(questions_.size() * dim);
  WishLargePages({queries_.get(), questions_.size() * dim});
  std::vector<WantedRow> wanted(questions_.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = {Value(questions_[i].known), static_cast<std::uint32_t>(i)};
  }
  return ForEachWantedRow(*embedded_, wanted, kGatherBytes, [&](std::size_t question, std::span<const float> row) {
    MakeLinkQuery(*embedded_, questions_[question].side, questions_[question].relation, row,
                  {queries_.get() + question * dim, dim});
  });
}

absl::Status QuestionBatch::ScoreAnswers() {
  std::vector<WantedRow> wanted(answers_.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = {answers_[i].node, static_cast<std::uint32_t>(i)};
  PairScorer scorer(embedded_->model);
  RETURN_IF_ERROR(
      ForEachWantedRow(*embedded_, wanted, kGatherBytes, [&](std::size_t index, std::span<const float> row) {
        Answer& answer = answers_[index];
        scorer.Add(Queries(answer.question, answer.question + 1), row, answer.score);
      }));
  scorer.Finish();
  return absl::OkStatus();
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
  // A counting sort by question, then a sort by score within each question.
  ranges_.resize(questions_.size());
  for (const Answer& answer : answers_) ++ranges_[answer.question].count;
  for (std::size_t i = 1; i < ranges_.size(); ++i) ranges_[i].first = ranges_[i - 1].first + ranges_[i - 1].count;
  for (ThresholdRange& range : ranges_) range.count = 0;
  std::vector<std::uint32_t> order(answers_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ThresholdRange& range = ranges_[answers_[i].question];
    order[range.first + range.count++] = static_cast<std::uint32_t>(i);
  }
  thresholds_.resize(answers_.size());
  ParallelRanges(0, ranges_.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t question = first; question < last; ++question) {
      ThresholdRange& range = ranges_[question];
      const std::span<std::uint32_t> own = std::span(order).subspan(range.first, range.count);
      std::sort(own.begin(), own.end(),
                [&](std::uint32_t a, std::uint32_t b) { return answers_[a].score < answers_[b].score; });
      std::size_t next = range.first;
      for (const std::uint32_t index : own) {
        Answer& answer = answers_[index];
        if (next == range.first || thresholds_[next - 1] != answer.score) thresholds_[next++] = answer.score;
        answer.threshold = next - 1;
      }
      range.count = next - range.first;
    }
  });
  candidate_bins_.assign(2 * thresholds_.size(), 0);
  known_bins_.assign(2 * thresholds_.size(), 0);
}

void QuestionBatch::MakeTypedBins() {
  typed_ = true;
  typed_bins_.assign(2 * thresholds_.size(), 0);
  typed_known_bins_.assign(2 * thresholds_.size(), 0);
  plausible_.assign(answers_.size(), 0);
  by_node_.resize(answers_.size());
  std::iota(by_node_.begin(), by_node_.end(), 0U);
  std::ranges::sort(by_node_, {}, [&](std::uint32_t index) { return answers_[index].node; });
}

void QuestionBatch::NoteAnswers(std::uint64_t first, std::uint64_t last,
                                const std::function<bool(std::size_t, std::uint64_t)>& plausible) {
  const auto node_of = [&](std::uint32_t index) { return answers_[index].node; };
  auto at = std::ranges::lower_bound(by_node_, first, {}, node_of);
  for (; at != by_node_.end() && node_of(*at) < last; ++at) {
    plausible_[*at] = plausible(answers_[*at].question, node_of(*at)) ? 1 : 0;
  }
}

std::span<const float> QuestionBatch::Queries(std::size_t begin, std::size_t end) const {
  const std::size_t dim = embedded_->model.dim;
  return {queries_.get() + begin * dim, (end - begin) * dim};
}

std::span<const float> QuestionBatch::Thresholds(std::size_t question) const {
  return std::span(thresholds_).subspan(ranges_[question].first, ranges_[question].count);
}

absl::Status QuestionBatch::AddUp(const std::function<absl::Status(std::span<std::uint64_t>)>& add_up) {
  RETURN_IF_ERROR(add_up(candidate_bins_));
  RETURN_IF_ERROR(add_up(known_bins_));
  if (!typed_) return absl::OkStatus();
  RETURN_IF_ERROR(add_up(typed_bins_));
  RETURN_IF_ERROR(add_up(typed_known_bins_));
  std::vector<std::uint64_t> plausible(plausible_.begin(), plausible_.end());
  RETURN_IF_ERROR(add_up(plausible));
  std::ranges::transform(plausible, plausible_.begin(), [](std::uint64_t count) { return count > 0 ? 1 : 0; });
  return absl::OkStatus();
}

void QuestionBatch::SumBins() {
  ParallelRanges(0, size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t question = first; question < last; ++question) {
      SumBinsAbove(CandidateBins(question));
      SumBinsAbove(KnownBins(question));
      if (!typed_) continue;
      SumBinsAbove(TypedBins(question));
      SumBinsAbove(TypedKnownBins(question));
    }
  });
}

QuestionBatch::Ranks QuestionBatch::RanksOf(std::size_t triple, Side side, bool answer_is_candidate) const {
  const std::size_t index = AnswerOf(triple, side);
  const Answer& answer = answers_[index];
  const std::size_t bin = 2 * answer.threshold;
  const std::uint64_t equal = candidate_bins_[bin];
  const std::uint64_t above = candidate_bins_[bin + 1];
  // The answer is one of the known answers, and a candidate whenever they are, so this subtracts it exactly once.
  Ranks ranks{TiedRank(above - known_bins_[bin + 1], equal - known_bins_[bin]),
              TiedRank(above, equal - (answer_is_candidate ? 1 : 0))};
  if (!typed_) return ranks;
  // The same, also if the answer is not plausible: then it is counted in neither bin.
  ranks.typed = TiedRank(typed_bins_[bin + 1] - typed_known_bins_[bin + 1], typed_bins_[bin] - typed_known_bins_[bin]);
  ranks.plausible = plausible_[index] != 0;
  return ranks;
}

}  // namespace octavo
