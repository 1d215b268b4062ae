// Answers questions and prints the answers.

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "cmd/name_lookup.h"
#include "cmd/opened_run.h"
#include "cmd/query.h"
#include "cmd/reading_memory.h"
#include "fmt/format.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNameBytes = 60;  // longer names are cut in the table; --json prints them in full
constexpr std::uint64_t kRowBytes = 512;   // of an answer with its name in a table, and as a line of output
constexpr std::uint64_t kNameCopies = 8;   // of a name while it is written as JSON: values, and strings that double

// Memory of the answers: in the heap of each thread and of their sum, as rows with names, and as lines of output.
std::uint64_t AnswerBytes(const Program& program, std::uint64_t k, const TrainedRun& run) {
  const auto heaps = static_cast<std::uint64_t>(ReadingThreads(program)) + 2;
  return std::min(k, run.graph->node_count()) * (heaps * sizeof(ScoredNode) + kRowBytes);
}

// Completes a question with two words: the ? may be omitted after a head and a relation, and the relation if the graph
// has only one.
absl::StatusOr<Question> WithRelation(Question question, const Graph& graph) {
  auto& [head, relation, tail] = question.words;
  if (tail.empty() && head != kAsked && relation != kAsked) tail = kAsked;
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
                  "if a shell would expand it)",
                  Escape(head), Escape(tail), kAsked));
}

// The shortest decimals of the float: printed as a double, 0.1 would be 0.10000000149011612.
double Shortest(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

void PrintTable(const std::vector<AnswerRow>& rows, std::string_view score_name) {
  std::size_t width = 4;
  for (const AnswerRow& row : rows) width = std::max(width, row.name.size());
  fmt::print("{:>4}  {:<{}}  {:>10}\n", "rank", "name", width, score_name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::print("{:>4}  {:<{}}  {:>10.4f}{}\n", i + 1, rows[i].name, width, rows[i].score,
               rows[i].known ? "  known" : "");
  }
}

}  // namespace

Answerer::Answerer(Program& program, const QueryFlags& flags, AnswerLimits limits, TrainedRun run)
    : program_(&program), flags_(&flags), limits_(std::move(limits)), run_(std::move(run)) {}

absl::StatusOr<Answerer> Answerer::Open(Program& program, const QueryFlags& flags, AnswerLimits limits) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, flags.run));
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
    return UsageError(fmt::format("--metric {}: an index only supports cosine; omit --index", flags_->metric));
  }
  const std::uint64_t ef = std::min(std::max(flags_->ef, limits_.most_answers), run_.graph->node_count());
  const std::uint64_t candidates = CosineIndex::SearchBytes(run_.graph->node_count(), ef);
  search_bytes_ = least;  // the rest is for the index
  ASSIGN_OR_RETURN(OpenedIndex opened,
                   OpenIndex(*program_, flags_->index, run_, flags_->run.run, work + candidates + search_bytes_));
  index_.emplace(std::move(opened.index));
  rest_bytes_ = opened.rest_bytes;
  return absl::OkStatus();
}

NodeSearchOptions Answerer::OptionsFor(std::uint64_t k) const {
  NodeSearchOptions options;
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

absl::StatusOr<Predictions> Answerer::Predict(const Question& question, std::uint64_t k) {
  const auto& [head, relation, tail] = question.words;
  LinkQuestion link;
  link.side = tail == kAsked ? Side::kTail : Side::kHead;
  ASSIGN_OR_RETURN(link.known, FindNode(*run_.graph, link.side == Side::kTail ? head : tail, Suggests()));
  ASSIGN_OR_RETURN(link.relation, FindRelation(*run_.graph, relation, Suggests()));
  return PredictLinks(EmbeddedOf(run_), link, question.known == "mark" ? KnownEdges::kMark : KnownEdges::kHide,
                      OptionsFor(k));
}

// Regularly drops the pages that names were read from.
std::string_view Answerer::NameOf(NodeId node) {
  constexpr std::uint64_t kReadings = 1024;  // a few pages each
  if (++readings_ % kReadings == 0) run_.graph->nodes().Forget(0, run_.graph->node_count());
  return run_.graph->nodes().Name(node);
}

// Reads the names in the order of the nodes: in the order of the answers each name would be a page fault wherever the
// pages of the names do not stay in memory. JSON contains complete names, of up to 64 KiB: they must fit the memory
// that the search used.
absl::Status Answerer::NameRows(std::span<const NodeId> nodes, std::vector<AnswerRow>& rows) {
  const std::uint64_t most = search_bytes_ + nodes.size() * kRowBytes;
  std::uint64_t bytes = 0;
  std::uint64_t named = 0;
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return nodes[i]; });
  for (const std::uint32_t i : order) {
    ++named;
    const std::string_view name = NameOf(nodes[i]);
    if (!flags_->json) {
      rows[i].name = EscapeName(name, kMaxNameBytes);
      continue;
    }
    bytes += kNameCopies * EscapeJsonControls(Json(name).dump(-1, ' ', false, Json::error_handler_t::replace)).size();
    if (bytes > most) {
      return UsageError(
          fmt::format("the names of {} answers take {} as JSON and --memory leaves {} for them; expected a "
                      "smaller -k or a larger --memory",
                      named, FormatByteSize(bytes), FormatByteSize(most)));
    }
    rows[i].name = name;
  }
  return run_.graph->nodes().status();
}

