// Reads a table of node rows in order, in bounded pieces: the whole table, or the rows of given nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/status.h"
#include "tables/table_reader.h"

namespace octavo {

// Consecutive rows in memory, valid during the call that receives them.
struct RowBlock {
  std::uint64_t first = 0;  // row number
  std::size_t columns = 0;
  std::span<const float> values;  // [rows, columns]

  std::span<const float> Row(std::uint64_t row) const { return values.subspan((row - first) * columns, columns); }
};

// Calls `visit` with rows [begin, end) of `table`, `block_rows` at a time, in order. Another thread reads the next
// block while `visit` works. Holds two blocks, or nothing where the table is mapped. Drops from the cache what was read
// (table.Forget). Partitions that are read completely are compared with their checksums, if `table` has them. Stops at
// the first error. REQUIRES: block_rows > 0
absl::Status StreamRows(const TableReader& table, std::uint64_t begin, std::uint64_t end, std::uint64_t block_rows,
                        const std::function<absl::Status(const RowBlock&)>& visit);

// Calls `visit(begin, end, block)`, where `block` holds every row named by ids[begin, end), for consecutive ranges that
// cover all ids. Rows between two wanted ones are read if that is cheaper than a separate read. Holds at most
// `max_bytes`, or one row, and the same amount in the page cache until table.Forget. Stops at the first error.
// REQUIRES: ids are ascending (repeats are allowed) and below table.rows()
absl::Status VisitRows(const TableReader& table, std::span<const std::uint64_t> ids, std::uint64_t max_bytes,
                       const std::function<absl::Status(std::size_t, std::size_t, const RowBlock&)>& visit);

}  // namespace octavo
