#include "export/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "base/random.h"
#include "base/status.h"
#include "fmt/format.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

using testing::HasSubstr;

class SelectionTest : public testing::Test {
 protected:
  static constexpr std::size_t kColumns = 3;
  static constexpr std::uint64_t kNodes = 40'000;  // enough for selected rows both close together and far apart

  SelectionTest() : values_(kNodes * kColumns) {
    std::vector<std::string> names = NumberedNames(kNodes - 2);
    names.insert(names.end(), {"# no comment", " blank "});
    graph_ = WriteGraph({.names = names}, folder_.path() / "graph");
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<float>(i);
    reader_.emplace(WriteTable(values_, kColumns, kPartitionRowQuantum, folder_.path()));
  }

  std::string List(std::string_view text) {
    std::ofstream(list_) << text;
    return list_;
  }
  absl::StatusOr<RowSelection> Select(SelectionOptions options) {
    if (options.max_bytes == 0) options.max_bytes = 1 << 20;
    return SelectRows(NodeVectors(*graph_, *reader_), options);
  }
  std::uint64_t RowOf(std::string_view name) { return Value(*graph_->nodes().Find(name)); }

  TemporaryFolder folder_;
  std::string list_ = (folder_.path() / "list").string();
  std::unique_ptr<Graph> graph_;
  std::vector<float> values_;
  std::optional<TableReader> reader_;
};

TEST_F(SelectionTest, KeepsTheOrderOfTheListAndWhatComesTwice) {
  const auto selection = Select({.list = List("n7\n# no comment\nn3\r\n blank \nn7")});
  ASSERT_TRUE(selection.ok()) << selection.status().message();
  EXPECT_THAT(selection->rows,
              testing::ElementsAre(RowOf("n7"), RowOf("# no comment"), RowOf("n3"), RowOf(" blank "), RowOf("n7")));
}

TEST_F(SelectionTest, MatchesAnywhereInTheNameInIdOrder) {
  const auto selection = Select({.match = "9{3}"});
  ASSERT_TRUE(selection.ok());
  std::vector<std::uint64_t> expected;
  for (std::uint64_t row = 0; row < kNodes; ++row) {
    if (graph_->nodes().Name(NodeId{row}).find("999") != std::string_view::npos) expected.push_back(row);
  }
  EXPECT_THAT(selection->rows, testing::ElementsAreArray(expected));
  const auto both = Select({.list = List("n12\nn31\nn121\n"), .match = "^n12"});
  ASSERT_TRUE(both.ok());
  EXPECT_THAT(both->rows, testing::ElementsAre(RowOf("n12"), RowOf("n121")));
}

TEST_F(SelectionTest, UnknownNamesAreErrorsOrSkipped) {
  const SelectionOptions options = {.list = List("n1\n\nn2\nm3\n")};
  const auto refused = Select(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kInput);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr(list_ + ":2: found \"\""));
  const auto skipped = Select({.list = list_, .skip_unknown = true});
  ASSERT_TRUE(skipped.ok());
  EXPECT_EQ(skipped->rows.size(), 2U);
  EXPECT_EQ(skipped->unknown, 2U);
  EXPECT_EQ(skipped->first_unknown, "");
}

TEST_F(SelectionTest, NothingSelectedIsAnError) {
  EXPECT_EQ(KindOf(Select({.match = "^x"}).status()), ErrorKind::kUsage);
  EXPECT_EQ(KindOf(Select({.list = List("")}).status()), ErrorKind::kInput);
  EXPECT_EQ(KindOf(Select({.list = List("m1\n"), .skip_unknown = true}).status()), ErrorKind::kInput);
}

TEST_F(SelectionTest, AnExpressionThatIsNone) {
  const auto refused = Select({.match = "a(b"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kUsage);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("\"a(b\": missing ): a(b; expected"));
}

TEST_F(SelectionTest, MoreRowsThanMemoryHolds) {
  const auto refused = Select({.match = "n", .max_bytes = 1000});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kUsage);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("more than 111 rows"));
}

TEST_F(SelectionTest, ReadsRowsInAnyOrder) {
  RandomStream random(5, RandomPurpose::kSplit, 0, 0);
  RowSelection selection;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    selection.rows.push_back(i % 3 == 0 ? random.Below(kNodes) : i % 3 == 1 ? 100 + random.Below(50) : kNodes - 1 - i);
  }
  const std::deque<std::uint64_t> rows = selection.rows;
  const VectorTable table = SelectedRows(NodeVectors(*graph_, *reader_), std::move(selection));
  ASSERT_EQ(table.rows, rows.size());
  ASSERT_EQ(table.columns, kColumns);
  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 3000}, {0, 1}, {7, 500}, {2999, 1}}) {
    std::vector<float> read(count * kColumns);
    ASSERT_TRUE(table.read(first, read).ok());
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t row = rows[first + i];
      for (std::size_t c = 0; c < kColumns; ++c) ASSERT_EQ(read[i * kColumns + c], values_[row * kColumns + c]);
      ASSERT_EQ(table.name(first + i), graph_->nodes().Name(NodeId{row}));
    }
    table.done(first, count);
  }
}

TEST(RelationVectors, AreFoundByName) {
  TemporaryFolder folder;
  const auto graph = WriteGraph({.names = NumberedNames(2), .relations = {"knows", "likes"}}, folder.path());
  const std::vector<float> values(8);
  const VectorTable table = RelationVectors(*graph, values, 2);
  EXPECT_EQ(table.find("likes"), 1U);
  EXPECT_EQ(table.find("knows^-1"), 2U);
  EXPECT_EQ(table.find("hates"), std::nullopt);
}

}  // namespace
}  // namespace octavo
