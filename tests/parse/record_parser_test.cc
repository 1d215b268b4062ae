#include "parse/record_parser.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

const LineLayout kTriples = {InputFormat::kTsv, DefaultColumns(3)};
const LineLayout kWeighted = {InputFormat::kTsv, DefaultColumns(4)};

TEST(ParseChunk, ParsesLinesOfEveryKindAndCountsThem) {
  const std::string text = "# comment\na\tr\tb\n\nc d\tr\te\r\n% other\nf\tr\tg";
  const ParsedChunk chunk = ParseChunk(text, kTriples);
  ASSERT_EQ(chunk.edges.size(), 3U);
  EXPECT_EQ(chunk.edges[0].head, "a");
  EXPECT_EQ(chunk.edges[0].relation, "r");
  EXPECT_EQ(chunk.edges[0].tail, "b");
  EXPECT_EQ(chunk.edges[0].weight, 1.0F);
  EXPECT_EQ(chunk.edges[1].head, "c d");
  EXPECT_EQ(chunk.edges[1].tail, "e");
  EXPECT_EQ(chunk.edges[2].tail, "g");
  EXPECT_EQ(chunk.lines, 6U);
  EXPECT_EQ(chunk.comment_lines, 2U);
  EXPECT_EQ(chunk.blank_lines, 1U);
  EXPECT_EQ(chunk.bad_line_count, 0U);
}

TEST(ParseChunk, ReordersAndSkipsColumns) {
  const LineLayout layout = {InputFormat::kBlank, *ParseColumns("weight,-,tail,head")};
  const ParsedChunk chunk = ParseChunk("0.25 x b a\n", layout);
  ASSERT_EQ(chunk.edges.size(), 1U);
  EXPECT_EQ(chunk.edges[0].head, "a");
  EXPECT_EQ(chunk.edges[0].tail, "b");
  EXPECT_EQ(chunk.edges[0].weight, 0.25F);
  EXPECT_EQ(chunk.edges[0].relation, "");
}

// The only complaint about `line`, which is the second line.
std::string Complaint(const std::string& line, const LineLayout& layout) {
  const std::string text = "\n" + line + "\n";
  const ParsedChunk chunk = ParseChunk(text, layout);
  EXPECT_EQ(chunk.bad_line_count, 1U) << line;
  EXPECT_TRUE(chunk.edges.empty()) << line;
  if (chunk.bad_lines.size() != 1) return "";
  EXPECT_EQ(chunk.bad_lines[0].line, 1U);
  return chunk.bad_lines[0].message;
}

TEST(ParseChunk, SaysWhatItFoundAndWhatItExpected) {
  EXPECT_EQ(Complaint("a\tb", kTriples), "found 2 tsv columns in \"a\\tb\", expected 3 (head,relation,tail)");
  EXPECT_EQ(Complaint("a", kTriples), "found 1 tsv column in \"a\", expected 3 (head,relation,tail)");
  EXPECT_EQ(Complaint("\tr\tb", kTriples), "found an empty head, expected a name");
  EXPECT_EQ(Complaint("a\t\tb", kTriples), "found an empty relation, expected a name");
  EXPECT_EQ(Complaint("a\tr\t", kTriples), "found an empty tail, expected a name");
  EXPECT_EQ(Complaint("\x1b[31m", kTriples), "found 1 tsv column in \"\\x1B[31m\", expected 3 (head,relation,tail)");
  EXPECT_EQ(Complaint("a", {InputFormat::kBlank, {}}),
            "found 1 blank column in \"a\", expected 2 (head,tail), 3 (head,relation,tail) or 4 "
            "(head,relation,tail,weight); --columns names others");
  EXPECT_EQ(Complaint("\"a,b", {InputFormat::kCsv, DefaultColumns(2)}),
            "found a quote without its closing quote in \"\\\"a,b\", expected quotes around a whole field, \"\" for "
            "one within");
}

TEST(ParseChunk, RefusesWeightsThatAreNotFiniteOrNegative) {
  for (const char* weight : {"", "-1", "-1e-9", "nan", "inf", "infinity", "1e400", "1e39", "1e-60", "1,5", "1.5 ",
                             " 1.5", "+1", "0x1", "one", "1.2.3"}) {
    EXPECT_NE(Complaint(std::string("a\tr\tb\t") + weight, kWeighted).find("expected a finite number, 0 or above"),
              std::string::npos)
        << weight;
  }
  for (const auto& [text, weight] :
       {std::pair("1", 1.0F), std::pair("0.5", 0.5F), std::pair("1e-3", 1e-3F), std::pair("3e38", 3e38F)}) {
    const std::string line = std::string("a\tr\tb\t") + text;
    const ParsedChunk chunk = ParseChunk(line, kWeighted);
    ASSERT_EQ(chunk.edges.size(), 1U) << text;
    EXPECT_EQ(chunk.edges[0].weight, weight);
  }
}

TEST(ParseChunk, LinesOfWeightZeroAreCountedAndNoEdges) {
  const ParsedChunk chunk = ParseChunk("a\tr\tb\t0\na\tr\tc\t-0.0\na\tr\td\t1\n", kWeighted);
  EXPECT_EQ(chunk.edges.size(), 1U);
  EXPECT_EQ(chunk.zero_weights, 2U);
  EXPECT_EQ(chunk.bad_line_count, 0U);
}

TEST(ParseChunk, WeightsMayHaveADecimalCommaUnlessCommasSeparate) {
  LineLayout layout = {InputFormat::kCsv, DefaultColumns(4)};
  layout.separator = ';';
  const ParsedChunk chunk = ParseChunk("a;\"r;s\";b, c;0,25\n", layout);
  ASSERT_EQ(chunk.edges.size(), 1U);
  EXPECT_EQ(chunk.edges[0].relation, "r;s");
  EXPECT_EQ(chunk.edges[0].tail, "b, c");
  EXPECT_EQ(chunk.edges[0].weight, 0.25F);
  EXPECT_NE(Complaint("a;r;b;1,2,5", layout).find("found the weight \"1,2,5\""), std::string::npos);
}

