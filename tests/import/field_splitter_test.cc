#include "import/field_splitter.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

std::vector<std::string> Split(std::string_view line, TextFormat format) {
  Fields fields;
  std::deque<std::string> unescaped;
  SplitFields(line, format, fields, unescaped);
  if (!fields.complaint.empty()) return {"complaint", std::string(fields.complaint)};
  return {fields.values.begin(), fields.values.begin() + static_cast<std::ptrdiff_t>(fields.count)};
}

using Texts = std::vector<std::string>;

TEST(SplitFields, TsvSplitsAtEveryTab) {
  EXPECT_EQ(Split("a\tb c\td", TextFormat::kTsv), (Texts{"a", "b c", "d"}));
  EXPECT_EQ(Split("a\t\tb\t", TextFormat::kTsv), (Texts{"a", "", "b", ""}));
  EXPECT_EQ(Split("\"a\"\t b", TextFormat::kTsv), (Texts{"\"a\"", " b"}));
}

TEST(SplitFields, BlankSplitsAtRunsOfBlanks) {
  EXPECT_EQ(Split("  a \t b  c ", TextFormat::kBlank), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Split("a", TextFormat::kBlank), (Texts{"a"}));
  EXPECT_EQ(Split("   ", TextFormat::kBlank), Texts{});
}

TEST(SplitFields, CsvFollowsRfc4180OnOneLine) {
  EXPECT_EQ(Split("a,b,c", TextFormat::kCsv), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Split("a,,c,", TextFormat::kCsv), (Texts{"a", "", "c", ""}));
  EXPECT_EQ(Split(" a , b", TextFormat::kCsv), (Texts{" a ", " b"}));
  EXPECT_EQ(Split("\"a,b\",\"\",c", TextFormat::kCsv), (Texts{"a,b", "", "c"}));
  EXPECT_EQ(Split("\"say \"\"hi\"\"\",\"\"\"\",\"x\"", TextFormat::kCsv), (Texts{"say \"hi\"", "\"", "x"}));
  EXPECT_EQ(Split("\"tab\there\",b", TextFormat::kCsv), (Texts{"tab\there", "b"}));
}

TEST(SplitFields, CsvComplainsAboutQuotesThatDoNotFit) {
  for (const char* line : {"\"a,b", "\"a\"\",b", "a,\"", "\"", "\"\"\""}) {
    EXPECT_EQ(Split(line, TextFormat::kCsv), (Texts{"complaint", "a quote without its closing quote"})) << line;
  }
  EXPECT_EQ(Split("\"a\"b,c", TextFormat::kCsv), (Texts{"complaint", "text behind a closing quote"}));
  EXPECT_EQ(Split("a\"b,c", TextFormat::kCsv), (Texts{"complaint", "a quote inside a field without quotes"}));
}

TEST(SplitFields, CountsOneMoreThanFit) {
  Fields fields;
  std::deque<std::string> unescaped;
  SplitFields(std::string(kMaxColumns - 1, '\t'), TextFormat::kTsv, fields, unescaped);
  EXPECT_EQ(fields.count, kMaxColumns);
  SplitFields(std::string(1000, '\t'), TextFormat::kTsv, fields, unescaped);
  EXPECT_EQ(fields.count, kMaxColumns + 1);
}

}  // namespace
}  // namespace octavo
