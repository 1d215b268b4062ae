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
#include "graph/node_places.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNameBytes = 60;  // longer names are cut in the table; --json prints them in full
constexpr std::uint64_t kRowBytes = 512;   // of an answer with its name in a table, and as a line of output; or label
constexpr std::uint64_t kNameCopies = 8;   // of a name while it is written as JSON: values, and strings that double

// Memory of the answers: in the heap of each thread and of their sum, as rows with names, and as lines of output.
std::uint64_t AnswerBytes(const Program& program, std::uint64_t k, const TrainedRun& run, bool typed) {
  const auto heaps = (static_cast<std::uint64_t>(ReadingThreads(program)) + 2) * (typed ? 2 : 1);
  const std::uint64_t row_bytes = run.graph->labels() == nullptr ? kRowBytes : 2 * kRowBytes;
  return std::min(k, run.graph->node_count()) * (heaps * sizeof(ScoredNode) + row_bytes);
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
  if (relation == kAsked && !graph.FindRelation(kAsked)) {
    return UsageError(fmt::format(
        "predict: found {0} for the relation, which cannot be asked for; expected its name, and {0} for the "
        "head or the tail",
        kAsked));
  }
  if ((head == kAsked) != (tail == kAsked)) return question;
  return UsageError(
      fmt::format("predict: found \"{}\" and \"{}\" for head and tail; expected {} for exactly one of them (quoted "
                  "if a shell would expand it)",
                  Escape(head), Escape(tail), kAsked));
}

// The shortest decimals of the float: printed as a double, 0.1 would be 0.10000000149011612.
double Shortest(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

// Characters of a text in UTF-8.
std::size_t Letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

void PrintTable(const Answer& answer, std::string_view score_name) {
  const std::vector<AnswerRow>& rows = answer.rows;
  std::size_t width = 4;
  std::size_t label_width = 5;
  for (const AnswerRow& row : rows) {
    width = std::max(width, row.name.size());
    label_width = std::max(label_width, Letters(row.label));
  }
  const auto print = [&](const auto& rank, std::string_view name, std::string_view label) {
    fmt::print("{:>4}  {:<{}}  ", rank, name, width);
    if (answer.has_labels) fmt::print("{}{:{}}  ", label, "", label_width - Letters(label));
  };
  print("rank", "name", "label");
  fmt::print("{:>10}\n", score_name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    print(i + 1, rows[i].name, rows[i].label);
    fmt::print("{:>10.4f}{}{}\n", rows[i].score, rows[i].known ? "  known" : "",
               rows[i].plausible ? "" : "  other type");
  }
}

// A name as titles show it: with its label, if it has one.
std::string Titled(const std::string& name, const std::string& label) {
  return label.empty() ? EscapeCell(name) : fmt::format("{} ({})", EscapeCell(name), EscapeCell(label, kMaxNameBytes));
}

// A field for a label: null for a name without one.
Json LabelJson(const std::string& label) { return label.empty() ? Json() : Json(label); }

Json RowJson(const Answer& answer, const AnswerRow& row) {
  Json object = {{"node", row.name}};
  if (answer.has_labels) object["label"] = LabelJson(row.label);
  object["score"] = Shortest(row.score);
  return object;
}

}  // namespace

Answerer::Answerer(Program& program, const QueryFlags& flags, AnswerLimits limits, TrainedRun run)
    : program_(&program), flags_(&flags), limits_(std::move(limits)), run_(std::move(run)) {}

absl::StatusOr<Answerer> Answerer::Open(Program& program, const QueryFlags& flags, AnswerLimits limits) {
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, flags.run));
  Answerer answerer(program, flags, std::move(limits), std::move(run));
  ASSIGN_OR_RETURN(answerer.types_, ReadTypes(program, "query", answerer.run_, flags.types));
  RETURN_IF_ERROR(answerer.ShareMemory());
  return answerer;
}

absl::Status Answerer::ShareMemory() {
  const TypeFlags& types = flags_->types;
  const std::uint64_t work =
      AnswerBytes(*program_, limits_.most_answers, run_, types.typed) + limits_.other_bytes + TypeBytes(types_);
  const std::uint64_t least = LeastSearchMemory(EmbeddedOf(run_)) +
                              (types.typed ? 2 * TypeRules::LeastBytes(*run_.graph, TypeCount(types_)) : 0);
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
  options.memory_bytes = search_bytes_ - std::min(rule_bytes_, search_bytes_ / 2);
  options.stop = limits_.stop;
  return options;
}