TEST(ParseChunk, CapsNamesAndLines) {
  const std::string longest(kMaxNameBytes, 'x');
  EXPECT_EQ(ParseChunk(longest + "\tr\tb", kTriples).edges.size(), 1U);
  EXPECT_NE(Complaint(longest + "x\tr\tb", kTriples).find("found a head of 65537 bytes"), std::string::npos);
  EXPECT_NE(Complaint(std::string(kMaxLineBytes + 1, 'x'), kTriples).find("found a line of more than 1048576 bytes"),
            std::string::npos);
}

TEST(ParseChunk, ANulByteIsABadLineWhereverItStands) {
  const std::string nul(1, '\0');
  EXPECT_EQ(Complaint("a" + nul + "\tr\tb", kTriples), "found a NUL byte in \"a\\x00\\tr\\tb\", expected text");
  EXPECT_EQ(Complaint("# " + nul, kTriples), "found a NUL byte in \"# \\x00\", expected text");
}

TEST(ParseChunk, TriplesAreEdgesAndLiteralsAreCounted) {
  const std::string text =
      "# c\n<a:a> <r:r> _:b .\r\n\n<a:a> <r:r> \"x\" .\n  # d\nbad\n<a:\\u0061> <r:r> \"\\ty\"@en . # e";
  LineLayout layout = {.format = InputFormat::kNtriples, .columns = DefaultColumns(3)};
  const ParsedChunk dropped = ParseChunk(text, layout);
  EXPECT_EQ(dropped.edges.size(), 1U);
  EXPECT_EQ(dropped.literals, 2U);
  EXPECT_EQ(dropped.lines, 7U);
  EXPECT_EQ(dropped.comment_lines, 2U);
  EXPECT_EQ(dropped.blank_lines, 1U);
  ASSERT_EQ(dropped.bad_lines.size(), 1U);
  EXPECT_EQ(dropped.bad_lines[0].line, 5U);
  EXPECT_EQ(dropped.bad_lines[0].column, 1U);
  layout.keep_literals = true;
  const ParsedChunk kept = ParseChunk(text, layout);
  ASSERT_EQ(kept.edges.size(), 3U);
  EXPECT_EQ(kept.edges[0].tail, "_:b");
  EXPECT_EQ(kept.edges[1].tail, "\"x\"");
  EXPECT_EQ(kept.edges[2].head, "a:a");
  EXPECT_EQ(kept.edges[2].relation, "r:r");
  EXPECT_EQ(kept.edges[2].tail, "\"\\ty\"@en");
}

TEST(ParseChunk, MatrixEntriesKeepToTheMatrix) {
  const LineLayout layout = {.format = InputFormat::kMatrixMarket,
                             .columns = *ParseColumns("head,tail,weight"),
                             .header_lines = 2,
                             .matrix_rows = 12};
  const ParsedChunk chunk =
      ParseChunk("%%MatrixMarket\n12 12 5\n 1 12 0.5\n007 3 2\n0 1 1\n1 13 1\n1 x 1\n1 2\n", layout);
  ASSERT_EQ(chunk.edges.size(), 2U);
  EXPECT_EQ(chunk.edges[0].tail, "12");
  EXPECT_EQ(chunk.edges[0].weight, 0.5F);
  EXPECT_EQ(chunk.edges[1].head, "7");
  EXPECT_EQ(chunk.comment_lines, 2U);
  ASSERT_EQ(chunk.bad_lines.size(), 4U);
  EXPECT_EQ(chunk.bad_lines[0].message, "found the row \"0\", expected a number from 1 to 12");
  EXPECT_EQ(chunk.bad_lines[1].message, "found the column \"13\", expected a number from 1 to 12");
}

TEST(ParsedChunk, KeepsTextWhereItIs) {
  ParsedChunk chunk;
  std::vector<std::string_view> kept;
  for (int i = 0; i < 20000; ++i) kept.push_back(chunk.Keep(std::to_string(i)));
  kept.push_back(chunk.Keep(std::string(1 << 20, 'x')));
  const ParsedChunk moved = std::move(chunk);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(kept[static_cast<std::size_t>(i)], std::to_string(i));
  EXPECT_EQ(kept.back().size(), std::size_t{1} << 20);
}

TEST(ParseChunk, TakesTheMemoryOfOldEdgesAndNothingElseOfThem) {
  std::vector<ParsedEdge> old(100, {.head = "old", .relation = "old", .tail = "old"});
  const ParsedEdge* const memory = old.data();
  const ParsedChunk chunk = ParseChunk("a\tr\tb\n", kTriples, std::move(old));
  EXPECT_EQ(chunk.edges.data(), memory);
  ASSERT_EQ(chunk.edges.size(), 1U);
  EXPECT_EQ(chunk.edges[0].head, "a");
  EXPECT_EQ(chunk.edges[0].relation, "r");
  EXPECT_EQ(chunk.edges[0].tail, "b");
}

TEST(ParseChunk, DescribesTheFirstBadLinesAndCountsAll) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "bad\n";
  const ParsedChunk chunk = ParseChunk(text, kTriples);
  EXPECT_EQ(chunk.bad_line_count, 100U);
  ASSERT_EQ(chunk.bad_lines.size(), kMaxDescribedLines);
  EXPECT_EQ(chunk.bad_lines.back().line, kMaxDescribedLines - 1);
}

}  // namespace
}  // namespace octavo
