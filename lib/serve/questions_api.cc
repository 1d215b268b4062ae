// Neighbours, predictions, analogies, batches of them, vectors, and how two runs answer.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "format/npy_header.h"
#include "nlohmann/json.hpp"
#include "query/answer_json.h"
#include "query/embedded_of.h"
#include "query/name_lookup.h"
#include "serve/service.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostQuestions = 1000;
constexpr std::uint64_t kMostBatchAnswers = 100'000;  // k times the questions
constexpr std::uint64_t kMostVectorBytes = std::uint64_t{4} << 20;

absl::StatusOr<ServeResponse> Asked(ServedRun& run, const Question& question, std::uint64_t k, const Call& call) {
  ASSIGN_OR_RETURN(const Answer answer, run.Ask(question, k, call.stop));
  Json object = Json::object();
  AddAnswer(answer, object);
  return JsonResponse(200, object);
}

Question NeighborsQuestion(const Parameters& parameters) {
  Question question{.kind = Question::Kind::kNeighbors, .words = {parameters.Text("name")}};
  question.metric = parameters.Text("metric");
  question.exact = parameters.Flag("exact");
  question.ef = parameters.Whole("ef");
  question.suggest = false;  // /api/v1/search has similar names, in a queue where nobody waits for a search
  return question;
}

// The words of {"predict": [...]}, {"analogy": [...]} or {"neighbors": NAME}.
absl::StatusOr<Question> QuestionOf(const Json& entry, const Json& body) {
  static const std::map<std::string, std::pair<Question::Kind, std::pair<std::size_t, std::size_t>>> kKinds = {
      {"neighbors", {Question::Kind::kNeighbors, {1, 1}}},
      {"predict", {Question::Kind::kPredict, {2, 3}}},
      {"analogy", {Question::Kind::kAnalogy, {3, 3}}}};
  const absl::Status wrong = UsageError(
      "expected each question as {\"neighbors\": NAME}, {\"predict\": [HEAD, RELATION, \"?\"]} or "
      "{\"analogy\": [A, B, C]}");
  if (!entry.is_object() || entry.size() != 1) return wrong;
  const auto kind = kKinds.find(entry.begin().key());
  if (kind == kKinds.end()) return wrong;
  const Json& words = entry.begin().value();
  const auto [least, most] = kind->second.second;
  Question question{.kind = kind->second.first, .suggest = false};
  if (words.is_string() && most == 1) {
    question.words[0] = words.get<std::string>();
  } else {
    if (!words.is_array() || words.size() < least || words.size() > most) return wrong;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!words[i].is_string()) return wrong;
      question.words[i] = words[i].get<std::string>();
    }
  }
  if (const auto known = body.find("known"); known != body.end()) {
    if (*known != "hide" && *known != "mark") return UsageError("known: expected \"hide\" or \"mark\"");
    question.known = known->get<std::string>();
  }
  for (const auto& [key, member] : {std::pair("typed", &Question::typed), std::pair("exact", &Question::exact)}) {
    if (const auto found = body.find(key); found != body.end()) {
      if (!found->is_boolean()) return UsageError(fmt::format("{}: expected true or false", key));
      question.*member = found->get<bool>();
    }
  }
  return question;
}

struct Questions {
  std::vector<Question> list;
  std::uint64_t k = 10;
};