absl::StatusOr<NodeId> Answerer::TakeNode(Answer& answer, std::size_t word) {
  ASSIGN_OR_RETURN(const NodeId node, FindNode(*run_.graph, answer.question.words[word], Suggests()));
  answer.question.words[word] = run_.graph->nodes().Name(node);
  answer.labels[word] = run_.graph->LabelOf(node);
  if (!limits_.notes_untrained) return node;
  ASSIGN_OR_RETURN(const bool trained, HasTrainingEdge(*run_.graph, node));
  if (!trained) {
    program_->reporter.Info(fmt::format(
        "note: no training edge has \"{}\": its vector says little, as only negatives changed it, if anything",
        EscapeCell(answer.question.words[word], kMaxNameBytes)));
  }
  return node;
}

absl::StatusOr<std::vector<ScoredNode>> Answerer::Neighbors(Answer& answer, std::uint64_t k) {
  ASSIGN_OR_RETURN(const NodeId node, TakeNode(answer, 0));
  if (index_) return index_->Nearest(node, k, flags_->ef);
  const Similarity similarity = flags_->metric == "dot" ? Similarity::kDot : Similarity::kCosine;
  return NearestNodes(EmbeddedOf(run_), node, similarity, OptionsFor(k));
}

// Counted anew if a quarter of the memory holds the rules of other places.
absl::StatusOr<const TypeRules*> Answerer::RulesFor(const LinkQuestion& link) {
  const std::uint64_t place = PlaceOf(link.relation, link.side);
  if (const auto found = rules_.find(place); found != rules_.end()) return &found->second;
  const std::uint64_t least = 2 * TypeRules::LeastBytes(*run_.graph, TypeCount(types_));
  if (search_bytes_ < least) {
    return UsageError(fmt::format("--typed needs {} and --memory leaves {}; expected a larger --memory",
                                  FormatByteSize(least), FormatByteSize(search_bytes_)));
  }
  if (rule_bytes_ > search_bytes_ / 4) {
    rules_.clear();
    rule_bytes_ = 0;
  }
  TypeRuleOptions options = TypeRuleOptionsOf(flags_->types, types_);
  options.memory_bytes = search_bytes_ / 2;
  options.stop = limits_.stop;
  ASSIGN_OR_RETURN(TypeRules rules, TypeRules::Count(*run_.graph, {place}, options));
  rule_bytes_ += rules.Bytes();
  return &rules_.emplace(place, std::move(rules)).first->second;
}

absl::StatusOr<Predictions> Answerer::Predict(Answer& answer, std::uint64_t k) {
  auto& [head, relation, tail] = answer.question.words;
  LinkQuestion link;
  link.side = tail == kAsked ? Side::kTail : Side::kHead;
  ASSIGN_OR_RETURN(link.known, TakeNode(answer, link.side == Side::kTail ? 0 : 2));
  ASSIGN_OR_RETURN(link.relation, FindRelation(*run_.graph, relation, Suggests()));
  relation = run_.graph->RelationName(link.relation);
  answer.labels[1] = run_.graph->LabelOf(link.relation);
  const TypeRules* rules = nullptr;
  if (answer.question.typed) {
    ASSIGN_OR_RETURN(rules, RulesFor(link));
  }
  return PredictLinks(EmbeddedOf(run_), link, answer.question.known == "mark" ? KnownEdges::kMark : KnownEdges::kHide,
                      OptionsFor(k), rules);
}

void Answerer::CountReading() {
  constexpr std::uint64_t kReadings = 1024;  // a few pages each
  if (++readings_ % kReadings == 0) run_.graph->ForgetTexts(0, run_.graph->node_count());
}

// JSON contains complete names, of up to 64 KiB: they must fit the memory that the search used.
absl::StatusOr<std::string> Answerer::RowText(std::string_view text, std::uint64_t& bytes, std::uint64_t most) const {
  if (!flags_->json) return EscapeCell(text, kMaxNameBytes);
  bytes += kNameCopies * EscapeJsonControls(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).size();
  if (bytes <= most) return std::string(text);
  return UsageError(
      fmt::format("{} as JSON and --memory leaves {} for them", FormatByteSize(bytes), FormatByteSize(most)));
}

