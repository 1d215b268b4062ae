// Partition loads per epoch by the order of the buckets.
#pragma once

#include <cstdint>
#include <vector>

namespace octavo {

struct OrderLoads {
  std::uint32_t partitions = 0;
  std::uint32_t resident = 0;
  // Loads per epoch after memory is filled.
  std::uint64_t beta = 0;
  std::uint64_t inside_out = 0;
  std::uint64_t random = 0;
  std::uint64_t row_by_row = 0;  // buckets in row-major order; the partition whose next use is farthest leaves (Belady)
  std::uint64_t least = 0;       // a lower bound for every order
};

// For several numbers of partitions and resident partitions. A pure function.
std::vector<OrderLoads> CountOrders();

}  // namespace octavo
