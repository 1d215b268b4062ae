#include "graph/graph.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"

namespace octavo {
namespace {

class GraphTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(ImportText(folder_, "a\tlikes\tb\nb\tknows\tc\nc\tlikes\ta\n")); }
  absl::StatusOr<std::unique_ptr<Graph>> Open() { return Graph::Open(folder_ / "graph"); }
  TemporaryFolder folder_;
};

TEST_F(GraphTest, GivesNamesCountsAndEdges) {
  ASSERT_OK_AND_ASSIGN(const auto graph, Open());
  EXPECT_EQ(graph->node_count(), 3U);
  EXPECT_EQ(graph->relation_count(), 2U);
  EXPECT_EQ(graph->RelationName(RelationId{0}), "knows");
  EXPECT_EQ(graph->RelationName(RelationId{1}), "likes");
  EXPECT_EQ(graph->RelationTrainEdges(RelationId{0}), 1U);
  EXPECT_EQ(graph->RelationTrainEdges(RelationId{1}), 2U);
  EXPECT_EQ(graph->FindRelation("likes"), RelationId{1});
  EXPECT_FALSE(graph->FindRelation("like").has_value());
  EXPECT_FALSE(graph->FindRelation("zzz").has_value());
  EXPECT_EQ(EdgeTexts(*graph, Split::kTrain), (std::vector<std::string>{"a likes b 1", "b knows c 1", "c likes a 1"}));
  EXPECT_EQ(graph->Edges(Split::kValid).edge_count(), 0U);
}

TEST_F(GraphTest, AFolderThatIsNoGraphIsAUsageError) {
  EXPECT_ERROR(Graph::Open(folder_.path()), kUsage, "octavo import");
  EXPECT_ERROR(Graph::Open(folder_ / "none"), kUsage, "octavo import");
}

TEST_F(GraphTest, FilesOfAnotherGraphAreCorrupt) {
  TemporaryFolder other;
  ASSERT_OK(ImportText(other, "a\tlikes\tb\nb\tknows\tc\nc\tknows\ta\n"));
  const GraphPaths mine(folder_ / "graph");
  const GraphPaths theirs(other / "graph");
  for (const auto& [to, from] : {std::pair(mine.Cells(Split::kTrain), theirs.Cells(Split::kTrain)),
                                 std::pair(mine.Relations(), theirs.Relations())}) {
    const std::string whole = FileBytes(to);
    WriteFileBytes(to, FileBytes(from));
    EXPECT_ERROR(Open(), kCorrupt, "as graph.json says") << to;
    WriteFileBytes(to, whole);
    ASSERT_OK(Open());
  }
}

TEST_F(GraphTest, DamagedRelationsAreCorrupt) {
  for (const char* text : {"", "knows\t1\n", "knows\t1\nlikes\t2", "likes\t2\nknows\t1\n", "knows\t1\nknows\t2\n",
                           "knows\nlikes\t2\n", "knows\t-1\nlikes\t2\n", "knows\t1\nlikes\t3\n"}) {
    WriteFileBytes(folder_ / "graph/relations.tsv", text);
    EXPECT_ERROR(Open(), kCorrupt, "expected") << text;
  }
}

TEST_F(GraphTest, AMissingFileIsAnErrorThatNamesIt) {
  for (const char* name :
       {"nodes.hash", "nodes.names", "nodes.offsets", "relations.tsv", "train.cells", "valid.cells", "test.cells"}) {
    const auto path = folder_ / "graph" / name;
    const std::string whole = FileBytes(path);
    std::filesystem::remove(path);
    const auto graph = Open();
    ASSERT_FALSE(graph.ok()) << name;
    EXPECT_NE(std::string(MessageOf(graph.status())).find(name), std::string::npos) << name;
    WriteFileBytes(path, whole);
  }
}

}  // namespace
}  // namespace octavo
