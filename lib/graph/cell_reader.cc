#include "graph/cell_reader.h"

#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"

namespace octavo {
namespace {

// Returns the i-th of the `edges` 32-bit words of one column. The column need not be aligned.
template <typename T>
T Load(const std::byte* column, std::size_t i) {
  static_assert(sizeof(T) == sizeof(std::uint32_t));
  T value;
  std::memcpy(&value, column + i * sizeof(T), sizeof(T));
  return value;
}

// Rows of partition `partition`. All partitions except the last are full.
std::uint64_t RowsOf(const CellsHeader& header, std::uint32_t partition) {
  const std::uint64_t first = partition * header.partition_rows;
  return std::min(header.partition_rows, header.node_count - first);
}

}  // namespace

absl::StatusOr<CellReader> CellReader::Open(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  std::vector<std::byte> head(std::min<std::uint64_t>(size, kCellsHeaderBytes));
  RETURN_IF_ERROR(file.ReadAt(0, head));
  ASSIGN_OR_RETURN(const CellsHeader header, DecodeCellsHeader(head, size, path.string()));
  std::vector<BlockRecord> records(header.block_count);
  RETURN_IF_ERROR(file.ReadAt(header.index_offset, std::as_writable_bytes(std::span<BlockRecord>(records))));
  RETURN_IF_ERROR(CheckBlockRecords(header, records, path.string()));
  return CellReader(std::move(file), header, std::move(records));
}

absl::Status CellReader::ReadBlock(std::size_t block, std::span<Edge> edges, std::vector<std::byte>& scratch) const {
  const BlockRecord& record = records_[block];
  const std::size_t count = record.edges;
  scratch.resize(count * EdgeBytes(header_));
  RETURN_IF_ERROR(file_.ReadAt(record.offset, scratch));
  const auto refuse = [&](std::string_view found, std::string_view expected) {
    return CorruptError(fmt::format("{}: block {} at byte {}: {}; expected {}", file_.path().string(), block,
                                    record.offset, found, expected));
  };
  if (Checksum64(scratch) != record.checksum) {
    return refuse("bytes whose checksum does not match", "undamaged ones; import the graph again");
  }
  const std::uint64_t first_head = record.head_partition * header_.partition_rows;
  const std::uint64_t first_tail = record.tail_partition * header_.partition_rows;
  const std::uint64_t head_rows = RowsOf(header_, record.head_partition);
  const std::uint64_t tail_rows = RowsOf(header_, record.tail_partition);
  const std::byte* const heads = scratch.data();
  const std::byte* const tails = heads + count * sizeof(std::uint32_t);
  const std::byte* column = tails + count * sizeof(std::uint32_t);
  const std::byte* const relations = header_.has_relations != 0 ? column : nullptr;
  if (relations != nullptr) column += count * sizeof(std::uint32_t);
  const std::byte* const weights = header_.has_weights != 0 ? column : nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const auto head = Load<std::uint32_t>(heads, i);
    const auto tail = Load<std::uint32_t>(tails, i);
    const auto relation = relations != nullptr ? Load<std::uint32_t>(relations, i) : 0;
    if (head >= head_rows || tail >= tail_rows || relation >= header_.relation_count) {
      return refuse(fmt::format("edge {} is ({}, {}, {})", i, head, relation, tail),
                    fmt::format("less than ({}, {}, {})", head_rows, header_.relation_count, tail_rows));
    }
    edges[i].head = NodeId{first_head + head};
    edges[i].tail = NodeId{first_tail + tail};
    edges[i].relation = RelationId{relation};
    edges[i].weight = weights != nullptr ? Load<float>(weights, i) : 1.0F;
  }
  return absl::OkStatus();
}

void CellReader::DropBehind() {
  drop_behind_ = true;
  file_.ReadNoFurther();
}

void CellReader::WillRead(std::size_t first, std::size_t last) const {
  if (drop_behind_) file_.WillRead(OffsetOf(first), OffsetOf(last) - OffsetOf(first));
}

void CellReader::Forget(std::size_t first, std::size_t last) const {
  if (drop_behind_) file_.DropBehind(OffsetOf(first), OffsetOf(last) - OffsetOf(first));
}

absl::StatusOr<std::vector<Edge>> CellReader::ReadAll() const {
  std::vector<Edge> edges(header_.edge_count);
  std::vector<std::byte> scratch;
  std::size_t done = 0;
  for (std::size_t block = 0; block < records_.size(); ++block) {
    RETURN_IF_ERROR(ReadBlock(block, std::span(edges).subspan(done, records_[block].edges), scratch));
    done += records_[block].edges;
  }
  return edges;
}

}  // namespace octavo
