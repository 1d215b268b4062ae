#include "graph/cell_reader.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/imported_graph.h"

namespace octavo {
namespace {

// 3,000 nodes in 3 partitions, 9,000 edges over 2 relations with weights.
std::string Text() {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += fmt::format("n{}\tr{}\tn{}\t{}\n", i % 3000, i % 2, i * 7 % 2999, 1 + i % 4);
  return text;
}

class CellReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(ImportText(folder_, Text()));
    path_ = GraphPaths(folder_ / "graph").Cells(Split::kTrain);
  }
  TemporaryFolder folder_;
  std::filesystem::path path_;
};

TEST_F(CellReaderTest, ReadsBlocksInCellOrderWithIdsOfTheirPartitions) {
  ASSERT_OK_AND_ASSIGN(const CellReader reader, CellReader::Open(path_));
  EXPECT_EQ(reader.header().partition_count, 3U);
  EXPECT_EQ(reader.block_count(), 9U);
  std::vector<std::byte> scratch;
  std::uint64_t edges = 0;
  std::vector<Edge> whole;
  for (std::size_t block = 0; block < reader.block_count(); ++block) {
    const BlockRecord& record = reader.block(block);
    EXPECT_EQ(record.head_partition * 3 + record.tail_partition, block);
    std::vector<Edge> mine(record.edges);
    ASSERT_OK(reader.ReadBlock(block, mine, scratch));
    for (const Edge& edge : mine) {
      EXPECT_EQ(Value(edge.head) / 1024, record.head_partition);
      EXPECT_EQ(Value(edge.tail) / 1024, record.tail_partition);
      EXPECT_LT(Value(edge.relation), 2U);
      EXPECT_GE(edge.weight, 1.0F);
      whole.push_back(edge);
    }
    edges += record.edges;
  }
  EXPECT_EQ(edges, reader.edge_count());
  EXPECT_EQ(*reader.ReadAll(), whole);
}

TEST_F(CellReaderTest, ReadsFromManyThreadsAtOnce) {
  ASSERT_OK_AND_ASSIGN(const CellReader reader, CellReader::Open(path_));
  ASSERT_OK_AND_ASSIGN(const std::vector<Edge> expected, reader.ReadAll());
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (int& mine : same) {
    threads.emplace_back([&] { mine = *reader.ReadAll() == expected ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(4, 1));
}

TEST_F(CellReaderTest, EveryFlippedByteIsAnErrorThatNamesTheFile) {
  const std::uint64_t size = FileBytes(path_).size();
  for (std::uint64_t at = 0; at < size; at += at < 200 || at > size - 300 ? 1 : 97) {
    FlipByte(path_, at);
    const auto read = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const CellReader reader, CellReader::Open(path_));
      return reader.ReadAll().status();
    };
    ASSERT_TRUE(IsError(read(), ErrorKind::kCorrupt, path_.string())) << at;
    FlipByte(path_, at);
  }
}

TEST_F(CellReaderTest, EveryTruncationIsAnError) {
  const std::uint64_t size = FileBytes(path_).size();
  for (const std::uint64_t shorter : {size - 1, size - 32, size / 2, std::uint64_t{4097}, std::uint64_t{4096},
                                      std::uint64_t{4095}, std::uint64_t{1}, std::uint64_t{0}}) {
    std::filesystem::resize_file(path_, shorter);
    EXPECT_ERROR(CellReader::Open(path_), kCorrupt, path_.string()) << shorter;
  }
}

TEST_F(CellReaderTest, AFileCutWhileItIsOpenIsAnError) {
  ASSERT_OK_AND_ASSIGN(const CellReader reader, CellReader::Open(path_));
  std::filesystem::resize_file(path_, 5000);
  EXPECT_ERROR(reader.ReadAll(), kCorrupt, "ends at byte 5000");
}

TEST_F(CellReaderTest, ForgetsBlocksOnlyWhereAskedToDropBehind) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  SyncFile(path_);
  ASSERT_OK_AND_ASSIGN(CellReader reader, CellReader::Open(path_));
  ASSERT_OK_AND_ASSIGN(const std::vector<Edge> before, reader.ReadAll());
  const std::uint64_t cached = CachedBytes(path_);
  reader.WillRead(0, reader.block_count());
  reader.Forget(0, reader.block_count());
  EXPECT_EQ(CachedBytes(path_), cached);
  reader.DropBehind();
  reader.Forget(3, 3);
  EXPECT_EQ(CachedBytes(path_), cached);
  reader.Forget(0, reader.block_count());
  EXPECT_LE(CachedBytes(path_), 8192U);  // the index after the blocks
  reader.WillRead(0, reader.block_count());
  EXPECT_EQ(*reader.ReadAll(), before);
}

}  // namespace
}  // namespace octavo