absl::StatusOr<Questions> QuestionsOf(const ServeRequest& request) {
  ASSIGN_OR_RETURN(const Json body, ParseBody(request));
  for (const auto& [key, value] : body.items()) {
    constexpr std::array<std::string_view, 5> kKeys = {"questions", "k", "known", "typed", "exact"};
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      return UsageError(fmt::format("found \"{}\"; expected questions, k, known, typed or exact", key));
    }
  }
  Questions questions;
  const auto list = body.find("questions");
  if (list == body.end() || !list->is_array() || list->empty() || list->size() > kMostQuestions) {
    return UsageError(fmt::format("questions: expected a list of 1 to {}", kMostQuestions));
  }
  if (const auto k = body.find("k"); k != body.end()) {
    if (!k->is_number_unsigned() || *k < 1U || *k > kMostServedAnswers) {
      return UsageError(fmt::format("k: expected a whole number from 1 to {}", kMostServedAnswers));
    }
    questions.k = k->get<std::uint64_t>();
  }
  if (questions.k * list->size() > kMostBatchAnswers) {
    return UsageError(fmt::format("{} questions with {} answers each; expected at most {} answers", list->size(),
                                  questions.k, kMostBatchAnswers));
  }
  for (const Json& entry : *list) {
    ASSIGN_OR_RETURN(Question question, QuestionOf(entry, body));
    questions.list.push_back(std::move(question));
  }
  return questions;
}

// Names by the values "name" of the target or the key "names" of the body.
absl::StatusOr<std::vector<std::string>> NamesOf(const Call& call) {
  if (call.request.method != "POST") return call.parameters.Texts("name");
  ASSIGN_OR_RETURN(const Json body, ParseBody(call.request));
  const auto list = body.find("names");
  const absl::Status wrong = UsageError("expected {\"names\": [NAME, ...]}");
  if (body.size() != 1 || list == body.end() || !list->is_array()) return wrong;
  std::vector<std::string> names;
  for (const Json& name : *list) {
    if (!name.is_string()) return wrong;
    names.push_back(name.get<std::string>());
  }
  return names;
}

// Ranks and scores of the neighbours that either run has.
Json Differences(const Answer& here, const Answer& other) {
  struct Place {
    const AnswerRow* row = nullptr;
    std::size_t rank = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, std::pair<Place, Place>> places;
  for (std::size_t i = 0; i < here.rows.size(); ++i) {
    order.push_back(here.rows[i].name);
    places[here.rows[i].name].first = {&here.rows[i], i + 1};
  }
  for (std::size_t i = 0; i < other.rows.size(); ++i) {
    if (!places.contains(other.rows[i].name)) order.push_back(other.rows[i].name);
    places[other.rows[i].name].second = {&other.rows[i], i + 1};
  }
  Json list = Json::array();
  for (const std::string& name : order) {
    const auto& [first, second] = places[name];
    list.push_back({{"node", name},
                    {"rank", first.row == nullptr ? Json() : Json(first.rank)},
                    {"other_rank", second.row == nullptr ? Json() : Json(second.rank)}});
  }
  return list;
}

}  // namespace

absl::StatusOr<RequestQueue> Service::QueueOf(const Question& question, const Parameters& parameters) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(parameters));
  return run->PassesOver(question) ? RequestQueue::kPass : RequestQueue::kQuick;
}

Service::Response Service::Neighbors(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  return Asked(*run, NeighborsQuestion(call.parameters), call.parameters.Whole("k"), call);
}

Service::Response Service::Predict(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  const Parameters& parameters = call.parameters;
  const auto end = [&](std::string_view name) {
    return parameters.Has(name) ? parameters.Text(name) : std::string(kAsked);
  };
  Question question{.kind = Question::Kind::kPredict,
                    .words = {end("head"), parameters.Text("relation"), end("tail")},
                    .known = parameters.Text("known"),
                    .typed = parameters.Flag("typed")};
  return Asked(*run, question, parameters.Whole("k"), call);
}

Service::Response Service::Analogy(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  const Question question{.kind = Question::Kind::kAnalogy,
                          .words = {call.parameters.Text("a"), call.parameters.Text("b"), call.parameters.Text("c")}};
  return Asked(*run, question, call.parameters.Whole("k"), call);
}

