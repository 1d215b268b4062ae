#include "cells/cell_sorter.h"

#include <algorithm>
#include <cfloat>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

EdgeRecord Record(std::uint32_t head, std::uint32_t relation, std::uint32_t tail, float weight = 1.0F) {
  return {.head = head, .tail = tail, .relation_and_split = relation, .weight = weight};
}

Key KeyOf(const EdgeRecord& edge) { return {edge.head, edge.relation(), edge.tail}; }

std::vector<EdgeRecord> RandomEdges(std::size_t count, std::uint32_t nodes) {
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  std::vector<EdgeRecord> edges;
  for (std::size_t i = 0; i < count; ++i) {
    edges.push_back(Record(static_cast<std::uint32_t>(random.Below(nodes)), static_cast<std::uint32_t>(random.Below(3)),
                           static_cast<std::uint32_t>(random.Below(nodes)), static_cast<float>(1 + random.Below(5))));
  }
  return edges;
}

// Partitions of whole quanta that cover the nodes, at most `most` of them.
void CheckLayout(const PartitionLayout& layout, std::uint64_t nodes, std::uint64_t most) {
  SCOPED_TRACE(::testing::Message() << nodes << " " << most);
  EXPECT_EQ(layout.rows % 1024, 0U);
  EXPECT_GE(layout.rows, 1024U);
  EXPECT_LE(layout.count, most);
  EXPECT_GE(layout.rows * layout.count, nodes);
  EXPECT_LT(layout.rows * (layout.count - 1), nodes);
}

TEST(PartitionLayout, HasAtMostSoManyPartitionsOfWholeQuanta) {
  for (const std::uint64_t nodes :
       {1ULL, 1023ULL, 1024ULL, 1025ULL, 14541ULL, 65536ULL, 65537ULL, 870056ULL, 4194304ULL}) {
    CheckLayout(PartitionLayoutFor(nodes), nodes, 64);
    for (const std::uint64_t most : {1U, 7U, 64U, 512U}) CheckLayout(PartitionLayoutFor(nodes, most), nodes, most);
  }
  for (const std::uint64_t nodes : {4194305ULL, 8388608ULL, 86054151ULL, 4000000000ULL}) {
    CheckLayout(PartitionLayoutFor(nodes), nodes, 512);
    CheckLayout(PartitionLayoutFor(nodes, 64), nodes, 64);
  }
  EXPECT_EQ(PartitionLayoutFor(14541).count, 15U);
  EXPECT_EQ(PartitionLayoutFor(65537).rows, 2048U);
  EXPECT_EQ(PartitionLayoutFor(14541, 4).rows, 4096U);
}

// Up to 4,194,304 nodes as ever, so that an import makes the same folder; then 65,536 nodes a partition, then more.
TEST(PartitionLayout, ALargeGraphHasMorePartitions) {
  EXPECT_EQ(PartitionLayoutFor(4194304).count, 64U);
  EXPECT_EQ(PartitionLayoutFor(4194304).rows, 65536U);
  EXPECT_EQ(PartitionLayoutFor(4194305).count, 65U);
  EXPECT_EQ(PartitionLayoutFor(8388608).count, 128U);
  EXPECT_EQ(PartitionLayoutFor(33554432).count, 512U);
  EXPECT_EQ(PartitionLayoutFor(33554432).rows, 65536U);
  EXPECT_EQ(PartitionLayoutFor(86054151).rows, 168960U);
  EXPECT_EQ(PartitionLayoutFor(86054151).count, 510U);
}

TEST(OrderCell, DependsOnTheEdgesAlone) {
  for (const std::size_t count : {1000UL, 100000UL}) {  // by one thread, by several
    std::vector<EdgeRecord> edges = RandomEdges(count, 100);
    std::vector<EdgeRecord> reversed(edges.rbegin(), edges.rend());
    OrderCell(edges);
    OrderCell(reversed);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(KeyOf(edges[i]), KeyOf(reversed[i]));
      ASSERT_EQ(edges[i].weight, reversed[i].weight);
    }
  }
}

TEST(OrderCell, IsNoSortedOrder) {
  std::vector<EdgeRecord> edges;
  for (std::uint32_t i = 0; i < 1000; ++i) edges.push_back(Record(i, 0, 0));
  OrderCell(edges);
  int ascents = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) ascents += edges[i].head < edges[i + 1].head ? 1 : 0;
  EXPECT_NEAR(ascents, 500, 60);
}

TEST(HandleDuplicates, MergesCopiesAndAddsTheirWeights) {
  std::vector<EdgeRecord> edges = RandomEdges(5000, 20);
  std::map<Key, double> expected;
  for (const EdgeRecord& edge : edges) expected[KeyOf(edge)] += edge.weight;
  OrderCell(edges);
  std::uint64_t duplicates = 0;
  const std::size_t kept = HandleDuplicates(edges, true, duplicates);
  EXPECT_EQ(kept, expected.size());
  EXPECT_EQ(duplicates, 5000 - expected.size());
  for (std::size_t i = 0; i < kept; ++i) EXPECT_EQ(edges[i].weight, static_cast<float>(expected[KeyOf(edges[i])]));
}

