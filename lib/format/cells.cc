#include "format/cells.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "base/escape.h"
#include "base/ids.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::size_t kSummedHeaderBytes = offsetof(CellsHeader, header_checksum);
// Ids within a partition and relation ids are stored in 32 bits.
constexpr std::uint64_t kMax32 = std::uint64_t{1} << 32;

std::uint64_t HeaderChecksum(const CellsHeader& header) { return XXH3_64bits(&header, kSummedHeaderBytes); }

absl::Status Refuse(std::string_view file_name, std::string_view found, std::string_view expected) {
  return CorruptError(fmt::format("{}: {}; expected {}", file_name, found, expected));
}

// The header's checksum is right, so this program wrote it; checks that its counts are consistent.
absl::Status CheckCounts(const CellsHeader& header, std::string_view file_name) {
  if (header.has_relations > 1 || header.has_weights > 1) {
    return Refuse(file_name, fmt::format("flags {} and {}", header.has_relations, header.has_weights), "0 or 1");
  }
  if (header.partition_rows == 0 || header.partition_rows % kPartitionRowQuantum != 0 ||
      header.partition_rows > kMax32) {
    return Refuse(file_name, fmt::format("{} rows per partition", header.partition_rows),
                  fmt::format("a multiple of {} up to {}", kPartitionRowQuantum, kMax32));
  }
  const std::uint64_t partitions =
      header.node_count / header.partition_rows + (header.node_count % header.partition_rows != 0 ? 1 : 0);
  if (header.node_count == 0 || partitions != header.partition_count) {
    return Refuse(file_name, fmt::format("{} partitions for {} nodes", header.partition_count, header.node_count),
                  fmt::format("{}", partitions));
  }
  if (header.relation_count == 0 || header.relation_count > kMax32 ||
      (header.relation_count > 1) != (header.has_relations == 1)) {
    return Refuse(file_name, fmt::format("{} relations", header.relation_count),
                  "at least 1, and a relation column if there are several");
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const CellsHeader& header, std::uint64_t file_bytes, std::string_view file_name) {
  const auto edge_bytes = CheckedMultiply(header.edge_count, EdgeBytes(header));
  const auto index_offset = edge_bytes ? CheckedAdd(*edge_bytes, kCellsHeaderBytes) : std::nullopt;
  if (!index_offset || *index_offset != header.index_offset) {
    return Refuse(file_name, fmt::format("block index at byte {}", header.index_offset),
                  fmt::format("it right after {} edges", header.edge_count));
  }
  const auto index_bytes = CheckedMultiply(header.block_count, sizeof(BlockRecord));
  const auto total = index_bytes ? CheckedAdd(*index_offset, *index_bytes) : std::nullopt;
  if (!total || *total != file_bytes) {
    return Refuse(
        file_name, fmt::format("{} bytes", file_bytes),
        fmt::format("the bytes of {} edges and {} blocks; was it cut?", header.edge_count, header.block_count));
  }
  return absl::OkStatus();
}

}  // namespace

std::size_t EdgeBytes(const CellsHeader& header) {
  return (2 + (header.has_relations != 0 ? 1U : 0U) + (header.has_weights != 0 ? 1U : 0U)) * sizeof(std::uint32_t);
}

std::array<std::byte, kCellsHeaderBytes> EncodeCellsHeader(CellsHeader header) {
  header.header_checksum = HeaderChecksum(header);
  std::array<std::byte, kCellsHeaderBytes> bytes{};
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

absl::StatusOr<CellsHeader> DecodeCellsHeader(std::span<const std::byte> bytes, std::uint64_t file_bytes,
                                              std::string_view file_name) {
  if (bytes.size() < kCellsHeaderBytes) {
    return Refuse(file_name, fmt::format("{} bytes", bytes.size()),
                  fmt::format("at least the {} bytes of a header", kCellsHeaderBytes));
  }
  CellsHeader header;
  const CellsHeader blank;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != blank.magic) {
    return Refuse(file_name, fmt::format("first bytes \"{}\"", Escape({header.magic.data(), header.magic.size()})),
                  "an edge file, which begins with \"OCTVCELL\"");
  }
  if (header.version != blank.version) {
    return Refuse(file_name, fmt::format("version {}", header.version),
                  fmt::format("version {}; import the graph again", blank.version));
  }
  if (header.header_checksum != HeaderChecksum(header)) {
    return Refuse(file_name, "a header whose checksum does not match", "an undamaged one; import the graph again");
  }
  const auto padding = bytes.subspan(sizeof(header), kCellsHeaderBytes - sizeof(header));
  if (std::ranges::any_of(padding, [](std::byte b) { return b != std::byte{0}; })) {
    return Refuse(file_name, "a byte that is not 0 after the header's fields", "zeros up to byte 4096");
  }
  RETURN_IF_ERROR(CheckCounts(header, file_name));
  RETURN_IF_ERROR(CheckSizes(header, file_bytes, file_name));
  return header;
}

absl::Status CheckBlockRecords(const CellsHeader& header, std::span<const BlockRecord> records,
                               std::string_view file_name) {
  if (records.size() != header.block_count) {
    return Refuse(file_name, fmt::format("{} block records", records.size()), fmt::format("{}", header.block_count));
  }
  if (XXH3_64bits(records.data(), records.size_bytes()) != header.index_checksum) {
    return Refuse(file_name, "a block index whose checksum does not match", "an undamaged one; import the graph again");
  }
  std::uint64_t offset = kCellsHeaderBytes;
  std::uint64_t edges = 0;
  std::uint64_t last_cell = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const BlockRecord& record = records[i];
    const std::uint64_t cell =
        std::uint64_t{record.head_partition} * header.partition_count + std::uint64_t{record.tail_partition};
    const bool fits = record.offset == offset && record.edges > 0 && record.edges <= kMaxBlockEdges &&
                      record.head_partition < header.partition_count &&
                      record.tail_partition < header.partition_count && cell >= last_cell && record.reserved == 0;
    if (!fits) {
      return Refuse(file_name,
                    fmt::format("block {} with {} edges at byte {} in cell ({}, {})", i, record.edges, record.offset,
                                record.head_partition, record.tail_partition),
                    fmt::format("1 to {} edges at byte {}, cells in ascending order", kMaxBlockEdges, offset));
    }
    offset += record.edges * EdgeBytes(header);
    edges += record.edges;
    last_cell = cell;
  }
  if (edges != header.edge_count) {
    return Refuse(file_name, fmt::format("{} edges in its blocks", edges), fmt::format("{}", header.edge_count));
  }
  return absl::OkStatus();
}

}  // namespace octavo
