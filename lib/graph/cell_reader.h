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

// Opened once, then read by any number of threads. Constant after Open and DropBehind.
class CellReader {
 public:
  // Checks the header, the block index and the file's size. Blocks are checked when read.
  static absl::StatusOr<CellReader> Open(const std::filesystem::path& path);

  std::uint64_t edge_count() const { return header_.edge_count; }
  std::size_t block_count() const { return records_.size(); }
  const CellsHeader& header() const { return header_; }
  // In file order: by cell, row-major. REQUIRES: block < block_count()
  const BlockRecord& block(std::size_t block) const { return records_[block]; }

  // Reads block `block` into `edges`. Ids are global; relation is 0 in a graph without relations, weight is 1 in one
  // without weights. Verifies the checksum and the range of every id. Any thread; each thread passes its own `scratch`.
  // REQUIRES: block < block_count() and edges.size() == this->block(block).edges
  absl::Status ReadBlock(std::size_t block, std::span<Edge> edges, std::vector<std::byte>& scratch) const;

  // Keeps the cells from filling the page cache: from now on Forget drops what was read. Not concurrently with other
  // calls.
  void DropBehind();
  // WillRead: blocks [first, last) are about to be read. Forget: they were read and are not needed again soon. Both do
  // nothing without DropBehind. REQUIRES: first <= last <= block_count()
  void WillRead(std::size_t first, std::size_t last) const;
  void Forget(std::size_t first, std::size_t last) const;

  // Reads every edge, in file order. For tests, small splits, and evaluation.
  absl::StatusOr<std::vector<Edge>> ReadAll() const;

 private:
  CellReader(File file, const CellsHeader& header, std::vector<BlockRecord> records)
      : file_(std::move(file)), header_(header), records_(std::move(records)) {}

  // Returns the offset where block `block` begins; for block_count(), where the last block ends.
  std::uint64_t OffsetOf(std::size_t block) const {
    return block == records_.size() ? header_.index_offset : records_[block].offset;
  }

  File file_;
  CellsHeader header_;
  std::vector<BlockRecord> records_;
  bool drop_behind_ = false;
};

}  // namespace octavo
