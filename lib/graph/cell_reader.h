// Reads the edges of one split block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/edge.h"
#include "format/cells.h"
#include "io/file.h"

namespace octavo {

// Opened once and read from any number of threads. Constant after Open and DropBehind.
class CellReader {
 public:
  // Checks the header, the block index and the file's size. Blocks are checked when they are read.
  static absl::StatusOr<CellReader> Open(const std::filesystem::path& path);

  std::uint64_t edge_count() const { return header_.edge_count; }
  std::size_t block_count() const { return records_.size(); }
  const CellsHeader& header() const { return header_; }
  // In file order: by cell, row-major. REQUIRES: block < block_count()
  const BlockRecord& block(std::size_t block) const { return records_[block]; }

  // Reads block `block` into `edges`: ids are global, a graph without relations has relation 0, one without weights has
  // weight 1. Verifies the checksum and the range of every id. Any thread; `scratch` is the caller's own.
  // REQUIRES: block < block_count() and edges.size() == this->block(block).edges
  absl::Status ReadBlock(std::size_t block, std::span<Edge> edges, std::vector<std::byte>& scratch) const;

  // For cells that the page cache must not fill up with: from here on Forget drops what was read. Not beside other
  // calls.
  void DropBehind();
  // Blocks [first, last) will be read at once; were read and will not be soon again. Without DropBehind both do
  // nothing. REQUIRES: first <= last <= block_count()
  void WillRead(std::size_t first, std::size_t last) const;
  void Forget(std::size_t first, std::size_t last) const;

  // Reads every edge, in file order. For tests, small splits, and evaluation.
  absl::StatusOr<std::vector<Edge>> ReadAll() const;

 private:
  CellReader(File file, const CellsHeader& header, std::vector<BlockRecord> records)
      : file_(std::move(file)), header_(header), records_(std::move(records)) {}

  // Returns where block `block` begins, or the last one ends.
  std::uint64_t OffsetOf(std::size_t block) const {
    return block == records_.size() ? header_.index_offset : records_[block].offset;
  }

  File file_;
  CellsHeader header_;
  std::vector<BlockRecord> records_;
  bool drop_behind_ = false;
};

}  // namespace octavo
