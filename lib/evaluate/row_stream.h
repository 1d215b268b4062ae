// Reads a table of node rows in order, a bounded piece at a time: the whole of it, or the rows of given nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/status.h"
#include "tables/table_reader.h"

namespace octavo {

// A run of consecutive rows in memory, valid during the call that gets it.
struct RowRun {
  std::uint64_t first = 0;  // row number
  std::size_t columns = 0;
  std::span<const float> values;  // [rows, columns]

  std::span<const float> Row(std::uint64_t row) const { return values.subspan((row - first) * columns, columns); }
};

// Calls `visit` with rows [begin, end) of `table`, `block_rows` at a time and in order. The next block is read by a
// thread of its own while `visit` works. Holds two blocks. What was read is given to table.Forget. Partitions that
// are read whole are compared with their checksums, if `table` has them. Stops at the first error.
// REQUIRES: block_rows > 0
absl::Status StreamRows(const TableReader& table, std::uint64_t begin, std::uint64_t end, std::uint64_t block_rows,
                        const std::function<absl::Status(const RowRun&)>& visit);

// Calls `visit(begin, end, run)`, where `run` holds every row that ids[begin, end) name, until all ids had their turn.
// Rows between two wanted ones are read where that is cheaper than a read of its own. Holds at most `max_bytes`, or one
// row, and as much again in the page cache until it is given to table.Forget. Stops at the first error. REQUIRES: ids
// are ascending (repeats are fine) and below table.rows()
absl::Status VisitRows(const TableReader& table, std::span<const std::uint64_t> ids, std::uint64_t max_bytes,
                       const std::function<absl::Status(std::size_t, std::size_t, const RowRun&)>& visit);

}  // namespace octavo
