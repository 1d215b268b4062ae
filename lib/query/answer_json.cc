#include "query/answer_json.h"

#include <cstddef>
#include <cstdlib>

#include "base/json_escape.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

// A field for a label: null for a name without one.
Json LabelJson(const std::string& label) { return label.empty() ? Json() : Json(label); }

Json RowJson(const Answer& answer, const AnswerRow& row) {
  Json object = {{"node", row.name}};
  if (answer.has_labels) object["label"] = LabelJson(row.label);
  object["score"] = ShortestDecimal(row.score);
  return object;
}

}  // namespace

double ShortestDecimal(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

void AddAnswer(const Answer& answer, Json& object) {
  const auto& [head, relation, tail] = answer.question.words;
  if (answer.question.kind == Question::Kind::kNeighbors) {
    object["node"] = head;
    if (answer.has_labels) object["label"] = LabelJson(answer.labels[0]);
    object["metric"] = answer.question.metric;
    if (answer.ef) object["ef"] = *answer.ef;
    object["neighbors"] = Json::array();
    for (const AnswerRow& row : answer.rows) {
      object["neighbors"].push_back(RowJson(answer, row));
    }
    return;
  }
  if (answer.question.kind == Question::Kind::kAnalogy) {
    for (std::size_t i = 0; i < answer.question.words.size(); ++i) {
      const std::string key(1, static_cast<char>('a' + i));
      object[key] = answer.question.words[i];
      if (answer.has_labels) object[key + "_label"] = LabelJson(answer.labels[i]);
    }
    object["metric"] = answer.question.metric;
    object["answers"] = Json::array();
    for (const AnswerRow& row : answer.rows) object["answers"].push_back(RowJson(answer, row));
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

std::string JsonText(const Json& object, int indent) {
  return EscapeJsonControls(object.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace octavo
