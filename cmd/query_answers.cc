// The answers to questions, and how they are printed.

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/query.h"
#include "cmd/reading_memory.h"
#include "fmt/format.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNameBytes = 60;  // longer names are cut in the table; --json has them whole

// An answer in the heap of each thread and of their sum, as a row with its name, and as a line of the output.
std::uint64_t AnswerBytes(const Program& program, std::uint64_t k, const TrainedRun& run) {
  constexpr std::uint64_t kRowBytes = 512;
  const auto heaps = static_cast<std::uint64_t>(ReadingThreads(program)) + 2;
  return std::min(k, run.graph->node_count()) * (heaps * sizeof(ScoredNode) + kRowBytes);
}

// The relation may be left out where the graph has one only.
absl::StatusOr<Question> WithRelation(Question question, const Graph& graph) {
  auto& [head, relation, tail] = question.words;
  if (tail.empty()) {
    if (graph.relation_count() != 1) {
      return UsageError(
          fmt::format("predict: found 2 words; expected HEAD RELATION {0} or {0} RELATION TAIL, as the "
                      "graph has {1} relations",
                      kAsked, graph.relation_count()));
    }
    tail = std::exchange(relation, std::string(graph.RelationName(RelationId{0})));
  }
  if ((head == kAsked) != (tail == kAsked)) return question;
  return UsageError(
      fmt::format("predict: found \"{}\" and \"{}\" for head and tail; expected {} for exactly one of them (quoted "
                  "where a shell would take it for a pattern)",
                  Escape(head), Escape(tail), kAsked));
}

// The float's own decimals: as a double it would print 0.10000000149011612 for 0.1.
double Shortest(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

void PrintTable(const std::vector<AnswerRow>& rows, std::string_view score_name) {
  std::size_t width = 4;
  for (const AnswerRow& row : rows) width = std::max(width, Escape(row.name, kMaxNameBytes).size());
  fmt::print("{:>4}  {:<{}}  {:>10}\n", "rank", "name", width, score_name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::print("{:>4}  {:<{}}  {:>10.4f}{}\n", i + 1, Escape(rows[i].name, kMaxNameBytes), width, rows[i].score,
               rows[i].known ? "  known" : "");
  }
}

}  // namespace

Answerer::Answerer(Program& program, const QueryFlags& flags, AnswerLimits limits, TrainedRun run)
    : program_(&program), flags_(&flags), limits_(std::move(limits)), run_(std::move(run)) {}

absl::StatusOr<Answerer> Answerer::Open(Program& program, const QueryFlags& flags, AnswerLimits limits) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(flags.run));
  Answerer answerer(program, flags, std::move(limits), std::move(run));
  RETURN_IF_ERROR(answerer.ShareMemory());
  return answerer;
}

absl::Status Answerer::ShareMemory() {
  const std::uint64_t work = AnswerBytes(*program_, limits_.most_answers, run_) + limits_.other_bytes;
  const std::uint64_t least = LeastSearchMemory(EmbeddedOf(run_));
  if (flags_->index.empty()) {
    ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(*program_, "query", run_, work + least));
    search_bytes_ = memory.bytes - work;
    return absl::OkStatus();
  }
  if (flags_->metric != "cosine") {
    return UsageError(fmt::format("--metric {}: an index is by cosine; leave out --index", flags_->metric));
  }
  constexpr std::uint64_t kCandidateBytes = 64;  // in two heaps that grow by doubling
  const std::uint64_t ef = std::min(std::max(flags_->ef, limits_.most_answers), run_.graph->node_count());
  const std::uint64_t candidates = ef * kCandidateBytes * static_cast<std::uint64_t>(ReadingThreads(*program_));
  search_bytes_ = limits_.predicts ? least : 0;  // the rest is the index's
  ASSIGN_OR_RETURN(CosineIndex index,
                   OpenIndex(*program_, flags_->index, run_, flags_->run.run, work + candidates + search_bytes_));
  index_.emplace(std::move(index));
  return absl::OkStatus();
}

SearchOptions Answerer::OptionsFor(std::uint64_t k) const {
  SearchOptions options;
  options.k = k;
  options.memory_bytes = search_bytes_;
  options.stop = limits_.stop;
  return options;
}

