#include "checkpoint/new_tables.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/write_behind.h"
#include "tables/bfloat16.h"
#include "tables/table_file.h"

namespace octavo {
namespace {

// Reserves the space of both slots of a table, or with `sparse` makes holes.
absl::Status AllocateSlots(const RunPaths& paths, TableName table, const NpyShape& shape, bool sparse = false) {
  for (const int slot : {0, 1}) {
    ASSIGN_OR_RETURN(File file, CreateTableFile(paths.Table(table, slot), shape, sparse));
    RETURN_IF_ERROR(file.Close());
  }
  return absl::OkStatus();
}

// Buffers for rows of a new table: as floats, and if the table is bf16 as words.
struct FillBuffer {
  std::vector<float> floats;
  std::vector<std::uint16_t> words;
};

// Fills rows [first, first + count) of a table file, in ascending order of calls, and adds them to `checksum`.
absl::Status FillRows(File& file, WriteBehind& cache, const NpyShape& shape, std::uint64_t first, std::uint64_t count,
                      const RowInitializer& initializer, const RowOverlay& overlay, FillBuffer& buffer,
                      StreamingChecksum64& checksum) {
  const bool rounded = shape.element == NpyElement::kBfloat16;
  buffer.floats.assign(count * shape.columns, 0.0F);
  buffer.words.resize(rounded ? buffer.floats.size() : 0);
  const auto each_row = [&](const auto& work) {
    ParallelRanges(0, count, 256, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        work(i, std::span(buffer.floats).subspan(i * shape.columns, shape.columns));
      }
    });
  };
  if (initializer) each_row([&](std::size_t i, std::span<float> row) { initializer(first + i, row); });
  if (overlay) RETURN_IF_ERROR(overlay(first, buffer.floats));
  if (rounded) {
    each_row([&](std::size_t i, std::span<float> row) {
      RoundToNearest(row, std::span(buffer.words).subspan(i * shape.columns, shape.columns));
    });
  }
  const auto bytes = rounded ? std::as_bytes(std::span(buffer.words)) : std::as_bytes(std::span(buffer.floats));
  checksum.Update(bytes);
  RETURN_IF_ERROR(file.WriteAt(RowOffset(shape, first), bytes));
  return cache.Advance(file, RowOffset(shape, first) + bytes.size());
}

}  // namespace

absl::Status AllocateTables(const RunPaths& paths, const RunShape& shape, bool sparse) {
  RETURN_IF_ERROR(AllocateSlots(paths, TableName::kEmbeddings, {shape.rows, shape.dim, shape.element}, sparse));
  RETURN_IF_ERROR(AllocateSlots(paths, TableName::kOptimizer, {shape.rows, shape.state_width}, sparse));
  if (shape.lanes > 1) {
    const std::uint64_t rows = shape.LaneRelationRows();
    RETURN_IF_ERROR(AllocateSlots(paths, TableName::kLaneRelations, {rows, shape.relation_width}));
    RETURN_IF_ERROR(AllocateSlots(paths, TableName::kLaneRelationOptimizer, {rows, shape.relation_state_width}));
  }
  RETURN_IF_ERROR(AllocateSlots(paths, TableName::kRelations, {shape.relation_rows, shape.relation_width}));
  return AllocateSlots(paths, TableName::kRelationOptimizer, {shape.relation_rows, shape.relation_state_width});
}

absl::StatusOr<std::vector<std::uint64_t>> FillTable(const RunPaths& paths, TableName table, const NpyShape& shape,
                                                     std::uint64_t partition_rows, const RowInitializer& initializer,
                                                     const RowOverlay& overlay, bool sync, CommitPeers* peers) {
  ASSIGN_OR_RETURN(File file, OpenTableFile(paths.Table(table, 0), shape, /*writable=*/true));
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, shape.columns * sizeof(float));
  const std::uint64_t step = std::max<std::uint64_t>(1, kFillStepBytes / row_bytes);
  std::vector<std::uint64_t> checksums;
  FillBuffer buffer;
  WriteBehind cache;
  for (std::uint64_t first = 0; first < shape.rows; first += partition_rows) {
    const std::uint64_t end = std::min(first + partition_rows, shape.rows);
    StreamingChecksum64 checksum;
    const auto partition = static_cast<PartitionId>(checksums.size());
    if (peers != nullptr && peers->FirstFolderOf(partition) != peers->folder()) {
      checksums.push_back(0);
      continue;
    }
    for (std::uint64_t row = first; row < end; row += step) {
      RETURN_IF_ERROR(
          FillRows(file, cache, shape, row, std::min(step, end - row), initializer, overlay, buffer, checksum));
    }
    checksums.push_back(checksum.Digest());
  }
  RETURN_IF_ERROR(cache.Finish(file, RowOffset(shape, shape.rows)));
  if (sync) RETURN_IF_ERROR(file.Sync());
  RETURN_IF_ERROR(file.Close());
  return checksums;
}

}  // namespace octavo
