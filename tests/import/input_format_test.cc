#include "import/input_format.h"

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
  EXPECT_EQ(FormatOfExtension("a/b.tsv"), InputFormat::kTsv);
  EXPECT_EQ(FormatOfExtension("a.tsv.gz"), InputFormat::kTsv);
  EXPECT_EQ(FormatOfExtension("a.csv.zst"), InputFormat::kCsv);
  EXPECT_EQ(FormatOfExtension("a.nt"), InputFormat::kNtriples);
  EXPECT_EQ(FormatOfExtension("a.nq.gz"), InputFormat::kNquads);
  EXPECT_EQ(FormatOfExtension("a.mtx.zst"), InputFormat::kMatrixMarket);
  EXPECT_EQ(FormatOfExtension("a.npy"), InputFormat::kNpy);
  for (const char* path : {"a.txt", "a.txt.gz", "a", "-", "csv", "a.gz", ""}) {
    EXPECT_FALSE(FormatOfExtension(path).has_value()) << path;
  }
}

TEST(GuessFormat, GoesByTheFirstDataLines) {
  EXPECT_EQ(GuessFormat("# comment, with comma\n\na\tb\n"), InputFormat::kTsv);
  EXPECT_EQ(GuessFormat("New York\tUSA, North\n"), InputFormat::kTsv);
  EXPECT_EQ(GuessFormat("a b\nc d\n"), InputFormat::kBlank);
  EXPECT_EQ(GuessFormat("a,b\r\nc,d\r\n"), InputFormat::kCsv);
  EXPECT_EQ(GuessFormat("\"a,x\",b\nc,d\n"), InputFormat::kCsv);
  EXPECT_EQ(GuessFormat("a,b\nc,d,e\n"), InputFormat::kBlank);  // not the same number of fields
  EXPECT_EQ(GuessFormat("a,b,c,d,e\n"), InputFormat::kBlank);
  EXPECT_EQ(GuessFormat(""), std::nullopt);
  EXPECT_EQ(GuessFormat("# only, a comment\n\n"), std::nullopt);
  EXPECT_EQ(GuessFormat("a,b"), InputFormat::kCsv);
}

TEST(GuessFormat, KnowsWhatSaysItsName) {
  EXPECT_EQ(GuessFormat("%%MatrixMarket matrix"), InputFormat::kMatrixMarket);
  EXPECT_EQ(GuessFormat("% MatrixMarket\n1 2\n"), InputFormat::kBlank);
  EXPECT_EQ(GuessFormat("\x93NUMPY\x01"), InputFormat::kNpy);
  EXPECT_EQ(GuessFormat("# c\n\n<a:a> <b:b> <c:c> .\n"), InputFormat::kNtriples);
  EXPECT_EQ(GuessFormat("_:a\t<b:b>\t\"x, y\" .\r\n"), InputFormat::kNtriples);
  EXPECT_EQ(GuessFormat("<a:a> <b:b> <c:c> .\n<a:a> <b:b> <c:c> <g:g> .\n"), InputFormat::kNquads);
  EXPECT_EQ(GuessFormat("<a:a>\t<b:b>\t<c:c>\n"), InputFormat::kTsv);  // no statement without its full stop
  EXPECT_EQ(GuessFormat("_:a <b> c\n"), InputFormat::kBlank);
}

TEST(FileFormat, SaysWhyAndWhatItLooksLike) {
  FileFormat format = {.format = InputFormat::kNtriples, .reason = FileFormat::Reason::kExtension, .looks_like = {}};
  EXPECT_EQ(FileFormatText(format), "N-Triples (by extension)");
  format.looks_like = InputFormat::kTsv;
  EXPECT_EQ(FileFormatText(format),
            "N-Triples (by extension), but looks like tab-separated text; --format tsv reads that");
  for (const char* name : {"tsv", "csv", "blank", "ntriples", "nquads", "mtx", "npy"}) {
    EXPECT_EQ(InputFormatName(ParseInputFormat(name).value()), name);
  }
  EXPECT_FALSE(ParseInputFormat("auto").has_value());
}

TEST(GuessColumns, TakesTheFirstLineWithTwoToFourFields) {
  EXPECT_EQ(GuessColumns("# a b\nx\na b c\nd e\n", InputFormat::kBlank).count, 3U);
  EXPECT_EQ(GuessColumns("# a b\n\nx\n", InputFormat::kBlank).count, 0U);
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
