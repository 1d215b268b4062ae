// Three partitions of 1,024 rows, and the cell of an edge.
#pragma once

#include <cstdint>

#include "cells/cell_edges.h"
#include "cells/edge_record.h"

namespace octavo {

inline constexpr PartitionLayout kThreePartitions = {.rows = 1024, .count = 3};

inline std::uint32_t CellOf(const EdgeRecord& edge) { return edge.head / 1024 * 3 + edge.tail / 1024; }

}  // namespace octavo
