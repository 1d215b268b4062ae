#include "query/answer_json.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const Answer& answer) {
  Json object = Json::object();
  AddAnswer(answer, object);
  return JsonText(object);
}

TEST(AnswerJsonTest, Neighbors) {
  Answer answer{.question = {.words = {"a\"b"}, .metric = "cosine"},
                .rows = {{"x", "", 0.1F}, {"\xff\xc2\x9b", "", -1.0F}}};
  EXPECT_EQ(TextOf(answer), R"({"node":"a\"b","metric":"cosine","neighbors":[{"node":"x","score":0.1},{"node":")"
                            "\xef\xbf\xbd"
                            R"(\u009b","score":-1.0}]})");
  answer.ef = 50;
  answer.has_labels = true;
  answer.labels[0] = "A";
  answer.rows.resize(1);
  EXPECT_EQ(
      TextOf(answer),
      R"({"node":"a\"b","label":"A","metric":"cosine","ef":50,"neighbors":[{"node":"x","label":null,"score":0.1}]})");
}

TEST(AnswerJsonTest, Predictions) {
  Answer answer{
      .question = {.kind = Question::Kind::kPredict, .words = {"h", "r", "?"}, .known = "mark", .typed = true},
      .rows = {{"t", "", 2.0F, true, false}},
      .known = 3};
  EXPECT_EQ(TextOf(answer), R"({"head":"h","relation":"r","tail":null,"known":"mark","known_answers":3,"typed":true,)"
                            R"("predictions":[{"node":"t","score":2.0,"known":true,"plausible":false}]})");
}

TEST(AnswerJsonTest, Analogies) {
  const Answer answer{.question = {.kind = Question::Kind::kAnalogy, .words = {"a", "b", "c"}, .metric = "cosine"},
                      .rows = {{"d", "", 0.5F}}};
  EXPECT_EQ(TextOf(answer), R"({"a":"a","b":"b","c":"c","metric":"cosine","answers":[{"node":"d","score":0.5}]})");
}

}  // namespace
}  // namespace octavo
