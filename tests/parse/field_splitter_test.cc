#include "parse/field_splitter.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

std::vector<std::string> Split(std::string_view line, InputFormat format) {
  Fields fields;
  std::deque<std::string> unescaped;
  SplitFields(line, format, fields, unescaped);
  if (!fields.complaint.empty()) return {"complaint", std::string(fields.complaint)};
  return {fields.values.begin(), fields.values.begin() + static_cast<std::ptrdiff_t>(fields.count)};
}

using Texts = std::vector<std::string>;

TEST(SplitFields, TsvSplitsAtEveryTab) {
  EXPECT_EQ(Split("a\tb c\td", InputFormat::kTsv), (Texts{"a", "b c", "d"}));
  EXPECT_EQ(Split("a\t\tb\t", InputFormat::kTsv), (Texts{"a", "", "b", ""}));
  EXPECT_EQ(Split("\"a\"\t b", InputFormat::kTsv), (Texts{"\"a\"", " b"}));
}

TEST(SplitFields, BlankSplitsAtRunsOfBlanks) {
  EXPECT_EQ(Split("  a \t b  c ", InputFormat::kBlank), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Split("a", InputFormat::kBlank), (Texts{"a"}));
  EXPECT_EQ(Split("   ", InputFormat::kBlank), Texts{});
}

TEST(SplitFields, CsvFollowsRfc4180OnOneLine) {
  EXPECT_EQ(Split("a,b,c", InputFormat::kCsv), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Split("a,,c,", InputFormat::kCsv), (Texts{"a", "", "c", ""}));
  EXPECT_EQ(Split(" a , b", InputFormat::kCsv), (Texts{" a ", " b"}));
  EXPECT_EQ(Split("\"a,b\",\"\",c", InputFormat::kCsv), (Texts{"a,b", "", "c"}));
  EXPECT_EQ(Split("\"say \"\"hi\"\"\",\"\"\"\",\"x\"", InputFormat::kCsv), (Texts{"say \"hi\"", "\"", "x"}));
  EXPECT_EQ(Split("\"tab\there\",b", InputFormat::kCsv), (Texts{"tab\there", "b"}));
}

TEST(SplitFields, CsvComplainsAboutQuotesThatDoNotFit) {
  for (const char* line : {"\"a,b", "\"a\"\",b", "a,\"", "\"", "\"\"\""}) {
    EXPECT_EQ(Split(line, InputFormat::kCsv), (Texts{"complaint", "a quote without its closing quote"})) << line;
  }
  EXPECT_EQ(Split("\"a\"b,c", InputFormat::kCsv), (Texts{"complaint", "text after a closing quote"}));
  EXPECT_EQ(Split("a\"b,c", InputFormat::kCsv), (Texts{"complaint", "a quote inside a field without quotes"}));
}

TEST(SplitFields, CountsOneMoreThanFit) {
  Fields fields;
  std::deque<std::string> unescaped;
  SplitFields(std::string(kMaxColumns - 1, '\t'), InputFormat::kTsv, fields, unescaped);
  EXPECT_EQ(fields.count, kMaxColumns);
  SplitFields(std::string(1000, '\t'), InputFormat::kTsv, fields, unescaped);
  EXPECT_EQ(fields.count, kMaxColumns + 1);
}

}  // namespace
}  // namespace octavo
