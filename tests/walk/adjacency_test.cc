#include "walk/adjacency.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/heap_peak.h"
#include "tests/walk/walked_graph.h"

namespace octavo {
namespace {

class AdjacencyTest : public ::testing::Test {
 protected:
  void Import(bool weights) {
    ASSERT_OK(ImportText(folder_, RandomEdges(5000, 30000, weights, 1),
                         {.columns = weights ? "head,tail,weight" : "head,tail", .merge_duplicates = false}));
    graph_ = Graph::Open(folder_ / "graph").value();
  }
  const CellReader& cells() const { return graph_->Edges(Split::kTrain); }

  // The rows of `rows` against the sorted edges of the graph.
  void ExpectRows(const Adjacency& rows, const PartitionRange& range, bool both_ways = false) const {
    std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, float>>> expected;
    for (const Edge& edge : TrainEdges(*graph_)) {
      expected[static_cast<std::uint32_t>(Value(edge.head))].emplace_back(Value(edge.tail), edge.weight);
      if (both_ways) expected[static_cast<std::uint32_t>(Value(edge.tail))].emplace_back(Value(edge.head), edge.weight);
    }
    for (auto node = static_cast<std::uint32_t>(range.first_node); node < range.end_node; ++node) {
      ASSERT_TRUE(rows.Has(node));
      auto& row = expected[node];
      std::ranges::sort(row);
      ASSERT_EQ(rows.Neighbours(node).size(), row.size());
      double sum = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        EXPECT_EQ(rows.Neighbours(node)[i], row[i].first);
        sum += row[i].second;
        if (graph_->description().has_weights) {
          EXPECT_EQ(rows.WeightSums(node)[i], sum);
        }
        EXPECT_TRUE(rows.HasEdge(node, row[i].first));
      }
      EXPECT_EQ(rows.HasEdge(node, 4999), std::ranges::count(row, 4999U, [](auto& x) { return x.first; }) > 0);
      EXPECT_EQ(rows.WeightSums(node).empty(), !graph_->description().has_weights || row.empty());
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<Graph> graph_;
};

// The row of a hub was sorted in a copy of 16 bytes per edge, which no plan counted.
TEST_F(AdjacencyTest, AHubTakesNoMoreThanThePlanSays) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += fmt::format("hub\tn{}\t{}\n", i, 1 + i % 7);
  ASSERT_OK(ImportText(folder_, text, {.columns = "head,tail,weight"}));
  graph_ = Graph::Open(folder_ / "graph").value();
  const PartitionRange all = JoinPartitions(PartitionRanges(cells()), true, UINT64_MAX).front();
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const HeapPeak peak;
  ASSERT_OK_AND_ASSIGN(const Adjacency rows, Adjacency::Build(cells(), all));
  // A block, encoded and decoded.
  EXPECT_LE(peak.bytes(), Adjacency::BytesOf(all.end_node, all.edges, true) + (256 << 10));
  ExpectRows(rows, all);
}

TEST_F(AdjacencyTest, HasTheSortedRowsOfEveryRange) {
  for (const bool weights : {false, true}) {
    Import(weights);
    const std::vector<PartitionRange> partitions = PartitionRanges(cells());
    ASSERT_EQ(partitions.size(), 5U);
    std::vector<PartitionRange> ranges = partitions;
    ranges.push_back(JoinPartitions(partitions, weights, UINT64_MAX).front());
    SpillUse use;
    ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder_ / "rows", use));
    for (const PartitionRange& range : ranges) {
      ASSERT_OK_AND_ASSIGN(const Adjacency rows, Adjacency::Build(cells(), range));
      ExpectRows(rows, range);
      EXPECT_FALSE(rows.Has(static_cast<std::uint32_t>(range.end_node)));
      if (range.first_node > 0) {
        EXPECT_FALSE(rows.Has(static_cast<std::uint32_t>(range.first_node) - 1));
      }
      ASSERT_OK_AND_ASSIGN(const SpillExtent extent, rows.Save(*file));
      EXPECT_EQ(extent.end - extent.begin, Adjacency::BytesOf(range.end_node - range.first_node, range.edges, weights));
      ASSERT_OK_AND_ASSIGN(const Adjacency loaded, Adjacency::Load(*file, extent, range, weights));
      ExpectRows(loaded, range);
    }
  }
}

TEST_F(AdjacencyTest, BothWaysAddsTheEdgesThatEndInARange) {
  for (const bool weights : {false, true}) {
    Import(weights);
    const std::vector<PartitionRange> partitions = PartitionRanges(cells(), /*both_ways=*/true);
    std::vector<PartitionRange> ranges = partitions;
    ranges.push_back(JoinPartitions(partitions, weights, UINT64_MAX).front());
    EXPECT_EQ(ranges.back().edges, 2 * cells().edge_count());
    for (const PartitionRange& range : ranges) {
      ASSERT_OK_AND_ASSIGN(const Adjacency rows, Adjacency::Build(cells(), range, /*both_ways=*/true));
      ExpectRows(rows, range, /*both_ways=*/true);
    }
  }
}

TEST_F(AdjacencyTest, JoinsPartitionsAsFarAsTheBytesReach) {
  Import(false);
  const std::vector<PartitionRange> partitions = PartitionRanges(cells());
  std::uint64_t edges = 0;
  for (const PartitionRange& partition : partitions) edges += partition.edges;
  EXPECT_EQ(edges, cells().edge_count());
  const std::vector<PartitionRange> whole = JoinPartitions(partitions, false, UINT64_MAX);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].edges, edges);
  EXPECT_EQ(whole[0].end_node, graph_->node_count());
  EXPECT_EQ(JoinPartitions(partitions, false, 1).size(), partitions.size());
  const auto bytes = [&](const PartitionRange& range) {
    return Adjacency::BytesOf(range.end_node - range.first_node, range.edges, false);
  };
  for (const std::uint64_t limit : {60000ULL, 90000ULL}) {
    const std::vector<PartitionRange> joined = JoinPartitions(partitions, false, limit);
    std::uint32_t next = 0;
    for (const PartitionRange& range : joined) {
      EXPECT_EQ(range.first_partition, next);
      next = range.end_partition;
      EXPECT_TRUE(bytes(range) <= limit || range.end_partition == range.first_partition + 1);
    }
    EXPECT_EQ(next, partitions.size());
  }
}

TEST_F(AdjacencyTest, ADamagedBlockIsAnError) {
  Import(false);
  std::string bytes = FileBytes(folder_ / "graph/train.cells");
  bytes[kCellsHeaderBytes + 100] = static_cast<char>(bytes[kCellsHeaderBytes + 100] ^ 1);
  WriteFileBytes(folder_ / "graph/train.cells", bytes);
  EXPECT_ERROR(Adjacency::Build(cells(), PartitionRanges(cells()).front()), kCorrupt, "train.cells: block 0");
}

}  // namespace
}  // namespace octavo
