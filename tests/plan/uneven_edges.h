// Edges between partitions that differ from cell to cell.

#ifndef OCTAVO_TESTS_PLAN_UNEVEN_EDGES_H_
#define OCTAVO_TESTS_PLAN_UNEVEN_EDGES_H_

#include <cstdint>

#include "plan/lane_schedule.h"

namespace octavo {

inline PartitionEdges Edges(std::uint32_t fine) {
  PartitionEdges edges(fine);
  for (std::uint32_t head = 0; head < fine; ++head) {
    for (std::uint32_t tail = 0; tail < fine; ++tail) edges.at(head, tail) = 100 + (head * 37 + tail * 11) % 50;
  }
  return edges;
}

}  // namespace octavo

#endif  // OCTAVO_TESTS_PLAN_UNEVEN_EDGES_H_
