#include "parse/column_choice.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

ColumnChoice Choice(std::string_view text) { return **ParseColumnChoice(text); }

absl::StatusOr<ChosenColumns> Find(std::string_view columns, std::string_view text) {
  FileFormat format;
  format.format = InputFormat::kCsv;
  return FindColumns(Choice(columns), text, format, 0, "f.csv");
}

TEST(ColumnChoice, RolesAreLeftToParseColumns) {
  for (const char* text : {"head,tail", "head,-,tail,weight", "-,head"}) {
    ASSERT_OK(ParseColumnChoice(text).status()) << text;
    EXPECT_FALSE(*ParseColumnChoice(text)) << text;
  }
}

TEST(ColumnChoice, NumbersCountFromOneAndAreInTheOrderOfTheRoles) {
  EXPECT_EQ(Find("3,1", "a,b,c,d\n")->columns, (Columns{.head = 2, .tail = 0, .count = 4}));
  EXPECT_EQ(Find("1,2,3", "a,b,c\n")->columns, (Columns{.head = 0, .relation = 1, .tail = 2, .count = 3}));
  EXPECT_EQ(Find("head=1,tail=2,weight=4", "a,b,c,d\n")->columns,
            (Columns{.head = 0, .tail = 1, .weight = 3, .count = 4}));
  EXPECT_EQ(Find("1,2", "a,b\n")->header_lines, 0U);
  EXPECT_ERROR(Find("1,5", "# c\na,b,c,d\n"), kInput, "f.csv:2: found 4 columns, expected at least 5");
}

TEST(ColumnChoice, TitlesAreFoundInTheFirstDataLine) {
  const auto chosen = Find("source,target,weight", "# by hand\nid,Weight,target,source\n1,2,b,a\n");
  ASSERT_OK(chosen.status());
  EXPECT_EQ(chosen->columns, (Columns{.head = 3, .tail = 2, .weight = 1, .count = 4}));
  EXPECT_EQ(chosen->header_lines, 2U);
  EXPECT_EQ(Find("head=buyer,tail=seller", "seller,buyer\n")->columns, (Columns{.head = 1, .tail = 0, .count = 2}));
  EXPECT_EQ(Find("buyer,seller", "seller,date,buyer\n")->columns, (Columns{.head = 2, .tail = 0, .count = 3}));
  EXPECT_EQ(Find("source,film", "source,film\n")->columns, (Columns{.head = 0, .tail = 1, .count = 2}));
  EXPECT_ERROR(Find("source,target", "from,target\n"), kInput,
               "f.csv:1: found the titles from, target, expected \"source\" of --columns");
  EXPECT_ERROR(Find("source,target", "# nothing\n"), kInput, "found no line of columns");
  for (const char* twice : {"head=source,tail=source", "head=1,tail=source", "head=source,tail=1"}) {
    EXPECT_ERROR(Find(twice, "source,target\na,b\n"), kInput, "f.csv:1: --columns takes column 1 twice") << twice;
  }
}

TEST(ColumnChoice, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"buyer,seller,price", "buyer,source", "target,buyer", "buyer,weight", "", "head", "1", "1,1",
                           "0,1", "1,2,3,4,5", "1,99", "source", "source,from", "head=1", "head=,tail=2",
                           "head=1,tail=2,colour=3", "source,relation"}) {
    const auto choice = ParseColumnChoice(text);
    if (choice.ok() && !*choice) continue;  // roles only
    EXPECT_ERROR(choice, kUsage, "--columns: found") << text;
  }
}

TEST(ColumnChoice, SaysHowTitlesThatItDoesNotKnowAreGiven) {
  EXPECT_ERROR(ParseColumnChoice("buyer,seller,price"), kUsage,
               "; that is head=buyer,relation=seller,tail=price or head=buyer,tail=seller,weight=price");
  EXPECT_ERROR(ParseColumnChoice("a,b,c,d"), kUsage, "weight=TITLE");
}

TEST(ColumnChoice, IsSuggestedForKnownTitles) {
  EXPECT_EQ(ColumnsOfTitles("userId,movieId,rating,timestamp", InputFormat::kCsv, ','), "userId,movieId,rating");
  EXPECT_EQ(ColumnsOfTitles("from;to;weight", InputFormat::kCsv, ';'), "from,to,weight");
  EXPECT_EQ(ColumnsOfTitles("Weight,Target,Source", InputFormat::kCsv, ','), "Source,Target,Weight");
  EXPECT_EQ(ColumnsOfTitles("head,tail", InputFormat::kCsv, ','), std::nullopt);
  EXPECT_EQ(ColumnsOfTitles("buyer,shop,stars,date", InputFormat::kCsv, ','), std::nullopt);
  EXPECT_EQ(ColumnsOfTitles("buyer,shop,stars,date", InputFormat::kCsv, ',', true),
            "head=buyer,tail=shop,weight=stars");
  EXPECT_EQ(ColumnsOfTitles("\"a,b\",shop,stars", InputFormat::kCsv, ',', true), std::nullopt);
  EXPECT_EQ(ColumnsOfTitles("buyer,shop", InputFormat::kCsv, ',', true), std::nullopt);
  EXPECT_EQ(ColumnsOfTitles("from,colour", InputFormat::kCsv, ','), std::nullopt);
}

}  // namespace
}  // namespace octavo
