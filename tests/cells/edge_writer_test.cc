// Whole imports test what WriteEdges and WriteSpilled write (importer_test.cc, spilled_import_test.cc); here is how
// much they hold, and that they stop.
#include "cells/edge_writer.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr PartitionLayout kTwoPartitions = {.rows = 1024, .count = 2};

CellsHeader TwoPartitionsHeader() {
  CellsHeader layout;
  layout.partition_count = kTwoPartitions.count;
  layout.partition_rows = kTwoPartitions.rows;
  layout.node_count = 2048;
  layout.relation_count = 1;
  return layout;
}

std::vector<EdgeRecord> Unsorted() {
  std::vector<EdgeRecord> edges;
  for (std::uint32_t i = 0; i < 30000; ++i) edges.push_back({.head = i * 7919 % 2048, .tail = i * i % 1500});
  return edges;
}

SortedEdges Edges() { return SortedEdges({Unsorted()}, kTwoPartitions); }

TEST(WriteEdges, WritesTheSameBytesHoweverManyCellsFit) {
  TemporaryFolder folder(FastPlace());
  const GraphPaths paths(folder.path());
  SortedEdges edges = Edges();
  ASSERT_OK_AND_ASSIGN(const WrittenEdges expected, WriteEdges(paths, edges, TwoPartitionsHeader(), {}));
  const std::string bytes = FileBytes(paths.Cells(Split::kTrain));
  EXPECT_GT(expected.duplicates[0], 0U);
  for (const std::uint64_t work_bytes : {1U, 100000U, 500000U, 1000000U}) {
    SortedEdges again = Edges();
    std::uint64_t reported = 0;
    ASSERT_OK_AND_ASSIGN(
        const WrittenEdges written,
        WriteEdges(paths, again, TwoPartitionsHeader(),
                   {.work_bytes = work_bytes, .progress = [&](std::uint64_t done) { reported = done; }}));
    EXPECT_EQ(written.duplicates, expected.duplicates);
    EXPECT_EQ(reported, 30000U);
    EXPECT_TRUE(FileBytes(paths.Cells(Split::kTrain)) == bytes) << work_bytes;
  }
}

// Cells are written in groups, one by one, and, as too large, in pieces that are merged.
TEST(WriteSpilled, WritesTheBytesOfWriteEdgesHoweverLittleFits) {
  TemporaryFolder folder(FastPlace());
  const GraphPaths paths(folder.path());
  SortedEdges edges = Edges();
  ASSERT_OK_AND_ASSIGN(const WrittenEdges expected, WriteEdges(paths, edges, TwoPartitionsHeader(), {}));
  const std::string bytes = FileBytes(paths.Cells(Split::kTrain));
  for (const std::uint64_t work_bytes :
       {std::uint64_t{80000}, std::uint64_t{400000}, std::uint64_t{900000}, UINT64_MAX}) {
    SpillUse use;
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<SpillFile> file, SpillFile::Create(folder / "spill", use));
    CellSpill spill(std::move(file), kTwoPartitions, nullptr);
    const std::vector<EdgeRecord> all = Unsorted();
    for (std::size_t i = 0; i < all.size(); i += 7000) {
      EdgeChunks chunks = {std::vector(all.begin() + static_cast<std::ptrdiff_t>(i),
                                       all.begin() + static_cast<std::ptrdiff_t>(std::min(i + 7000, all.size())))};
      ASSERT_OK(spill.Append(chunks));
    }
    ASSERT_OK(spill.FinishWriting());
    ASSERT_OK_AND_ASSIGN(const WrittenEdges written,
                         WriteSpilled(paths, spill, TwoPartitionsHeader(), {.work_bytes = work_bytes}));
    EXPECT_EQ(written.duplicates, expected.duplicates);
    EXPECT_TRUE(FileBytes(paths.Cells(Split::kTrain)) == bytes) << work_bytes;
  }
}

TEST(WriteEdges, Stops) {
  TemporaryFolder folder(FastPlace());
  for (const std::uint64_t work_bytes : {std::uint64_t{1}, UINT64_MAX}) {
    SortedEdges edges = Edges();
    const auto written = WriteEdges(GraphPaths(folder.path()), edges, TwoPartitionsHeader(),
                                    {.work_bytes = work_bytes, .stop = [] { return true; }});
    EXPECT_TRUE(absl::IsCancelled(written.status()));
  }
}

TEST(EdgeMergeLimits, LeaveRoomForTheIndexAndABufferEach) {
  EXPECT_EQ(EdgeMergeLimits(std::uint64_t{1} << 20, 0, 1).most, 32U);
  EXPECT_EQ(EdgeMergeLimits(std::uint64_t{1} << 20, 0, 1).fan_in, 32U);
  EXPECT_EQ(EdgeMergeLimits(std::uint64_t{1} << 20, std::uint64_t{1} << 40, 1).most, 0U);
  // 2^32 edges are 2^20 blocks of 32 bytes; only the last merge has them.
  const MergeLimits limits = EdgeMergeLimits((std::uint64_t{32} << 20) + (1 << 20), std::uint64_t{1} << 32, 64);
  EXPECT_EQ(limits.most, 32U);
  EXPECT_EQ(limits.fan_in, 33U * 32);
  // 1,000 edges are in at most 1,000 of the cells of 512 partitions, 2^32 in all of them.
  EXPECT_EQ(IndexBytes(1000, 512), 1000U * 32);
  EXPECT_EQ(IndexBytes(std::uint64_t{1} << 32, 512), ((1U << 20) + 3U * 512 * 512) * 32);
}

}  // namespace
}  // namespace octavo