TEST(HandleDuplicates, KeepsThemIfToldToButCounts) {
  std::vector<EdgeRecord> edges = {Record(1, 0, 2, 3), Record(1, 0, 2, 4)};
  OrderCell(edges);
  std::uint64_t duplicates = 0;
  EXPECT_EQ(HandleDuplicates(edges, false, duplicates), 2U);
  EXPECT_EQ(duplicates, 1U);
  EXPECT_EQ(edges[0].weight, 3);
  EXPECT_EQ(edges[1].weight, 4);
}

TEST(HandleDuplicates, SumsStayFinite) {
  std::vector<EdgeRecord> edges = {Record(1, 0, 2, FLT_MAX), Record(1, 0, 2, FLT_MAX)};
  std::uint64_t duplicates = 0;
  EXPECT_EQ(HandleDuplicates(edges, true, duplicates), 1U);
  EXPECT_EQ(edges[0].weight, FLT_MAX);
}

TEST(CountShared, CountsEdgesThatAreAlsoInTrain) {
  std::vector<EdgeRecord> train = RandomEdges(3000, 30);
  std::vector<EdgeRecord> valid = RandomEdges(6000, 30);
  valid.erase(valid.begin(), valid.begin() + 5000);
  std::set<Key> in_train;
  for (const EdgeRecord& edge : train) in_train.insert(KeyOf(edge));
  std::uint64_t expected = 0;
  for (const EdgeRecord& edge : valid) expected += in_train.count(KeyOf(edge));
  EXPECT_GT(expected, 100U);
  EXPECT_LT(expected, 1000U);
  OrderCell(train);
  OrderCell(valid);
  EXPECT_EQ(CountShared(valid, train), expected);
  EXPECT_EQ(CountShared({}, train), 0U);
  EXPECT_EQ(CountShared(valid, {}), 0U);
}

TEST(SortedEdges, DistributesByCellAndPart) {
  EdgeChunks chunks(3);
  std::map<std::tuple<std::uint32_t, std::uint32_t, EdgeSplit>, std::size_t> expected;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    EdgeRecord record = Record(2999 - i, 0, 2999 - i * 7 % 3000);
    record.set_split(static_cast<EdgeSplit>(i % 4));
    if (i % 4 != 3) ++expected[{(2999 - i) / 1024, (2999 - i * 7 % 3000) / 1024, record.split()}];
    chunks[i % 3].push_back(record);
  }
  SortedEdges edges(std::move(chunks), {.rows = 1024, .count = 3});
  for (std::uint32_t cell = 0; cell < edges.cell_count(); ++cell) {
    for (const EdgeSplit split : {EdgeSplit::kTrain, EdgeSplit::kValid, EdgeSplit::kTest}) {
      const auto mine = edges.Edges(cell, split);
      EXPECT_EQ(mine.size(), (expected[{cell / 3, cell % 3, split}]));
      for (const EdgeRecord& edge : mine) {
        EXPECT_EQ(edge.head / 1024, cell / 3);
        EXPECT_EQ(edge.tail / 1024, cell % 3);
        EXPECT_EQ(edge.tail, 2999 - (2999 - edge.head) * 7 % 3000);
      }
    }
  }
}

// Where many chunks have few edges of a cell, and one has very many.
TEST(SortedEdges, KeepsEachEdgeOnce) {
  constexpr std::uint32_t kNodes = 5 * 1024;
  EdgeChunks chunks(40);
  std::vector<Key> expected;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    EdgeRecord record = Record(i * 7919 % kNodes, i, i % 3 == 0 ? 1500 : i * 104729 % kNodes);
    record.set_split(static_cast<EdgeSplit>(i % 5 == 0 ? i % 4 : 0));
    if (record.split() != EdgeSplit::kDropped) expected.push_back(KeyOf(record));
    chunks[i % chunks.size()].push_back(record);
  }
  SortedEdges edges(std::move(chunks), {.rows = 1024, .count = 5});
  std::vector<Key> found;
  for (std::uint32_t cell = 0; cell < edges.cell_count(); ++cell) {
    for (const EdgeSplit split : {EdgeSplit::kTrain, EdgeSplit::kValid, EdgeSplit::kTest}) {
      for (const EdgeRecord& edge : edges.Edges(cell, split)) {
        EXPECT_EQ(edge.head / 1024 * 5 + edge.tail / 1024, cell);
        EXPECT_EQ(edge.split(), split);
        found.push_back(KeyOf(edge));
      }
    }
  }
  std::ranges::sort(expected);
  std::ranges::sort(found);
  EXPECT_EQ(found, expected);
}

// Released pages read as zeros.
TEST(SortedEdges, ReleasesTheMemoryOfSomeCells) {
  EdgeChunks chunks(1);
  for (std::uint32_t i = 0; i < 30000; ++i) chunks[0].push_back(Record(i % 2048 + 1, 0, 1));
  SortedEdges edges(std::move(chunks), {.rows = 1024, .count = 3});
  const auto is_empty = [](const EdgeRecord& edge) { return edge.head == 0; };
  const std::span<const EdgeRecord> kept = edges.Cell(3);
  const std::span<const EdgeRecord> released = edges.Cell(0);
  ASSERT_GT(released.size(), 10000U);
  edges.Release(0, 1);
  EXPECT_GE(std::ranges::count_if(released, is_empty), static_cast<std::ptrdiff_t>(released.size() - 512));
  EXPECT_EQ(std::ranges::count_if(kept, is_empty), 0);
}

}  // namespace
}  // namespace octavo
