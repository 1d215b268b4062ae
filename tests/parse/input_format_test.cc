#include "parse/input_format.h"

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

TEST(FormatOfExtension, IgnoresTheCompression) {
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