absl::StatusOr<Answer> Answerer::Ask(const Question& question, std::uint64_t k) {
  absl::StatusOr<Answer> answer = Find(question, k);
  if (!answer.ok() && KindOf(answer.status()) == ErrorKind::kUsage) ++refused_;
  return answer;
}

absl::StatusOr<Answer> Answerer::Find(const Question& question, std::uint64_t k) {
  Answer answer{question, {}, 0};
  std::vector<NodeId> nodes;
  if (question.kind == Question::Kind::kNeighbors) {
    ASSIGN_OR_RETURN(const std::vector<ScoredNode> found, Neighbors(question.words[0], k));
    for (const ScoredNode& scored : found) {
      nodes.push_back(scored.node);
      answer.rows.push_back({"", scored.score, false});
    }
    RETURN_IF_ERROR(NameRows(nodes, answer.rows));
    return answer;
  }
  ASSIGN_OR_RETURN(answer.question, WithRelation(question, *run_.graph));
  if (question.known.empty()) answer.question.known = flags_->known;
  ASSIGN_OR_RETURN(const Predictions predictions, Predict(answer.question, k));
  answer.known = predictions.known;
  for (const Prediction& prediction : predictions.nodes) {
    nodes.push_back(prediction.node);
    answer.rows.push_back({"", prediction.score, prediction.known});
  }
  RETURN_IF_ERROR(NameRows(nodes, answer.rows));
  return answer;
}

double Answerer::Recall(std::uint64_t sample, std::uint64_t k) const {
  const std::uint64_t search_bytes = CosineIndex::SearchBytes(index_->nodes(), std::max(flags_->ef, k));
  return index_->Recall(sample, k, flags_->ef, SearchThreads(*program_, rest_bytes_, search_bytes));
}

absl::Status Answerer::WarnOfCommits() {
  if (warned_) return absl::OkStatus();
  ASSIGN_OR_RETURN(warned_, CommittedSince(flags_->run.run, run_));
  return warned_ ? WarnIfCommitted(*program_, flags_->run, run_) : absl::OkStatus();
}

void PrintAnswer(const QueryFlags& flags, const Answer& answer) {
  const auto& [head, relation, tail] = answer.question.words;
  if (answer.question.kind == Question::Kind::kNeighbors) {
    fmt::print("neighbors of \"{}\"\n\n", EscapeName(head));
    PrintTable(answer.rows, flags.metric);
    return;
  }
  fmt::print("({}, {}, {}), {} known answer{} {}\n\n", EscapeName(head), EscapeName(relation), EscapeName(tail),
             answer.known, answer.known == 1 ? "" : "s",
             answer.question.known == "mark" ? "marked"
             : answer.known == 0             ? "left out"
             : answer.known == 1             ? "left out; --known mark shows it"
                                             : "left out; --known mark shows them");
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
  object["known"] = answer.question.known;
  object["known_answers"] = answer.known;
  object["predictions"] = Json::array();
  for (const AnswerRow& row : answer.rows) {
    object["predictions"].push_back({{"node", row.name}, {"score", Shortest(row.score)}, {"known", row.known}});
  }
}

void PrintObject(const Json& object, int indent) {
  fmt::print("{}\n", EscapeJsonControls(object.dump(indent, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace octavo
