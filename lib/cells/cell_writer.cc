#include "cells/cell_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "io/checksum.h"

namespace octavo {
namespace {

constexpr std::size_t kIndexPiece = 4096;  // records that are written at a time

// Appends one column of a block: `value(edge)` for every edge.
template <typename Value>
void AppendColumn(std::span<const EdgeRecord> edges, std::vector<std::byte>& bytes, const Value& value) {
  using Element = decltype(value(edges.front()));
  static_assert(sizeof(Element) == sizeof(std::uint32_t));
  std::size_t at = bytes.size();
  bytes.resize(at + edges.size() * sizeof(Element));
  for (const EdgeRecord& edge : edges) {
    const Element element = value(edge);
    std::memcpy(bytes.data() + at, &element, sizeof(element));
    at += sizeof(element);
  }
}

}  // namespace

EncodedCell EncodeCell(std::span<const EdgeRecord> edges, std::uint32_t head_partition, std::uint32_t tail_partition,
                       const CellsHeader& layout) {
  // 32 bits are enough for any id of an import.
  const auto first_head = static_cast<std::uint32_t>(head_partition * layout.partition_rows);
  const auto first_tail = static_cast<std::uint32_t>(tail_partition * layout.partition_rows);
  EncodedCell cell;
  cell.edges = edges.size();
  cell.bytes.reserve(edges.size() * EdgeBytes(layout));
  while (!edges.empty()) {
    const auto block = edges.first(std::min<std::size_t>(edges.size(), kMaxBlockEdges));
    edges = edges.subspan(block.size());
    BlockRecord record;
    record.offset = cell.bytes.size();
    record.edges = static_cast<std::uint32_t>(block.size());
    record.head_partition = head_partition;
    record.tail_partition = tail_partition;
    AppendColumn(block, cell.bytes, [&](const EdgeRecord& edge) { return edge.head - first_head; });
    AppendColumn(block, cell.bytes, [&](const EdgeRecord& edge) { return edge.tail - first_tail; });
    if (layout.has_relations != 0) AppendColumn(block, cell.bytes, [](const EdgeRecord& e) { return e.relation(); });
    if (layout.has_weights != 0) AppendColumn(block, cell.bytes, [](const EdgeRecord& e) { return e.weight; });
    record.checksum = Checksum64(std::span(cell.bytes).subspan(record.offset));
    cell.records.push_back(record);
  }
  return cell;
}

absl::StatusOr<CellWriter> CellWriter::Create(const std::filesystem::path& path, const CellsHeader& layout) {
  ASSIGN_OR_RETURN(File file, File::Create(path));
  return CellWriter(std::move(file), layout);
}

absl::Status CellWriter::Append(const EncodedCell& cell) {
  RETURN_IF_ERROR(file_.WriteAt(offset_, cell.bytes));
  for (BlockRecord record : cell.records) {
    record.offset += offset_;
    records_.push_back(record);
  }
  offset_ += cell.bytes.size();
  header_.edge_count += cell.edges;
  return behind_.Advance(file_, offset_);
}

// Writes the records, some at a time, and notes in the header where they are.
absl::Status CellWriter::WriteIndex() {
  header_.index_offset = offset_;
  header_.block_count = records_.size();
  StreamingChecksum64 checksum;
  std::vector<BlockRecord> some;
  while (!records_.empty()) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(records_.size(), kIndexPiece));
    some.assign(records_.begin(), records_.begin() + count);
    records_.erase(records_.begin(), records_.begin() + count);
    const auto bytes = std::as_bytes(std::span<const BlockRecord>(some));
    checksum.Update(bytes);
    RETURN_IF_ERROR(file_.WriteAt(offset_, bytes));
    offset_ += bytes.size();
  }
  header_.index_checksum = checksum.Digest();
  return absl::OkStatus();
}

absl::StatusOr<CellsHeader> CellWriter::Finish() {
  RETURN_IF_ERROR(WriteIndex());
  RETURN_IF_ERROR(file_.WriteAt(0, EncodeCellsHeader(header_)));
  RETURN_IF_ERROR(behind_.Finish(file_, offset_));
  RETURN_IF_ERROR(file_.Close());
  return header_;
}

}  // namespace octavo
