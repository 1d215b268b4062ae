#include "export/formula_escape.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(FormulaEscape, OnlyWhatASpreadsheetRuns) {
  for (const std::string name : {"=cmd()", "+1", "-1", "@SUM(A1)", "\tx", "\rx"}) {
    EXPECT_EQ(EscapeFormula(name), "'" + name);
  }
  for (const std::string name : {"", "a=b", "'=x", "1-2", " =x"}) EXPECT_EQ(EscapeFormula(name), name);
}

}  // namespace
}  // namespace octavo
