// Loads of partitions an epoch by the order of the buckets.
#pragma once

#include <cstdint>
#include <vector>

namespace octavo {

struct OrderLoads {
  std::uint32_t partitions = 0;
  std::uint32_t resident = 0;
  // Loads of an epoch behind the filling of memory.
  std::uint64_t beta = 0;
  std::uint64_t inside_out = 0;
  std::uint64_t random = 0;
  std::uint64_t row_by_row = 0;  // buckets in the order of a table; what is needed again last leaves (Belady)
  std::uint64_t least = 0;       // no order has fewer
};

// For several numbers of partitions and of them resident. A pure function.
std::vector<OrderLoads> CountOrders();

}  // namespace octavo
