// Writes one .cells file, cell by cell.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/edge_record.h"
#include "format/cells.h"
#include "io/file.h"
#include "io/write_behind.h"

namespace octavo {

// A cell as it is stored in the file. Offsets in `records` count from the cell's first byte.
struct EncodedCell {
  std::vector<std::byte> bytes;
  std::vector<BlockRecord> records;
  std::uint64_t edges = 0;
};

// Encodes `edges`, whose ids are global, as the blocks of cell (head_partition, tail_partition). Pure; any thread.
EncodedCell EncodeCell(std::span<const EdgeRecord> edges, std::uint32_t head_partition, std::uint32_t tail_partition,
                       const CellsHeader& layout);

// One owner, one thread.
class CellWriter {
 public:
  // `layout` provides the header except counts and checksums.
  static absl::StatusOr<CellWriter> Create(const std::filesystem::path& path, const CellsHeader& layout);

  // Appends a cell. REQUIRES: cells come in row-major order
  absl::Status Append(const EncodedCell& cell);

  // Writes the index and the header and returns the header. Call it once, last.
  absl::StatusOr<CellsHeader> Finish();

 private:
  absl::Status WriteIndex();

  CellWriter(File file, const CellsHeader& layout) : file_(std::move(file)), header_(layout) {}

  File file_;
  WriteBehind behind_;
  CellsHeader header_;
  std::uint64_t offset_ = kCellsHeaderBytes;
  std::deque<BlockRecord> records_;  // grows without a second copy
};

}  // namespace octavo
