#include "import/text_format.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(ParseColumns, TakesNamesInAnyOrderAndSkips) {
  EXPECT_EQ(*ParseColumns("head,tail"), (Columns{.head = 0, .tail = 1, .count = 2}));
  EXPECT_EQ(*ParseColumns("-,tail,weight,-,head"), (Columns{.head = 4, .tail = 1, .weight = 2, .count = 5}));
  for (const char* text : {"head,tail", "head,relation,tail,weight", "tail,-,head"}) {
    EXPECT_EQ(ColumnsText(*ParseColumns(text)), text);
  }
}

TEST(ParseColumns, RefusesWhatIsIncompleteDoubleOrUnknown) {
  for (const char* text : {"", "head", "head,", ",head,tail", "head,head,tail", "head,tail,tail", "head,tail,type",
                           "Head,Tail", "head tail", "head, tail", "relation,weight", "head,tail,weight,weight"}) {
    EXPECT_ERROR(ParseColumns(text), kUsage, "--columns: found") << text;
  }
  std::string many = "head,tail";
  for (int i = 0; i < 62; ++i) many += ",-";
  EXPECT_OK(ParseColumns(many));
  EXPECT_ERROR(ParseColumns(many + ",-"), kUsage, "at most 64");
}

TEST(DefaultColumns, FollowTheCount) {
  EXPECT_EQ(ColumnsText(DefaultColumns(2)), "head,tail");
  EXPECT_EQ(ColumnsText(DefaultColumns(3)), "head,relation,tail");
  EXPECT_EQ(ColumnsText(DefaultColumns(4)), "head,relation,tail,weight");
  for (const std::size_t count : {0UL, 1UL, 5UL}) EXPECT_EQ(DefaultColumns(count).count, 0U);
}

TEST(FormatOfExtension, LooksBehindTheCompression) {
  EXPECT_EQ(FormatOfExtension("a/b.tsv"), TextFormat::kTsv);
  EXPECT_EQ(FormatOfExtension("a.tsv.gz"), TextFormat::kTsv);
  EXPECT_EQ(FormatOfExtension("a.csv.zst"), TextFormat::kCsv);
  for (const char* path : {"a.txt", "a.txt.gz", "a", "-", "csv", "a.gz", ""}) {
    EXPECT_FALSE(FormatOfExtension(path).has_value()) << path;
  }
}

TEST(GuessFormat, GoesByTheFirstDataLines) {
  EXPECT_EQ(GuessFormat("# comment, with comma\n\na\tb\n"), TextFormat::kTsv);
  EXPECT_EQ(GuessFormat("New York\tUSA, North\n"), TextFormat::kTsv);
  EXPECT_EQ(GuessFormat("a b\nc d\n"), TextFormat::kBlank);
  EXPECT_EQ(GuessFormat("a,b\r\nc,d\r\n"), TextFormat::kCsv);
  EXPECT_EQ(GuessFormat("\"a,x\",b\nc,d\n"), TextFormat::kCsv);
  EXPECT_EQ(GuessFormat("a,b\nc,d,e\n"), TextFormat::kBlank);  // not the same number of fields
  EXPECT_EQ(GuessFormat("a,b,c,d,e\n"), TextFormat::kBlank);
  EXPECT_EQ(GuessFormat(""), std::nullopt);
  EXPECT_EQ(GuessFormat("# only, a comment\n\n"), std::nullopt);
  EXPECT_EQ(GuessFormat("a,b"), TextFormat::kCsv);
}

TEST(GuessColumns, TakesTheFirstLineWithTwoToFourFields) {
  EXPECT_EQ(GuessColumns("# a b\nx\na b c\nd e\n", TextFormat::kBlank).count, 3U);
  EXPECT_EQ(GuessColumns("# a b\n\nx\n", TextFormat::kBlank).count, 0U);
}

TEST(TakeLine, TakesLineEndsOff) {
  std::string_view text = "a\r\n\nb\rc\nlast";
  EXPECT_EQ(TakeLine(text), "a");
  EXPECT_EQ(TakeLine(text), "");
  EXPECT_EQ(TakeLine(text), "b\rc");
  EXPECT_EQ(TakeLine(text), "last");
  EXPECT_TRUE(text.empty());
}

TEST(KindOfLine, KnowsCommentsAndBlanks) {
  EXPECT_EQ(KindOfLine("# a"), LineKind::kComment);
  EXPECT_EQ(KindOfLine("%%MatrixMarket"), LineKind::kComment);
  EXPECT_EQ(KindOfLine(""), LineKind::kBlank);
  EXPECT_EQ(KindOfLine(" \t "), LineKind::kBlank);
  EXPECT_EQ(KindOfLine(" # a"), LineKind::kData);
  EXPECT_EQ(KindOfLine("\ta"), LineKind::kData);
}

}  // namespace
}  // namespace octavo
