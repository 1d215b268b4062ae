#include "graph/graph_copy.h"

#include <string>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"

namespace octavo {
namespace {

class GraphCopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 9000; ++i) {
      text += fmt::format("n{}\tr{}\tn{}\t{}\n", i % 3000, i % 2, i * 7 % 2999, 1 + i % 4);
    }
    ASSERT_OK(ImportText(folder_, text));
    std::filesystem::create_directory(to_.folder());
  }
  TemporaryFolder folder_;
  GraphPaths from_{folder_ / "graph"};
  GraphPaths to_{folder_ / "copy"};
};

TEST_F(GraphCopyTest, NodesAreEqualByteByByte) {
  ASSERT_OK(CopyNodes(from_, to_, nullptr));
  EXPECT_EQ(FileBytes(to_.NodeHashes()), FileBytes(from_.NodeHashes()));
  EXPECT_EQ(FileBytes(to_.NodeNames()), FileBytes(from_.NodeNames()));
  EXPECT_EQ(FileBytes(to_.NodeOffsets()), FileBytes(from_.NodeOffsets()));
}

TEST_F(GraphCopyTest, CellsAreEqualByteByByte) {
  ASSERT_OK_AND_ASSIGN(const CellReader cells, CellReader::Open(from_.Cells(Split::kTrain)));
  CellsHeader layout = cells.header();
  layout.edge_count = 0;
  ASSERT_OK_AND_ASSIGN(const CellsHeader made, CopyCells(cells, to_.Cells(Split::kTrain), layout, nullptr));
  EXPECT_EQ(made.edge_count, cells.edge_count());
  EXPECT_EQ(FileBytes(to_.Cells(Split::kTrain)), FileBytes(from_.Cells(Split::kTrain)));
}

TEST_F(GraphCopyTest, StopsWhenAsked) {
  ASSERT_OK_AND_ASSIGN(const CellReader cells, CellReader::Open(from_.Cells(Split::kTrain)));
  const auto stop = [] { return true; };
  EXPECT_TRUE(absl::IsCancelled(CopyNodes(from_, to_, stop)));
  EXPECT_TRUE(absl::IsCancelled(CopyCells(cells, to_.Cells(Split::kTrain), cells.header(), stop).status()));
}

}  // namespace
}  // namespace octavo
