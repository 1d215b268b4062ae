#include "evaluate/edge_list.h"

#include <gtest/gtest.h>

#include <string>

#include "base/status.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{64} << 20;

class EdgeListTest : public ::testing::Test {
 protected:
  EdgeListTest() { Write({"in", "near"}); }

  void Write(std::vector<std::string> relations) {
    SmallGraph graph;
    graph.names = {"a", "b", "New York"};
    graph.relations = std::move(relations);
    graph_ = WriteGraph(graph, folder_ / "graph");
  }

  absl::StatusOr<EdgeList> Read(const std::string& text, std::uint64_t max_bytes = kPlenty) {
    WriteFileBytes(folder_ / "edges", text);
    return ReadEdgeList(*graph_, (folder_ / "edges").string(), max_bytes);
  }

  std::string Named(const EdgeList& list) {
    std::string text;
    for (const Edge& edge : list.edges) {
      text += std::string(graph_->nodes().Name(edge.head)) + ">" + std::string(graph_->RelationName(edge.relation)) +
              ">" + std::string(graph_->nodes().Name(edge.tail)) + "\n";
    }
    return text;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Graph> graph_;
};

TEST_F(EdgeListTest, ReadsTriplesInTheirOrder) {
  ASSERT_OK_AND_ASSIGN(const EdgeList list,
                       Read("# negatives\nNew York\tnear\ta\r\n\na in b\na\tin\tb\nx\tin\tb\na\tby\tb\n"));
  EXPECT_EQ(Named(list), "New York>near>a\na>in>b\na>in>b\n");
  EXPECT_EQ(list.unknown.lines, 2U);
  EXPECT_EQ(list.unknown.first, "x");
}

TEST_F(EdgeListTest, OneRelationNeedNotBeNamed) {
  Write({"in"});
  ASSERT_OK_AND_ASSIGN(const EdgeList list, Read("a\tb\nb\tin\ta\n  a   b \n"));
  EXPECT_EQ(Named(list), "a>in>b\nb>in>a\na>in>b\n");
  ASSERT_OK_AND_ASSIGN(const EdgeList missing, Read("a\tb\na\tno\tb\n"));
  EXPECT_EQ(missing.unknown.first, "no");
}

TEST_F(EdgeListTest, ErrorsNameTheLine) {
  EXPECT_ERROR(Read("a\tin\tb\na\tb\n"), kInput,
               "edges:2: found two fields in \"a\\tb\"; expected head<TAB>relation<TAB>tail");
  EXPECT_ERROR(Read("a\tin\tb\t1\n"), kInput, "edges:1: found more than three fields");
  EXPECT_ERROR(Read("a\n"), kInput, "edges:1: found one field");
  EXPECT_ERROR(Read("# nothing\n"), kInput, "found no line with an edge");
  EXPECT_ERROR(Read("x\tin\ty\n"), kInput, "\"x\" is the first unknown name");
  EXPECT_ERROR(Read(std::string(1000, 'a') + " in b\n" + "a in b\na in b\na in b\n", 200), kUsage,
               "expected a larger --memory");
}

}  // namespace
}  // namespace octavo
