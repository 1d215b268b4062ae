#include "query/answerer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "query/embedded_of.h"
#include "query/name_lookup.h"
#include "query/reading_memory.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNameBytes = 60;  // longer names are cut in tables
constexpr std::uint64_t kRowBytes = 512;   // of an answer with its name in a table, and as a line of output; or label
constexpr std::uint64_t kMostSearchBytes = std::uint64_t{128} << 20;  // beside an index: blocks grow no larger
constexpr std::uint64_t kNameCopies = 8;  // of a name while it is written as JSON: values, and strings that double

// Memory of the answers: in the heap of each thread and of their sum, as rows with names, and as lines of output.
std::uint64_t AnswerBytes(const AnswererOptions& options, const TrainedRun& run) {
  const bool typed = options.typed || options.may_be_typed;
  const auto heaps = (static_cast<std::uint64_t>(options.threads) + 2) * (typed ? 2 : 1);
  const std::uint64_t row_bytes = run.graph->labels() == nullptr ? kRowBytes : 2 * kRowBytes;
  return std::min(options.most_answers, run.graph->node_count()) * (heaps * sizeof(ScoredNode) + row_bytes);
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

// Adds `factor` times the row of the node, divided by its norm unless that is 0.
absl::Status AddUnitRow(const EmbeddedGraph& embedded, NodeId node, double factor, std::vector<double>& sum) {
  std::vector<float> row(sum.size());
  RETURN_IF_ERROR(embedded.embeddings.ReadRows(Value(node), row));
  RETURN_IF_ERROR(CheckFinite(embedded, Value(node), row));
  double squares = 0;
  for (const float x : row) squares += static_cast<double>(x) * static_cast<double>(x);
  if (squares == 0) return absl::OkStatus();
  for (std::size_t i = 0; i < row.size(); ++i) sum[i] += factor * static_cast<double>(row[i]) / std::sqrt(squares);
  return absl::OkStatus();
}

}  // namespace

Answerer::Answerer(TrainedRun run, AnswererOptions options)
    : options_(std::move(options)), run_(std::move(run)), counts_(std::make_unique<Counts>()) {}

absl::StatusOr<Answerer> Answerer::Open(TrainedRun run, AnswererOptions options) {
  Answerer answerer(std::move(run), std::move(options));
  RETURN_IF_ERROR(answerer.ShareMemory());
  return answerer;
}

absl::Status Answerer::ShareMemory() {
  const bool typed = options_.typed || options_.may_be_typed;
  const std::uint64_t type_bytes = options_.types ? options_.types->Bytes() : 0;
  const std::uint64_t work = AnswerBytes(options_, run_) + options_.other_bytes + type_bytes;
  const std::uint64_t least =
      LeastSearchMemory(EmbeddedOf(run_)) + (typed ? 2 * TypeRules::LeastBytes(*run_.graph, TypeCount()) : 0);
  if (options_.index.empty()) {
    ASSIGN_OR_RETURN(const ReadingMemory memory,
                     ShareReadingMemory(options_.memory_bytes, options_.verb, run_, work + least));
    search_bytes_ = memory.bytes - work;
    return absl::OkStatus();
  }
  if (options_.metric != "cosine") {
    return UsageError(fmt::format("--metric {}: an index only supports cosine; omit --index", options_.metric));
  }
  const std::uint64_t ef = std::min(std::max(options_.ef, options_.most_answers), run_.graph->node_count());
  const std::uint64_t candidates = options_.index_searches * CosineIndex::SearchBytes(run_.graph->node_count(), ef);
  search_bytes_ = least;
  ASSIGN_OR_RETURN(OpenedIndex opened, OpenIndex(options_.memory_bytes, options_.index, run_, options_.folder,
                                                 work + candidates + search_bytes_));
  index_.emplace(std::move(opened.index));
  // Exact searches are faster in larger blocks.
  const std::uint64_t more = std::min(opened.rest_bytes / 2, kMostSearchBytes);
  search_bytes_ += more;
  rest_bytes_ = opened.rest_bytes - more;
  return absl::OkStatus();
}

bool Answerer::PassesOver(const Question& question) const {
  return question.kind != Question::Kind::kNeighbors || !index_ || question.exact ||
         (!question.metric.empty() && question.metric != "cosine");
}

NodeSearchOptions Answerer::OptionsFor(std::uint64_t k, const std::function<bool()>& stop) const {
  NodeSearchOptions search;
  search.k = k;
  search.memory_bytes = search_bytes_ - std::min(rule_bytes_, search_bytes_ / 2);
  search.stop = stop ? stop : options_.stop;
  return search;
}

absl::StatusOr<NodeId> Answerer::TakeNode(Answer& answer, std::size_t word) {
  ASSIGN_OR_RETURN(const NodeId node, FindNode(*run_.graph, answer.question.words[word], Suggests(answer)));
  answer.question.words[word] = run_.graph->nodes().Name(node);
  answer.labels[word] = run_.graph->LabelOf(node);
  return node;
}

absl::StatusOr<std::vector<ScoredNode>> Answerer::Neighbors(Answer& answer, const NodeSearchOptions& search) {
  Question& question = answer.question;
  ASSIGN_OR_RETURN(const NodeId node, TakeNode(answer, 0));
  const bool with_index = !PassesOver(question);
  if (question.metric.empty()) question.metric = options_.metric;
  if (with_index) {
    answer.ef = question.ef.value_or(options_.ef);
    return index_->Nearest(node, search.k, *answer.ef);
  }
  const Similarity similarity = question.metric == "dot" ? Similarity::kDot : Similarity::kCosine;
  return NearestNodes(EmbeddedOf(run_), node, similarity, search);
}

