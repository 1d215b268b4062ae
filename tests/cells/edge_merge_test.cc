#include "cells/edge_merge.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cells/cell_stream.h"
#include "gtest/gtest.h"
#include "tests/cells/three_partitions.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint32_t kNodes = 3000;

CellsHeader Layout() {
  CellsHeader layout;
  layout.has_relations = 1;
  layout.has_weights = 1;
  layout.partition_count = kThreePartitions.count;
  layout.partition_rows = kThreePartitions.rows;
  layout.node_count = kNodes;
  layout.relation_count = 3;
  return layout;
}

// Edges in all splits, with copies; heads near 0, so that cells differ in size.
std::vector<EdgeRecord> RandomEdges(std::size_t count) {
  std::mt19937 generator(1);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  std::vector<EdgeRecord> edges;
  for (std::size_t i = 0; i < count; ++i) {
    EdgeRecord edge{.head = random() % (1 + random() % kNodes),
                    .tail = random() % (1 + random() % kNodes),
                    .weight = 0.1F * static_cast<float>(1 + random() % 5)};
    edge.set_relation(random() % 3);
    edge.set_split(static_cast<EdgeSplit>(random() % 3));
    edges.push_back(edge);
    if (random() % 3 == 0) edges.push_back(edge);
  }
  return edges;
}

// Sorts as the extents are sorted: the whole order, from cells and keys.
void SortRun(std::span<EdgeRecord> extent) {
  std::ranges::sort(extent, [](const EdgeRecord& a, const EdgeRecord& b) {
    if (CellOf(a) != CellOf(b)) return CellOf(a) < CellOf(b);
    return OrderedBefore({OrderKey(a), a}, {OrderKey(b), b});
  });
}

class EdgeMergeTest : public ::testing::Test {
 protected:
  std::vector<CellWriter> Writers(const std::string& name) {
    std::vector<CellWriter> writers;
    for (const char split : {'0', '1', '2'}) {
      writers.push_back(CellWriter::Create(folder_ / (name + split), Layout()).value());
    }
    return writers;
  }
  std::string Bytes(const std::string& name) const {
    return FileBytes(folder_ / (name + "0")) + FileBytes(folder_ / (name + "1")) + FileBytes(folder_ / (name + "2"));
  }

  // The oracle: the functions for whole cells in memory.
  WrittenEdges WriteWhole(std::vector<EdgeRecord> edges, bool merge) {
    WrittenEdges out;
    out.relation_train_edges.resize(3);
    std::vector<CellWriter> writers = Writers("whole");
    for (std::uint32_t cell = 0; cell < 9; ++cell) {
      std::vector<EdgeRecord> train;
      for (std::size_t split = 0; split < 3; ++split) {
        std::vector<EdgeRecord> mine;
        for (const EdgeRecord& edge : edges) {
          if (CellOf(edge) == cell && edge.split() == static_cast<EdgeSplit>(split)) mine.push_back(edge);
        }
        OrderCell(mine);
        mine.resize(HandleDuplicates(mine, merge, out.duplicates[split]));
        if (split == 0) train = mine;
        if (split > 0) out.also_in_train[split] += CountShared(mine, train);
        EXPECT_OK(writers[split].Append(EncodeCell(mine, cell / 3, cell % 3, Layout())));
      }
      for (const EdgeRecord& edge : train) ++out.relation_train_edges[edge.relation()];
    }
    for (CellWriter& writer : writers) EXPECT_OK(writer.Finish());
    return out;
  }

  TemporaryFolder folder_{FastPlace()};
};

TEST_F(EdgeMergeTest, WritesAndCountsWhatWholeCellsGive) {
  std::vector<EdgeRecord> edges = RandomEdges(50000);
  for (const bool merge : {true, false}) {
    const WrittenEdges expected = WriteWhole(edges, merge);
    EXPECT_GT(expected.also_in_train[1], 20U);
    for (const std::size_t extents : {1UL, 2UL, 3UL, 8UL, 100UL}) {
      for (const std::size_t buffer_bytes : {1UL, 1000UL, 1000000UL}) {  // every other extent is in a file
        std::vector<EdgeRecord> sorted = edges;
        SpillUse use;
        ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder_ / "extents", use));
        std::vector<std::unique_ptr<EdgeSource>> sources;
        for (std::size_t extent = 0; extent < extents; ++extent) {
          const std::size_t first = sorted.size() * extent / extents;
          const auto mine = std::span(sorted).subspan(first, sorted.size() * (extent + 1) / extents - first);
          SortRun(mine);
          if (extent % 2 == 0) {
            sources.push_back(SourceOf(mine));
            continue;
          }
          const std::uint64_t begin = file->size();
          ASSERT_OK(file->Append(std::as_bytes(mine)));
          sources.push_back(SourceOf(*file, {begin, file->size()}, buffer_bytes));
        }
        ASSERT_OK(file->FinishWriting());
        WrittenEdges out;
        out.relation_train_edges.resize(3);
        std::vector<CellWriter> writers = Writers("merged");
        const CellsHeader layout = Layout();
        CellStream stream(writers, layout, merge, out);
        std::uint64_t reported = 0;
        const auto push = [&](std::uint32_t cell, const EdgeRecord& edge) { return stream.Push(cell, edge); };
        ASSERT_OK(MergeEdges(std::move(sources), kThreePartitions, push, [&](std::uint64_t more) {
          reported += more;
          return absl::OkStatus();
        }));
        ASSERT_OK(stream.Finish());
        for (CellWriter& writer : writers) ASSERT_OK(writer.Finish());
        EXPECT_EQ(reported, edges.size());
        EXPECT_EQ(out.duplicates, expected.duplicates);
        EXPECT_EQ(out.also_in_train, expected.also_in_train);
        EXPECT_EQ(out.relation_train_edges, expected.relation_train_edges);
        EXPECT_TRUE(Bytes("merged") == Bytes("whole")) << merge << extents << buffer_bytes;
      }
    }
  }
}

TEST_F(EdgeMergeTest, AnErrorOfTheTickOrTheSinkEndsIt) {
  std::vector<EdgeRecord> edges = RandomEdges(100000);
  SortRun(edges);
  const auto source = [&] {
    std::vector<std::unique_ptr<EdgeSource>> sources;
    sources.push_back(SourceOf(edges));
    return sources;
  };
  const EdgeSink all = [](std::uint32_t, const EdgeRecord&) { return absl::OkStatus(); };
  EXPECT_ERROR(
      MergeEdges(source(), kThreePartitions, all, [](std::uint64_t) -> absl::Status { return RuntimeError("enough"); }),
      kRuntime, "enough");
  int taken = 0;
  const EdgeSink two = [&](std::uint32_t, const EdgeRecord&) {
    return ++taken == 3 ? RuntimeError("full") : absl::OkStatus();
  };
  EXPECT_ERROR(MergeEdges(source(), kThreePartitions, two, nullptr), kRuntime, "full");
  EXPECT_EQ(taken, 3);
}

}  // namespace
}  // namespace octavo
