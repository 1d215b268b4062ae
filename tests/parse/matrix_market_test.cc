#include "parse/matrix_market.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(MatrixMarketHead, ReadsEveryKindOfCoordinates) {
  struct Row {
    const char* kind;
    std::size_t fields;
    bool one_triangle, weights;
  };
  for (const Row& row : {Row{"pattern general", 2, false, false}, Row{"pattern symmetric", 2, true, false},
                         Row{"real general", 3, false, true}, Row{"integer symmetric", 3, true, true},
                         Row{"Real Skew-Symmetric", 3, true, false}, Row{"complex hermitian", 4, true, false},
                         Row{"COMPLEX GENERAL", 4, false, false}}) {
    const std::string text =
        std::string("%%matrixmarket  MATRIX coordinate ") + row.kind + "\r\n% comment\n\n%\n 7\t7 12 \r\n1 1\n";
    ASSERT_OK_AND_ASSIGN(const MatrixMarketHead head, ParseMatrixMarketHead(text, "m.mtx"));
    EXPECT_EQ(head.rows, 7U);
    EXPECT_EQ(head.entries, 12U);
    EXPECT_EQ(head.fields, row.fields) << row.kind;
    EXPECT_EQ(head.one_triangle, row.one_triangle) << row.kind;
    EXPECT_EQ(head.weights, row.weights) << row.kind;
    EXPECT_EQ(head.lines, 5U);
  }
}

TEST(MatrixMarketHead, RefusesOthersByFileAndLine) {
  const auto refused = [](const std::string& text, const std::string& message) {
    EXPECT_ERROR(ParseMatrixMarketHead(text, "m.mtx"), kInput, message) << text;
  };
  for (const char* banner :
       {"", "1 2", "%%MatrixMarket", "%%MatrixMarket matrix array real general",
        "%%MatrixMarket vector coordinate real", "%%MatrixMarket matrix coordinate double general",
        "%%MatrixMarket matrix coordinate real lower", "%%MatrixMarket matrix coordinate pattern skew-symmetric",
        "%%MatrixMarket matrix coordinate real hermitian", "%%MatrixMarket matrix coordinate real general x"}) {
    refused(std::string(banner) + "\n2 2 1\n1 2 1\n", "m.mtx:1: found \"");
  }
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n%\n";
  for (const char* sizes : {"2 2", "2 2 1 1", "2 2 -1", "2 2 x", "2.0 2 1", "2 2 18446744073709551616"}) {
    refused(banner + sizes + "\n", "m.mtx:3: found \"" + std::string(sizes) + "\", expected the numbers of rows");
  }
  refused(banner + "3 5 1\n", "m.mtx:3: found 3 rows and 5 columns, expected the same number of both");
  refused(banner, "m.mtx:2: found no data line so far");
}

std::string ColumnsOf(const std::string& kind, const std::string& wanted) {
  const std::string text = "%%MatrixMarket matrix coordinate " + kind + "\n2 2 1\n";
  const MatrixMarketHead head = ParseMatrixMarketHead(text, "m.mtx").value();
  const auto columns = MatrixMarketColumns(head, wanted.empty() ? Columns{} : ParseColumns(wanted).value(), "m.mtx");
  return columns.ok() ? ColumnsText(*columns) : std::string(MessageOf(columns.status()));
}

TEST(MatrixMarketColumns, ValuesAreWeightsWhereTheyCanBe) {
  EXPECT_EQ(ColumnsOf("pattern symmetric", ""), "head,tail");
  EXPECT_EQ(ColumnsOf("integer general", ""), "head,tail,weight");
  EXPECT_EQ(ColumnsOf("real symmetric", "tail,head,-"), "tail,head,-");
  EXPECT_EQ(ColumnsOf("real skew-symmetric", "head,tail,-"), "head,tail,-");
  EXPECT_EQ(ColumnsOf("complex hermitian", "head,tail,-,-"), "head,tail,-,-");
  const std::string no_weights = "m.mtx: found values that are not weights for entries of ";
  EXPECT_EQ(ColumnsOf("real skew-symmetric", "").find(no_weights), 0U);
  EXPECT_EQ(ColumnsOf("real skew-symmetric", "head,tail,weight").find(no_weights), 0U);
  EXPECT_EQ(ColumnsOf("complex general", "").find(no_weights), 0U);
  EXPECT_EQ(ColumnsOf("complex general", "head,tail,weight,-").find(no_weights), 0U);
  for (const char* wanted : {"head,tail", "head,relation,tail", "head,tail,-,-"}) {
    EXPECT_EQ(ColumnsOf("real general", wanted).find("m.mtx: found the columns"), 0U) << wanted;
  }
}

}  // namespace
}  // namespace octavo
