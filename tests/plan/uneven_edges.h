// Numbers of edges that differ from cell to cell.
#pragma once

#include <cstdint>

#include "plan/lane_schedule.h"

namespace octavo {

inline PartitionEdges UnevenEdges(std::uint32_t fine) {
  PartitionEdges edges(fine);
  for (std::uint32_t head = 0; head < fine; ++head) {
    for (std::uint32_t tail = 0; tail < fine; ++tail) edges.at(head, tail) = 100 + (head * 37 + tail * 11) % 50;
  }
  return edges;
}

}  // namespace octavo
