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

// A random read of a fast disk takes about as long as reading this much on.
constexpr std::uint64_t kReadThroughBytes = 64 * 1024;
constexpr std::uint64_t kPageBytes = 4096;  // larger ones only make the page cache be dropped less often

}  // namespace

absl::Status StreamRows(const TableReader& table, std::uint64_t begin, std::uint64_t end, std::uint64_t block_rows,
                        const std::function<absl::Status(const RowRun&)>& visit) {
  const std::size_t columns = table.columns();
  std::array<std::vector<float>, 2> buffers;
  RowChecks checks(table);  // of the one read at a time
  const auto read = [&](std::uint64_t first, std::vector<float>& buffer) {
    buffer.resize(std::min(block_rows, end - first) * columns);
    absl::Status status = table.ReadRows(first, buffer);
    table.Forget(first, buffer.size() / columns);
    if (status.ok()) status = checks.Add(first, buffer);
    return status;
  };
  if (begin >= end) return absl::OkStatus();
  RETURN_IF_ERROR(read(begin, buffers[0]));
  std::size_t front = 0;
  for (std::uint64_t first = begin; first < end; first += block_rows, front = 1 - front) {
    const std::uint64_t next = first + block_rows;
    std::future<absl::Status> ahead;  // waits in its destructor, so an early return leaves no reader behind
    if (next < end) ahead = std::async(std::launch::async, read, next, std::ref(buffers[1 - front]));
    RETURN_IF_ERROR(visit(RowRun{first, columns, buffers[front]}));
    if (ahead.valid()) RETURN_IF_ERROR(ahead.get());
  }
  return absl::OkStatus();
}

absl::Status VisitRows(const TableReader& table, std::span<const std::uint64_t> ids, std::uint64_t max_bytes,
                       const std::function<absl::Status(std::size_t, std::size_t, const RowRun&)>& visit) {
  const std::size_t columns = table.columns();
  const std::uint64_t row_bytes = columns * sizeof(float);
  const std::uint64_t max_rows = std::max<std::uint64_t>(1, max_bytes / row_bytes);
  const std::uint64_t max_gap = std::max<std::uint64_t>(1, kReadThroughBytes / row_bytes);
  std::vector<float> buffer;
  std::uint64_t cached_bytes = 0;  // of the page cache, since `kept`
  std::uint64_t kept = ids.empty() ? 0 : ids.front();
  std::size_t begin = 0;
  while (begin < ids.size()) {
    std::size_t end = begin + 1;
    while (end < ids.size() && ids[end] - ids[end - 1] <= max_gap && ids[end] - ids[begin] < max_rows) ++end;
    buffer.resize((ids[end - 1] - ids[begin] + 1) * columns);
    RETURN_IF_ERROR(table.ReadRows(ids[begin], buffer));
    RETURN_IF_ERROR(visit(begin, end, RowRun{ids[begin], columns, buffer}));
    // A read fills whole pages, and to drop them one read at a time would cost more than the reads.
    cached_bytes += RoundUp(buffer.size() * sizeof(float), kPageBytes) + kPageBytes;
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
