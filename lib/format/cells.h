// The edge file of one split: GRAPH/train.cells, valid.cells, test.cells.
//
// Edges are grouped into cells, one for each (head partition, tail partition), in row-major order. A cell is a sequence
// of blocks of at most kMaxBlockEdges edges. Each block has its own checksum. All integers are little-endian.
//
//   [0, 4096)            CellsHeader, zero-padded
//   [4096, index_offset) blocks, each 4-byte aligned: u32 head[n], u32 tail[n], u32 relation[n] if there are several
//                        relations, f32 weight[n] if the graph has weights. head and tail count from the first id of
//                        their partition.
//   [index_offset, end)  BlockRecord[block_count], in file order
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace octavo {

inline constexpr std::uint32_t kMaxBlockEdges = 4096;
inline constexpr std::size_t kCellsHeaderBytes = 4096;

struct CellsHeader {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'C', 'E', 'L', 'L'};
  std::uint32_t version = 1;
  std::uint32_t has_relations = 0;  // 0 or 1
  std::uint32_t has_weights = 0;    // 0 or 1
  std::uint32_t partition_count = 0;
  std::uint64_t partition_rows = 0;
  std::uint64_t node_count = 0;
  std::uint64_t relation_count = 0;
  std::uint64_t edge_count = 0;
  std::uint64_t block_count = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t index_checksum = 0;   // XXH3-64 of the block records
  std::uint64_t header_checksum = 0;  // XXH3-64 of the bytes before this field
};

struct BlockRecord {
  std::uint64_t offset = 0;    // of the block in the file
  std::uint64_t checksum = 0;  // XXH3-64 of the block's bytes
  std::uint32_t edges = 0;     // 1 to kMaxBlockEdges
  std::uint32_t head_partition = 0;
  std::uint32_t tail_partition = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(BlockRecord) == 32);

// Bytes of one edge in a block: 8, 12 or 16.
std::size_t EdgeBytes(const CellsHeader& header);

// Returns the header's bytes with header_checksum filled in.
std::array<std::byte, kCellsHeaderBytes> EncodeCellsHeader(CellsHeader header);

// Checks magic, version and checksum, that every size fits `file_bytes` without overflow, and that the partitions cover
// the nodes. `file_name` is for messages.
absl::StatusOr<CellsHeader> DecodeCellsHeader(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                                              std::string_view file_name);

// Checks the records against the header: checksum, ranges, order, total number of edges.
absl::Status CheckBlockRecords(const CellsHeader& header, std::span<const BlockRecord> records,
                               std::string_view file_name);

}  // namespace octavo
