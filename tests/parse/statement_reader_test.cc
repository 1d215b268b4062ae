#include "parse/statement_reader.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

using Result = StatementReader::Result;

// "subject predicate object", or the complaint after "column: ".
std::string Read(const std::string& line, InputFormat format = InputFormat::kNtriples, bool keep_literals = true) {
  StatementReader reader(format, keep_literals);
  switch (reader.Read(line)) {
    case Result::kNothing:
      return "";
    case Result::kTriple:
      return reader.subject() + " " + reader.predicate() + " " + reader.object();
    case Result::kMalformed:
      return std::to_string(reader.column()) + ": " + reader.complaint();
  }
  return "?";
}

TEST(StatementReader, ReadsWhatTheGrammarHas) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"<http://a> <http://b> <http://c> .", "http://a http://b http://c"},
      {"<http://a><http://b><http://c>.", "http://a http://b http://c"},
      {"\t <http://a> \t<http://b>  <urn:x#y?z=%20> . # comment", "http://a http://b urn:x#y?z=%20"},
      {"_:x.y <http://b> _:0-z.", "_:x.y http://b _:0-z"},
      {"_:b1 <http://b> _:B1 .", "_:b1 http://b _:B1"},
      {"<http://a\\u0041\\U000000e9> <http://b> <http://c\xC3\xA9> .", "http://aA\xC3\xA9 http://b http://c\xC3\xA9"},
      {"", ""},
      {" \t", ""},
      {"  # <http://a> <http://b> <http://c> .", ""}};
  for (const auto& [line, expected] : rows) {
    EXPECT_EQ(Read(line), expected) << line;
    EXPECT_EQ(Read(line, InputFormat::kNquads), expected) << line;
  }
}

// The oracle: section 4 of RDF 1.2 N-Triples, read by eye.
TEST(StatementReader, LiteralsComeInTheirCanonicalForm) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"\"x\"", "\"x\""},
      {"\"\"", "\"\""},
      {R"("\u0078\n\r\t\b\f\"\'\\")", R"("x\n\r\t\b\f\"'\\")"},
      {"\"a\tb\x01\x7F\"", R"("a\tb\u0001\u007F")"},
      {"\"caf\\u00e9\"@fr-CA", "\"caf\xC3\xA9\"@fr-CA"},
      {"\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>", "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>"},
      {"\"x\"^^<http://www.w3.org/2001/XMLSchema#string>", "\"x\""}};
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(Read("<a:a> <b:b> " + text + " ."), "a:a b:b " + expected) << text;
    EXPECT_EQ(Read("<a:a> <b:b> " + text + " .", InputFormat::kNtriples, false), "a:a b:b ") << text;
  }
}

TEST(StatementReader, AGraphIsForQuadsAlone) {
  for (const char* graph : {"<http://g>", "_:g"}) {
    const std::string line = std::string("<a:a> <b:b> <c:c> ") + graph + " .";
    EXPECT_EQ(Read(line, InputFormat::kNquads), "a:a b:b c:c");
    EXPECT_NE(Read(line).find("--format nquads"), std::string::npos) << Read(line);
  }
  StatementReader reader(InputFormat::kNquads, false);
  ASSERT_EQ(reader.Read("<a:a> <b:b> <c:c> <g:g> ."), Result::kTriple);
  EXPECT_TRUE(reader.has_graph());
  ASSERT_EQ(reader.Read("<a:a> <b:b> \"c\" ."), Result::kTriple);
  EXPECT_FALSE(reader.has_graph());
  EXPECT_TRUE(reader.has_literal());
}

TEST(StatementReader, RefusesWhatIsNoStatementAndGoesOn) {
  for (const char* line : {"<http://a> <http://b> <http://c>",
                           "<http://a> <http://b> .",
                           "<http://a> .",
                           ".",
                           "%",
                           "a\tb\tc",
                           "<http://a> <http://b> <http://c> . <http://a> <http://b> <http://d> .",
                           "<a:a> <b:b> <c:c> . <d:d> .",
                           "<http://a> <http://b> <http://c>, <http://d> .",
                           "<http://a> <http://b> <http://c>; <http://d> <http://e> .",
                           "<http://a> a <http://b> .",
                           "[] <http://b> <http://c> .",
                           "<http://a> <http://b> [] .",
                           "x:y <http://b> <http://c> .",
                           "<http://a> x:y <http://c> .",
                           "<http://a> <http://b> x:y .",
                           "\"l\" <http://b> <http://c> .",
                           "<http://a> _:p <http://c> .",
                           "<http://a> \"p\" <http://c> .",
                           "<http://a> <http://b> 1 .",
                           "<http://a> <http://b> true .",
                           "<http://a> <http://b> 'x' .",
                           "<http://a> <http://b> \"\"\"x\"\"\" .",
                           "<http://a> <http://b> \"x\" . junk",
                           "<http://a> <http://b> \"x .",
                           "<http://a> <http://b> \"x\\q\" .",
                           "<http://a> <http://b> \"x\"@ .",
                           "<http://a> <http://b> \"x\"^^x:y .",
                           "<http://a> <http://b> \"x\"^^ .",
                           "<http://a> <http://b> \"\xFF\" .",
                           "<http://a\xFF> <http://b> <http://c> .",
                           "<http://a> <http://b> \"\\uD800\" .",
                           "<http://a> <http://b> \"\\U00110000\" .",
                           "<http://\\uD800> <http://b> <http://c> .",
                           "<http://a\\u000Ab> <http://b> <http://c> .",
                           "<http://a\\u0009b> <http://b> <http://c> .",
                           "<a:a> <b:\\u0022> <c:c> .",
                           "<a:a> <b:b> \"\"^^<c:\\u005C> .",
                           "<http://a b> <http://b> <http://c> .",
                           "<a> <b> <c> .",
                           "<> <http://b> <http://c> .",
                           "@prefix x: <http://x> .",
                           "PREFIX x: <http://x>",
                           "{",
                           "<a:a> <b:b> (1) .",
                           "<< <a:a> <b:b> <c:c> >> <http://p> <http://o> .",
                           "_:x <b:b> _:y",
                           "_:x <b:b> _:y. .",
                           "_:x <b:b> _:y..",
                           "_:x. <b:b> _:y .",
                           "<a:a> <b:b> <c:c> <g:g> <h:h> .",
                           "<a:a> <b:b> <c:c> \"g\" ."}) {
    for (const InputFormat format : {InputFormat::kNtriples, InputFormat::kNquads}) {
      StatementReader reader(format, true);
      ASSERT_EQ(reader.Read(line), Result::kMalformed) << line;
      EXPECT_GE(reader.column(), 1U) << line;
      EXPECT_LE(reader.column(), std::string(line).size() + 1) << line;
      EXPECT_EQ(reader.Read("<a:a> <b:b> <c:c> ."), Result::kTriple) << line;
      EXPECT_EQ(reader.object(), "c:c") << line;
    }
  }
}

TEST(StatementReader, SaysWhereAndWhat) {
  EXPECT_EQ(Read("<http://a> <http://b> 1 ."),
            "23: found \"1 .\", expected a statement of N-Triples; expected: ':', '<', or '_'");
  EXPECT_EQ(Read("<http://a> <http://b> \"x\\q\" ."),
            "26: found \"q\\\" .\", expected a statement of N-Triples; invalid escape `\\\\q'");
}

}  // namespace
}  // namespace octavo