absl::StatusOr<RequestQueue> Service::BatchQueue(const Parameters& parameters, const ServeRequest& request) {
  ASSIGN_OR_RETURN(const Questions questions, QuestionsOf(request));
  for (const Question& question : questions.list) {
    ASSIGN_OR_RETURN(const RequestQueue queue, QueueOf(question, parameters));
    if (queue == RequestQueue::kPass) return queue;
  }
  return RequestQueue::kQuick;
}

// A question that cannot be answered does not keep the others from it, as in octavo query batch.
Service::Response Service::Batch(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const Questions questions, QuestionsOf(call.request));
  Json answers = Json::array();
  for (const Question& question : questions.list) {
    const absl::StatusOr<octavo::Answer> answer = run->Ask(question, questions.k, call.stop);
    Json object = Json::object();
    if (answer.ok()) {
      AddAnswer(*answer, object);
    } else {
      const ServeResponse error = ErrorOf(answer.status());
      if (IsServerError(error.status)) return answer.status();
      object = Json::parse(*error.body);
    }
    answers.push_back(std::move(object));
  }
  return JsonResponse(200, {{"answers", std::move(answers)}});
}

Service::Response Service::Vectors(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesOf(call));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run->Current());
  const TrainedRun& trained = commit->answerer.run();
  const std::size_t dim = trained.model.dim;
  const std::uint64_t most = std::max<std::uint64_t>(1, kMostVectorBytes / (dim * sizeof(float)));
  if (names.empty() || names.size() > most) {
    return UsageError(fmt::format("found {} names; expected 1 to {}", names.size(), most));
  }
  std::vector<float> values(names.size() * dim);
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSIGN_OR_RETURN(const NodeId node, FindNode(*trained.graph, names[i], names.size() == 1));
    nodes.push_back(node);
    RETURN_IF_ERROR(trained.embeddings.ReadRows(Value(node), std::span(values).subspan(i * dim, dim)));
    trained.embeddings.Forget(Value(node), 1);
  }
  if (call.parameters.Text("format") == "npy") {
    const auto header = EncodeNpyHeader({values.size() / dim, dim, NpyElement::kFloat32});
    std::string bytes(reinterpret_cast<const char*>(header.data()), header.size());
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return TextResponse(200, "application/octet-stream", std::move(bytes));
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Json vector = Json::array();
    for (const float x : std::span(values).subspan(i * dim, dim)) vector.push_back(ShortestDecimal(x));
    Json object = {{"node", trained.graph->nodes().Name(nodes[i])}};
    if (trained.graph->labels() != nullptr) {
      const std::string_view label = trained.graph->LabelOf(nodes[i]);
      object["label"] = label.empty() ? Json() : Json(label);
    }
    object["vector"] = std::move(vector);
    list.push_back(std::move(object));
  }
  RETURN_IF_ERROR(trained.graph->TextStatus());
  return JsonResponse(200, {{"dim", dim}, {"vectors", std::move(list)}});
}

Service::Response Service::Compare(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(ServedRun* const other, RunOf(call.parameters, "other"));
  const Question question{.kind = Question::Kind::kNeighbors, .words = {call.parameters.Text("name")}};
  const std::uint64_t k = call.parameters.Whole("k");
  ASSIGN_OR_RETURN(const octavo::Answer here, run->Ask(question, k, call.stop));
  ASSIGN_OR_RETURN(const octavo::Answer there, other->Ask(question, k, call.stop));
  Json object = {{"run", run->options().name}, {"other", other->options().name}};
  Json& answers = object["answers"] = Json::array();
  for (const octavo::Answer* answer : {&here, &there}) {
    Json each = Json::object();
    AddAnswer(*answer, each);
    answers.push_back(std::move(each));
  }
  Json differences = Differences(here, there);
  const auto in_both = std::ranges::count_if(
      differences, [](const Json& each) { return !each["rank"].is_null() && !each["other_rank"].is_null(); });
  object["in_both"] = in_both;
  object["neighbors"] = std::move(differences);
  return JsonResponse(200, object);
}

}  // namespace octavo
