#include "export/vector_table.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

TEST(NodeVectors, NamesAndRowsInIdOrder) {
  TemporaryFolder folder;
  const auto graph = WriteGraph({.names = NumberedNames(5)}, folder.path() / "graph");
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const TableReader reader = WriteTable(values, 2, kPartitionRowQuantum, folder.path());
  const VectorTable table = NodeVectors(*graph, reader);
  ASSERT_EQ(table.rows, 5U);
  ASSERT_EQ(table.columns, 2U);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(table.name(i), graph->nodes().Name(NodeId{i}));
  std::vector<float> rows(4);
  ASSERT_TRUE(table.read(3, rows).ok());
  EXPECT_EQ(rows, (std::vector<float>{6, 7, 8, 9}));
}

TEST(ColumnsOf, AreThoseOfTheWholeTable) {
  TemporaryFolder folder;
  const auto graph = WriteGraph({.names = NumberedNames(3)}, folder.path() / "graph");
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const TableReader reader = WriteTable(values, 4, kPartitionRowQuantum, folder.path());
  const VectorTable table = ColumnsOf(NodeVectors(*graph, reader), 1, 3);
  ASSERT_EQ(table.rows, 3U);
  ASSERT_EQ(table.columns, 2U);
  EXPECT_EQ(table.name(2), graph->nodes().Name(NodeId{2}));
  std::vector<float> rows(4);
  ASSERT_TRUE(table.read(1, rows).ok());
  EXPECT_EQ(rows, (std::vector<float>{5, 6, 9, 10}));
}

TEST(RelationVectors, ReciprocalsHaveTheirOwnNames) {
  TemporaryFolder folder;
  const auto graph = WriteGraph({.names = NumberedNames(2), .relations = {"knows", "likes"}}, folder.path());
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7};
  const VectorTable table = RelationVectors(*graph, values, 2);
  ASSERT_EQ(table.rows, 4U);
  EXPECT_EQ(table.name(0), "knows");
  EXPECT_EQ(table.name(1), "likes");
  EXPECT_EQ(table.name(2), "knows^-1");
  EXPECT_EQ(table.name(3), "likes^-1");
  std::vector<float> rows(2);
  ASSERT_TRUE(table.read(2, rows).ok());
  EXPECT_EQ(rows, (std::vector<float>{4, 5}));
  EXPECT_EQ(RelationVectors(*graph, {}, 0).rows, 0U);
}

}  // namespace
}  // namespace octavo
