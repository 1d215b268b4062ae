#include "evaluate/row_stream.h"

#include <algorithm>
#include <array>
#include <future>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/status.h"
#include "tables/row_checks.h"

namespace octavo {
namespace {

// A random read of a fast disk takes about as long as reading this many more bytes sequentially.
constexpr std::uint64_t kReadThroughBytes = 64 * 1024;
constexpr std::uint64_t kPageBytes = 4096;  // on systems with larger pages the cache is only dropped less often

}  // namespace

absl::Status StreamRows(const TableReader& table, std::uint64_t begin, std::uint64_t end, std::uint64_t block_rows,
                        const std::function<absl::Status(const RowBlock&)>& visit) {
  const std::size_t columns = table.columns();
  struct Block {
    std::vector<float> buffer;  // empty where the rows are mapped
    std::span<const float> rows;
  };
  std::array<Block, 2> blocks;
  RowChecks checks(table);  // of the partition being read
  const auto read = [&](std::uint64_t first, Block& block) -> absl::Status {
    const std::uint64_t count = std::min(block_rows, end - first);
    const absl::StatusOr<std::span<const float>> rows = table.Rows(first, count, block.buffer);
    table.Forget(first, count);
    if (!rows.ok()) return rows.status();
    block.rows = *rows;
    return checks.Add(first, block.rows);
  };
  if (begin >= end) return absl::OkStatus();
  RETURN_IF_ERROR(read(begin, blocks[0]));
  std::size_t front = 0;
  for (std::uint64_t first = begin; first < end; first += block_rows, front = 1 - front) {
    const std::uint64_t next = first + block_rows;
    std::future<absl::Status> ahead;  // its destructor waits, so an early return leaves no reader running
    if (next < end) ahead = std::async(std::launch::async, read, next, std::ref(blocks[1 - front]));
    RETURN_IF_ERROR(visit(RowBlock{first, columns, blocks[front].rows}));
    if (ahead.valid()) RETURN_IF_ERROR(ahead.get());
  }
  return absl::OkStatus();
}

absl::Status VisitRows(const TableReader& table, std::span<const std::uint64_t> ids, std::uint64_t max_bytes,
                       const std::function<absl::Status(std::size_t, std::size_t, const RowBlock&)>& visit) {
  const std::size_t columns = table.columns();
  const std::uint64_t row_bytes = columns * sizeof(float);
  const std::uint64_t max_rows = std::max<std::uint64_t>(1, max_bytes / row_bytes);
  const std::uint64_t max_gap = std::max<std::uint64_t>(1, kReadThroughBytes / row_bytes);
  std::vector<float> buffer;
  std::uint64_t cached_bytes = 0;  // in the page cache, since `kept`
  std::uint64_t kept = ids.empty() ? 0 : ids.front();
  std::size_t begin = 0;
  while (begin < ids.size()) {
    std::size_t end = begin + 1;
    while (end < ids.size() && ids[end] - ids[end - 1] <= max_gap && ids[end] - ids[begin] < max_rows) ++end;
    ASSIGN_OR_RETURN(const std::span<const float> rows, table.Rows(ids[begin], ids[end - 1] - ids[begin] + 1, buffer));
    RETURN_IF_ERROR(visit(begin, end, RowBlock{ids[begin], columns, rows}));
    // A read fills whole pages. Dropping them after every read would cost more than the reads.
    cached_bytes += RoundUp(rows.size_bytes(), kPageBytes) + kPageBytes;
    if (cached_bytes >= max_bytes || end == ids.size()) {
      table.Forget(kept, ids[end - 1] + 1 - kept);
      kept = ids[end - 1] + 1;
      cached_bytes = 0;
    }
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace octavo