absl::StatusOr<std::vector<ScoredNode>> Answerer::Neighbors(const std::string& name, std::uint64_t k) {
  ASSIGN_OR_RETURN(const NodeId node, FindNode(*run_.graph, name, Suggests()));
  if (index_) return index_->Nearest(node, k, flags_->ef);
  const Similarity similarity = flags_->metric == "dot" ? Similarity::kDot : Similarity::kCosine;
  return NearestNodes(EmbeddedOf(run_), node, similarity, OptionsFor(k));
}

absl::StatusOr<std::vector<Prediction>> Answerer::Predictions(const Question& question, std::uint64_t k) {
  const auto& [head, relation, tail] = question.words;
  LinkQuestion link;
  link.side = tail == kAsked ? Side::kTail : Side::kHead;
  ASSIGN_OR_RETURN(link.known, FindNode(*run_.graph, link.side == Side::kTail ? head : tail, Suggests()));
  ASSIGN_OR_RETURN(link.relation, FindRelation(*run_.graph, relation, Suggests()));
  return PredictLinks(EmbeddedOf(run_), link, flags_->known == "mark" ? KnownEdges::kMark : KnownEdges::kHide,
                      OptionsFor(k));
}

// Now and then the pages that names came from are given back.
std::string Answerer::NameOf(NodeId node) {
  constexpr std::uint64_t kReadings = 1024;  // a few pages each
  if (++readings_ % kReadings == 0) run_.graph->nodes().Forget(0, run_.graph->node_count());
  return std::string(run_.graph->nodes().Name(node));
}

absl::StatusOr<Answer> Answerer::Ask(const Question& question, std::uint64_t k) {
  absl::StatusOr<Answer> answer = Find(question, k);
  if (!answer.ok() && KindOf(answer.status()) == ErrorKind::kUsage) ++refused_;
  return answer;
}

absl::StatusOr<Answer> Answerer::Find(const Question& question, std::uint64_t k) {
  Answer answer{question, {}};
  if (question.kind == Question::Kind::kNeighbors) {
    ASSIGN_OR_RETURN(const std::vector<ScoredNode> nodes, Neighbors(question.words[0], k));
    for (const ScoredNode& scored : nodes) answer.rows.push_back({NameOf(scored.node), scored.score, false});
    return answer;
  }
  ASSIGN_OR_RETURN(answer.question, WithRelation(question, *run_.graph));
  ASSIGN_OR_RETURN(const std::vector<Prediction> predictions, Predictions(answer.question, k));
  for (const Prediction& prediction : predictions) {
    answer.rows.push_back({NameOf(prediction.node), prediction.score, prediction.known});
  }
  return answer;
}

absl::Status Answerer::WarnOfCommits() {
  if (warned_) return absl::OkStatus();
  ASSIGN_OR_RETURN(warned_, CommittedSince(flags_->run.run, run_));
  return warned_ ? WarnIfCommitted(*program_, flags_->run, run_) : absl::OkStatus();
}

void PrintAnswer(const QueryFlags& flags, const Answer& answer) {
  const auto& [head, relation, tail] = answer.question.words;
  if (answer.question.kind == Question::Kind::kNeighbors) {
    fmt::print("neighbors of \"{}\"\n\n", Escape(head));
    PrintTable(answer.rows, flags.metric);
    return;
  }
  fmt::print("({}, {}, {}), {}\n\n", Escape(head), Escape(relation), Escape(tail),
             flags.known == "hide" ? "without the edges that are known" : "known edges marked");
  PrintTable(answer.rows, "score");
}

void AddAnswer(const QueryFlags& flags, const Answer& answer, Json& object) {
  const auto& [head, relation, tail] = answer.question.words;
  if (answer.question.kind == Question::Kind::kNeighbors) {
    object["node"] = head;
    object["metric"] = flags.metric;
    if (!flags.index.empty()) object["ef"] = flags.ef;
    object["neighbors"] = Json::array();
    for (const AnswerRow& row : answer.rows) {
      object["neighbors"].push_back({{"node", row.name}, {"score", Shortest(row.score)}});
    }
    return;
  }
  object["head"] = head == kAsked ? Json() : Json(head);
  object["relation"] = relation;
  object["tail"] = tail == kAsked ? Json() : Json(tail);
  object["known"] = flags.known;
  object["predictions"] = Json::array();
  for (const AnswerRow& row : answer.rows) {
    object["predictions"].push_back({{"node", row.name}, {"score", Shortest(row.score)}, {"known", row.known}});
  }
}

void PrintObject(const Json& object, int indent) {
  fmt::print("{}\n", object.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace octavo
