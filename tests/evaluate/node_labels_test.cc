#include "evaluate/node_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "io/compressed_output.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kPlenty = std::uint64_t{64} << 20;

class NodeLabelsTest : public ::testing::Test {
 protected:
  NodeLabelsTest() {
    SmallGraph graph;
    graph.names = {"a", "b", "c", "New York", "e"};
    graph_ = WriteGraph(graph, folder_ / "graph");
  }

  absl::StatusOr<NodeLabels> Read(const std::string& text, std::uint64_t max_bytes = kPlenty) {
    WriteFileBytes(folder_ / "labels", text);
    return ReadNodeLabels(*graph_, (folder_ / "labels").string(), max_bytes);
  }

  // Names of nodes, each with its labels in order.
  std::map<std::string, std::vector<std::string>> Named(const NodeLabels& labels) {
    std::map<std::string, std::vector<std::string>> named;
    for (std::size_t i = 0; i < labels.nodes.size(); ++i) {
      std::vector<std::string>& own = named[std::string(graph_->nodes().Name(NodeId{labels.nodes[i]}))];
      for (const std::uint32_t label : labels.Of(i)) own.push_back(labels.names[label]);
    }
    return named;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Graph> graph_;
};

TEST_F(NodeLabelsTest, SeveralLabelsOnALineOrOnSeveral) {
  ASSERT_OK_AND_ASSIGN(const NodeLabels labels,
                       Read("# of people\na\tx z\nNew York\tcity\n\nb\ty\r\na\t y\tx  \nb\ty\nnobody\tw\nnobody\tx\n"));
  EXPECT_EQ(Named(labels), (std::map<std::string, std::vector<std::string>>{
                               {"a", {"x", "y", "z"}}, {"b", {"y"}}, {"New York", {"city"}}}));
  EXPECT_THAT(labels.names, ElementsAre("city", "x", "y", "z"));  // no node has w
  EXPECT_TRUE(std::is_sorted(labels.nodes.begin(), labels.nodes.end()));
  EXPECT_TRUE(labels.multi_label());
  EXPECT_EQ(labels.unknown.lines, 2U);
  EXPECT_EQ(labels.unknown.first, "nobody");
}

TEST_F(NodeLabelsTest, TheOrderOfTheLinesDoesNotMatter) {
  ASSERT_OK_AND_ASSIGN(const NodeLabels one, Read("a\t10 9\nb\t9\nc\t1\n"));
  ASSERT_OK_AND_ASSIGN(const NodeLabels two, Read("c\t1\nb\t9\na\t9\na\t10"));
  EXPECT_EQ(one.names, two.names);
  EXPECT_EQ(one.nodes, two.nodes);
  EXPECT_EQ(one.offsets, two.offsets);
  EXPECT_EQ(one.labels, two.labels);
  ASSERT_OK_AND_ASSIGN(const NodeLabels single, Read("a\tx\nb\tx\n"));
  EXPECT_FALSE(single.multi_label());
}

TEST_F(NodeLabelsTest, CompressedFiles) {
  const std::string text = "a\tx\nb\ty z\n";
  ASSERT_OK_AND_ASSIGN(const NodeLabels plain, Read(text));
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    ASSERT_OK_AND_ASSIGN(const NodeLabels labels, Read(*CompressPiece(compression, text)));
    EXPECT_EQ(Named(labels), Named(plain));
  }
}

TEST_F(NodeLabelsTest, MalformedLinesAreNamed) {
  EXPECT_ERROR(Read("a\tx\nb y\n"), kInput, "labels:2: found no tab in \"b y\"; expected NODE<TAB>CLASS [CLASS ...]");
  EXPECT_ERROR(Read("a\tx\n\tx\n"), kInput, "labels:2: found an empty name");
  EXPECT_ERROR(Read("\n\na\t \t\n"), kInput, "labels:3: found no class after the tab in \"a\\t \\t\"");
  EXPECT_ERROR(Read("nobody\t\n"), kInput, "labels:1: found no class");
  EXPECT_ERROR(Read("a\t" + std::string(1025, 'x') + "\n"), kInput, "labels:1: found a class of 1025 bytes");
  EXPECT_ERROR(Read(""), kInput, "labels: found no line with a name");
  EXPECT_ERROR(Read("A\tx\n\nB\ty\n"), kInput, "labels: found no name of the graph in 2 lines, the first \"A\"");
  EXPECT_ERROR(ReadNodeLabels(*graph_, (folder_ / "none").string(), kPlenty), kUsage, "none");
}

TEST_F(NodeLabelsTest, KeepsToItsMemory) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a\t" + std::to_string(i) + "\n";
  EXPECT_OK(Read(text));
  EXPECT_ERROR(Read(text, kLeastLabelBytes), kUsage, "expected a larger --memory");
  std::string repeated;
  for (int i = 0; i < 100'000; ++i) repeated += "a\tx\n";
  EXPECT_ERROR(Read(repeated, kLeastLabelBytes), kUsage, "the classes up to here take more than the 2.0 MiB");
}

TEST_F(NodeLabelsTest, ListsOfNodes) {
  WriteFileBytes(folder_ / "list", "b\nNew York\n# no\nnobody\nb\r\na");
  ASSERT_OK_AND_ASSIGN(const NodeList list, ReadNodeList(*graph_, (folder_ / "list").string(), kPlenty));
  std::set<std::string> names;
  for (const std::uint64_t node : list.nodes) names.emplace(graph_->nodes().Name(NodeId{node}));
  EXPECT_EQ(names, (std::set<std::string>{"a", "b", "New York"}));
  EXPECT_EQ(list.nodes.size(), 3U);
  EXPECT_TRUE(std::is_sorted(list.nodes.begin(), list.nodes.end()));
  EXPECT_EQ(list.unknown.lines, 1U);
  WriteFileBytes(folder_ / "list", "nobody\n");
  EXPECT_ERROR(ReadNodeList(*graph_, (folder_ / "list").string(), kPlenty), kInput, "the first \"nobody\"");
}

}  // namespace
}  // namespace octavo
