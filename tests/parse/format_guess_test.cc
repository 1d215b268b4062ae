#include "parse/format_guess.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

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

TEST(GuessColumns, TakesTheFirstLineWithTwoToFourFields) {
  EXPECT_EQ(GuessColumns("# a b\nx\na b c\nd e\n", InputFormat::kBlank).count, 3U);
  EXPECT_EQ(GuessColumns("# a b\n\nx\n", InputFormat::kBlank).count, 0U);
}

TEST(GuessCsvSeparator, FindsSemicolonsAndBars) {
  EXPECT_EQ(GuessCsvSeparator("a;b;0,5\nc;d;1,25\n"), ';');
  EXPECT_EQ(GuessCsvSeparator("a;b\nc, d;e\n"), ';');
  EXPECT_EQ(GuessCsvSeparator("# x\na|b\n"), '|');
  EXPECT_EQ(GuessCsvSeparator("a;x,b\nc;y,d\n"), ',');
  EXPECT_EQ(GuessCsvSeparator("a,b\nc,d\n"), ',');
  EXPECT_EQ(GuessCsvSeparator("1,2\n3,4\n"), ',');
  EXPECT_EQ(GuessCsvSeparator(""), ',');
  EXPECT_EQ(GuessFormat("New York;Los Angeles\nBonn;Berlin\n"), InputFormat::kCsv);
  EXPECT_EQ(GuessFormat("x;1 y;2\nz;3 w;4\n"), InputFormat::kBlank);  // blanks fit as well
}

}  // namespace
}  // namespace octavo