// 3CosAdd of unit vectors (Levy and Goldberg, CoNLL 2014): the nodes nearest to b - a + c, without the three.
absl::StatusOr<std::vector<ScoredNode>> Answerer::Analogy(Answer& answer, const NodeSearchOptions& search) {
  constexpr std::array<double, 3> kSigns = {-1, 1, 1};
  std::vector<double> sum(run_.model.dim);
  std::vector<std::uint64_t> skip;
  for (std::size_t word = 0; word < kSigns.size(); ++word) {
    ASSIGN_OR_RETURN(const NodeId node, TakeNode(answer, word));
    RETURN_IF_ERROR(AddUnitRow(EmbeddedOf(run_), node, kSigns[word], sum));
    skip.push_back(Value(node));
  }
  std::ranges::sort(skip);
  const std::vector<float> target(sum.begin(), sum.end());
  answer.question.metric = "cosine";
  return NearestToVector(EmbeddedOf(run_), target, skip, Similarity::kCosine, search);
}

// Counted anew if a quarter of the memory holds the rules of other places.
absl::StatusOr<const TypeRules*> Answerer::RulesFor(const LinkQuestion& link, const std::function<bool()>& stop) {
  const std::uint64_t place = PlaceOf(link.relation, link.side);
  if (const auto found = rules_.find(place); found != rules_.end()) return &found->second;
  const std::uint64_t least = 2 * TypeRules::LeastBytes(*run_.graph, TypeCount());
  if (search_bytes_ < least) {
    return UsageError(fmt::format("--typed needs {} and --memory leaves {}; expected a larger --memory",
                                  FormatByteSize(least), FormatByteSize(search_bytes_)));
  }
  if (rule_bytes_ > search_bytes_ / 4) {
    rules_.clear();
    rule_bytes_ = 0;
  }
  TypeRuleOptions options;
  options.share = options_.type_share;
  options.types = options_.types ? &*options_.types : nullptr;
  options.memory_bytes = search_bytes_ / 2;
  options.stop = stop;
  ASSIGN_OR_RETURN(TypeRules rules, TypeRules::Count(*run_.graph, {place}, options));
  rule_bytes_ += rules.Bytes();
  return &rules_.emplace(place, std::move(rules)).first->second;
}

absl::StatusOr<Predictions> Answerer::Predict(Answer& answer, const NodeSearchOptions& search) {
  auto& [head, relation, tail] = answer.question.words;
  LinkQuestion link;
  link.side = tail == kAsked ? Side::kTail : Side::kHead;
  ASSIGN_OR_RETURN(link.known, TakeNode(answer, link.side == Side::kTail ? 0 : 2));
  ASSIGN_OR_RETURN(link.relation, FindRelation(*run_.graph, relation, Suggests(answer)));
  relation = run_.graph->RelationName(link.relation);
  answer.labels[1] = run_.graph->LabelOf(link.relation);
  const TypeRules* rules = nullptr;
  NodeSearchOptions options = search;
  if (answer.question.typed) {
    ASSIGN_OR_RETURN(rules, RulesFor(link, search.stop));
    options.memory_bytes = search_bytes_ - std::min(rule_bytes_, search_bytes_ / 2);
  }
  return PredictLinks(EmbeddedOf(run_), link, answer.question.known == "mark" ? KnownEdges::kMark : KnownEdges::kHide,
                      options, rules);
}

void Answerer::CountReading() {
  constexpr std::uint64_t kReadings = 1024;  // a few pages each
  if (++counts_->readings % kReadings == 0) run_.graph->ForgetTexts(0, run_.graph->node_count());
}

// JSON contains complete names, of up to 64 KiB: they must fit the memory that the search used.
absl::StatusOr<std::string> Answerer::RowText(std::string_view text, std::uint64_t& bytes, std::uint64_t most) const {
  if (!options_.complete_texts) return EscapeCell(text, kMaxNameBytes);
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

absl::StatusOr<Answer> Answerer::Ask(const Question& question, std::uint64_t k, const std::function<bool()>& stop) {
  absl::StatusOr<Answer> answer = Find(question, k, stop);
  if (!answer.ok() && KindOf(answer.status()) == ErrorKind::kUsage) ++counts_->refused;
  return answer;
}

absl::StatusOr<Answer> Answerer::Find(const Question& question, std::uint64_t k, const std::function<bool()>& stop) {
  Answer answer;
  answer.question = question;
  answer.has_labels = run_.graph->labels() != nullptr;
  const NodeSearchOptions search = OptionsFor(k, stop);
  std::vector<NodeId> nodes;
  if (question.kind != Question::Kind::kPredict) {
    ASSIGN_OR_RETURN(const std::vector<ScoredNode> found,
                     question.kind == Question::Kind::kAnalogy ? Analogy(answer, search) : Neighbors(answer, search));
    for (const ScoredNode& scored : found) {
      nodes.push_back(scored.node);
      answer.rows.push_back({"", "", scored.score});
    }
    RETURN_IF_ERROR(NameRows(nodes, answer.rows));
    return answer;
  }
  ASSIGN_OR_RETURN(answer.question, WithRelation(question, *run_.graph));
  if (question.known.empty()) answer.question.known = options_.known;
  if (options_.typed) answer.question.typed = true;
  ASSIGN_OR_RETURN(const Predictions predictions, Predict(answer, search));
  answer.known = predictions.known;
  for (const Prediction& prediction : predictions.nodes) {
    nodes.push_back(prediction.node);
    answer.rows.push_back({"", "", prediction.score, prediction.known, prediction.plausible});
  }
  RETURN_IF_ERROR(NameRows(nodes, answer.rows));
  return answer;
}

}  // namespace octavo