// Reads the names in the order of the nodes: in the order of the answers each name would be a page fault wherever the
// pages of the names do not stay in memory.
absl::Status Answerer::NameRows(std::span<const NodeId> nodes, std::vector<AnswerRow>& rows) {
  const std::uint64_t most = search_bytes_ + nodes.size() * kRowBytes;
  std::uint64_t bytes = 0;
  std::uint64_t named = 0;
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return nodes[i]; });
  for (const std::uint32_t i : order) {
    ++named;
    CountReading();
    absl::StatusOr<std::string> name = RowText(run_.graph->nodes().Name(nodes[i]), bytes, most);
    absl::StatusOr<std::string> label = RowText(run_.graph->LabelOf(nodes[i]), bytes, most);
    if (!name.ok() || !label.ok()) {
      return UsageError(fmt::format("the names of {} answers take {}; expected a smaller -k or a larger --memory",
                                    named, MessageOf(name.ok() ? label.status() : name.status())));
    }
    rows[i].name = *std::move(name);
    rows[i].label = *std::move(label);
  }
  return run_.graph->TextStatus();
}

absl::StatusOr<Answer> Answerer::Ask(const Question& question, std::uint64_t k) {
  absl::StatusOr<Answer> answer = Find(question, k);
  if (!answer.ok() && KindOf(answer.status()) == ErrorKind::kUsage) ++refused_;
  return answer;
}

absl::StatusOr<Answer> Answerer::Find(const Question& question, std::uint64_t k) {
  Answer answer;
  answer.question = question;
  answer.has_labels = run_.graph->labels() != nullptr;
  std::vector<NodeId> nodes;
  if (question.kind == Question::Kind::kNeighbors) {
    ASSIGN_OR_RETURN(const std::vector<ScoredNode> found, Neighbors(answer, k));
    for (const ScoredNode& scored : found) {
      nodes.push_back(scored.node);
      answer.rows.push_back({"", "", scored.score});
    }
    RETURN_IF_ERROR(NameRows(nodes, answer.rows));
    return answer;
  }
  ASSIGN_OR_RETURN(answer.question, WithRelation(question, *run_.graph));
  if (question.known.empty()) answer.question.known = flags_->known;
  if (flags_->types.typed) answer.question.typed = true;
  ASSIGN_OR_RETURN(const Predictions predictions, Predict(answer, k));
  answer.known = predictions.known;
  for (const Prediction& prediction : predictions.nodes) {
    nodes.push_back(prediction.node);
    answer.rows.push_back({"", "", prediction.score, prediction.known, prediction.plausible});
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
    fmt::print("neighbors of \"{}\"{}\n\n", EscapeName(head),
               answer.labels[0].empty() ? "" : fmt::format(" ({})", EscapeCell(answer.labels[0], kMaxNameBytes)));
    PrintTable(answer, flags.metric);
    return;
  }
  fmt::print("({}, {}, {}), {} known answer{} {}\n\n", Titled(head, answer.labels[0]),
             Titled(relation, answer.labels[1]), Titled(tail, answer.labels[2]), answer.known,
             answer.known == 1 ? "" : "s",
             answer.question.known == "mark" ? "marked"
             : answer.known == 0             ? "left out"
             : answer.known == 1             ? "left out; --known mark shows it"
                                             : "left out; --known mark shows them");
  PrintTable(answer, "score");
}

void AddAnswer(const QueryFlags& flags, const Answer& answer, Json& object) {
  const auto& [head, relation, tail] = answer.question.words;
  if (answer.question.kind == Question::Kind::kNeighbors) {
    object["node"] = head;
    if (answer.has_labels) object["label"] = LabelJson(answer.labels[0]);
    object["metric"] = flags.metric;
    if (!flags.index.empty()) object["ef"] = flags.ef;
    object["neighbors"] = Json::array();
    for (const AnswerRow& row : answer.rows) {
      object["neighbors"].push_back(RowJson(answer, row));
    }
    return;
  }
  object["head"] = head == kAsked ? Json() : Json(head);
  object["relation"] = relation;
  object["tail"] = tail == kAsked ? Json() : Json(tail);
  if (answer.has_labels) {
    object["head_label"] = LabelJson(answer.labels[0]);
    object["relation_label"] = LabelJson(answer.labels[1]);
    object["tail_label"] = LabelJson(answer.labels[2]);
  }
  object["known"] = answer.question.known;
  object["known_answers"] = answer.known;
  if (answer.question.typed) object["typed"] = true;
  object["predictions"] = Json::array();
  for (const AnswerRow& row : answer.rows) {
    object["predictions"].push_back(RowJson(answer, row));
    object["predictions"].back()["known"] = row.known;
    if (answer.question.typed) object["predictions"].back()["plausible"] = row.plausible;
  }
}

void PrintObject(const Json& object, int indent) {
  fmt::print("{}\n", EscapeJsonControls(object.dump(indent, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace octavo
