// Partitions of 1,024 rows, and the cell of an edge between them.

#ifndef OCTAVO_TESTS_CELLS_THREE_PARTITIONS_H_
#define OCTAVO_TESTS_CELLS_THREE_PARTITIONS_H_

#include <cstdint>

#include "cells/cell_edges.h"
#include "cells/edge_record.h"

namespace octavo {

inline constexpr PartitionLayout kPartitions = {.rows = 1024, .count = 3};

inline std::uint32_t CellOf(const EdgeRecord& edge) { return edge.head / 1024 * 3 + edge.tail / 1024; }

}  // namespace octavo

#endif  // OCTAVO_TESTS_CELLS_THREE_PARTITIONS_H_
