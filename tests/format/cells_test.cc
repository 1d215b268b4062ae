#include "format/cells.h"

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

// Two partitions, three blocks: two in cell (0, 0), one in (1, 0).
std::vector<BlockRecord> SampleRecords() {
  return {{.offset = 4096, .checksum = 1, .edges = 4096, .head_partition = 0, .tail_partition = 0},
          {.offset = 4096 + 4096 * 12, .checksum = 2, .edges = 4, .head_partition = 0, .tail_partition = 0},
          {.offset = 4096 + 4100 * 12, .checksum = 3, .edges = 10, .head_partition = 1, .tail_partition = 0}};
}

std::uint64_t IndexChecksum(const std::vector<BlockRecord>& records) {
  return Checksum64(std::as_bytes(std::span<const BlockRecord>(records)));
}

CellsHeader SampleHeader() {
  CellsHeader header;
  header.has_relations = 1;
  header.partition_count = 2;
  header.partition_rows = 1024;
  header.node_count = 1500;
  header.relation_count = 3;
  header.edge_count = 4110;
  header.block_count = 3;
  header.index_offset = 4096 + 4110 * 12;
  header.index_checksum = IndexChecksum(SampleRecords());
  return header;
}

constexpr std::uint64_t kCellsFileBytes = 4096 + 4110 * 12 + 3 * 32;

TEST(CellsHeader, ReadsBackWhatItWrote) {
  ASSERT_OK_AND_ASSIGN(const CellsHeader header,
                       DecodeCellsHeader(EncodeCellsHeader(SampleHeader()), kCellsFileBytes, "f"));
  EXPECT_EQ(header.edge_count, 4110U);
  EXPECT_EQ(header.partition_count, 2U);
  EXPECT_OK(CheckBlockRecords(header, SampleRecords(), "f"));
}

TEST(CellsHeader, EdgeBytesFollowTheColumns) {
  CellsHeader header;
  EXPECT_EQ(EdgeBytes(header), 8U);
  header.has_relations = 1;
  EXPECT_EQ(EdgeBytes(header), 12U);
  header.has_weights = 1;
  EXPECT_EQ(EdgeBytes(header), 16U);
  header.has_relations = 0;
  EXPECT_EQ(EdgeBytes(header), 12U);
}

TEST(CellsHeader, EveryFlippedBitIsACorruptFile) {
  auto bytes = EncodeCellsHeader(SampleHeader());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(DecodeCellsHeader(bytes, kCellsFileBytes, "train.cells").ok()) << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(CellsHeader, SaysWhatIsWrongWithFilesThatAreNone) {
  const auto bytes = EncodeCellsHeader(SampleHeader());
  auto foreign = bytes;
  foreign[0] = std::byte{'P'};
  EXPECT_ERROR(DecodeCellsHeader(foreign, kCellsFileBytes, "f"), kCorrupt, "first bytes \"PCTVCELL\"");
  auto newer = bytes;
  newer[8] = std::byte{2};
  EXPECT_ERROR(DecodeCellsHeader(newer, kCellsFileBytes, "f"), kCorrupt, "version 2; expected version 1");
  for (const std::size_t size : {0UL, 1UL, 100UL, 4095UL}) {
    EXPECT_ERROR(DecodeCellsHeader(std::span(bytes).first(size), size, "f"), kCorrupt, "4096 bytes of a header");
  }
  for (const std::uint64_t size : {std::uint64_t{4096}, kCellsFileBytes - 1, kCellsFileBytes + 1}) {
    EXPECT_ERROR(DecodeCellsHeader(bytes, size, "f"), kCorrupt, "was it cut?") << size;
  }
}

// A header with a valid checksum and inconsistent numbers: made by another program, or deliberately.
TEST(CellsHeader, RefusesNumbersThatMakeNoSense) {
  const std::pair<const char*, std::function<void(CellsHeader&)>> kCases[] = {
      {"relations flag", [](CellsHeader& h) { h.has_relations = 2; }},
      {"weights flag", [](CellsHeader& h) { h.has_weights = 7; }},
      {"no rows", [](CellsHeader& h) { h.partition_rows = 0; }},
      {"odd rows", [](CellsHeader& h) { h.partition_rows = 1000; }},
      {"rows beyond 32 bits", [](CellsHeader& h) { h.partition_rows = (std::uint64_t{1} << 32) + 1024; }},
      {"no nodes", [](CellsHeader& h) { h.node_count = 0; }},
      {"too few partitions", [](CellsHeader& h) { h.node_count = 3000; }},
      {"most nodes", [](CellsHeader& h) { h.node_count = UINT64_MAX; }},
      {"too many partitions", [](CellsHeader& h) { h.partition_count = 3; }},
      {"no relations", [](CellsHeader& h) { h.relation_count = 0; }},
      {"one relation with a column", [](CellsHeader& h) { h.relation_count = 1; }},
      {"relations beyond 32 bits", [](CellsHeader& h) { h.relation_count = (std::uint64_t{1} << 32) + 1; }},
      {"edges that overflow", [](CellsHeader& h) { h.edge_count = UINT64_MAX / 12 + 2; }},
      {"blocks that overflow", [](CellsHeader& h) { h.block_count = UINT64_MAX / 32 + 2; }},
      {"index elsewhere", [](CellsHeader& h) { h.index_offset = 4096; }},
  };
  for (const auto& [what, change] : kCases) {
    CellsHeader header = SampleHeader();
    change(header);
    EXPECT_ERROR(DecodeCellsHeader(EncodeCellsHeader(header), kCellsFileBytes, "f"), kCorrupt, "expected") << what;
  }
}

TEST(BlockRecords, RefusesARecordThatDoesNotFit) {
  const std::pair<const char*, std::function<void(std::vector<BlockRecord>&)>> kCases[] = {
      {"one less", [](auto& r) { r.pop_back(); }},
      {"empty block", [](auto& r) { r[1].edges = 0; }},
      {"long block", [](auto& r) { r[0].edges = 4097; }},
      {"hole", [](auto& r) { r[1].offset += 4; }},
      {"head partition", [](auto& r) { r[2].head_partition = 2; }},
      {"tail partition", [](auto& r) { r[2].tail_partition = 2; }},
      {"descending cells", [](auto& r) { r[0].tail_partition = 1; }},
      {"reserved", [](auto& r) { r[0].reserved = 1; }},
      {"sum of edges", [](auto& r) { r[2].edges = 9; }},
  };
  for (const auto& [what, change] : kCases) {
    std::vector<BlockRecord> records = SampleRecords();
    change(records);
    CellsHeader header = SampleHeader();
    header.index_checksum = IndexChecksum(records);
    EXPECT_ERROR(CheckBlockRecords(header, records, "f"), kCorrupt, "expected") << what;
  }
  std::vector<BlockRecord> records = SampleRecords();
  records[0].checksum = 9;
  EXPECT_ERROR(CheckBlockRecords(SampleHeader(), records, "f"), kCorrupt, "whose checksum does not match");
}

}  // namespace
}  // namespace octavo
