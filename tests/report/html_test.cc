#include "report/html.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

// Names that break pages: ends of elements, comments, quotes, entities, bytes that are not UTF-8, controls.
const std::string kNames[] = {
    "</script><b>",           "<!--<script>", "\"'`",   "&lt;", "\xFF\xC0\x80", std::string("\0\x01\x7F", 3),
    "\u00E4\u2028\U0001F600", "\xC2\x85",     "\\u003c"};

TEST(HtmlText, LeavesNothingThatEndsATextOrAnAttribute) {
  EXPECT_EQ(HtmlText("</script><b>"), "&lt;/script&gt;&lt;b&gt;");
  EXPECT_EQ(HtmlText("\"'&"), "&quot;&#39;&amp;");
  EXPECT_EQ(HtmlText("a\xFF\n\u00E4"), "a\uFFFD\uFFFD\u00E4");
  for (const std::string& name : kNames) EXPECT_EQ(HtmlText(name).find_first_of("<>\"'"), std::string::npos) << name;
}

TEST(ScriptJson, IsTheSameJsonWithNothingThatEndsAScript) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const std::string& name : kNames) names.push_back(name);
  const std::string text = ScriptJson({{"names", names}});
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  for (const char c : text) EXPECT_TRUE(c >= ' ' && c < 0x7F) << text;
  const auto read = nlohmann::json::parse(text)["names"];
  EXPECT_EQ(read[0], kNames[0]);
  EXPECT_EQ(read[1], kNames[1]);
  EXPECT_EQ(read[2], kNames[2]);
  EXPECT_EQ(read[6], kNames[6]);
  EXPECT_EQ(read[8], kNames[8]);
}

}  // namespace
}  // namespace octavo
