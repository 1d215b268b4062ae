#include "bench/orders.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/random.h"
#include "plan/bucket_order.h"

namespace octavo {
namespace {

std::uint64_t Loads(BucketOrder order, std::uint32_t partitions, std::uint32_t resident) {
  const std::vector<std::uint32_t> units(partitions, 1);
  const auto states = MakeBucketOrder(order, units, resident, RandomStream(1, RandomPurpose::kBucketOrder, 0, 0));
  return states.size() - 1;
}

std::uint64_t RowByRow(std::uint32_t partitions, std::uint32_t resident) {
  std::vector<std::uint32_t> uses;
  for (std::uint32_t i = 0; i < partitions; ++i) {
    for (std::uint32_t j = 0; j < partitions; ++j) uses.insert(uses.end(), {i, j});
  }
  // For each use, when the partition is used next.
  std::vector<std::size_t> next(uses.size());
  std::vector<std::size_t> coming(partitions, uses.size());
  for (std::size_t at = uses.size(); at-- > 0;) next[at] = std::exchange(coming[uses[at]], at);
  std::map<std::uint32_t, std::size_t> memory;  // with the next use of each
  std::uint64_t loads = 0;
  for (std::size_t at = 0; at < uses.size(); ++at) {
    if (!memory.contains(uses[at])) {
      ++loads;
      const auto later = [](const auto& a, const auto& b) { return a.second < b.second; };
      if (memory.size() == resident) memory.erase(std::max_element(memory.begin(), memory.end(), later));
    }
    memory[uses[at]] = next[at];
  }
  return loads - resident;
}

}  // namespace

std::vector<OrderLoads> CountOrders() {
  std::vector<OrderLoads> rows;
  for (const auto& [p, c] :
       {std::pair(8U, 2U), {8U, 4U}, {16U, 4U}, {32U, 4U}, {32U, 8U}, {32U, 16U}, {64U, 2U}, {64U, 8U}, {64U, 16U}}) {
    rows.push_back({p, c, Loads(BucketOrder::kBeta, p, c), Loads(BucketOrder::kInsideOut, p, c),
                    Loads(BucketOrder::kRandom, p, c), RowByRow(p, c), LeastExchanges(p, c)});
  }
  return rows;
}

}  // namespace octavo
