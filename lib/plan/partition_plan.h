// How a memory budget divides the tables of a training: how many partitions, and how many of them are resident.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "plan/bucket_order.h"
#include "plan/epoch_plan.h"

namespace octavo {

// Input of the choice. Sizes in bytes.
struct PartitionRequest {
  std::uint32_t fine_partitions = 1;
  std::uint64_t fine_bytes = 0;   // one fine partition in all tables together
  std::uint64_t table_bytes = 0;  // all partitions; the last one may be short
  // Returns what the training holds apart from the partitions.
  std::function<std::uint64_t(const PartitionShape&)> other_bytes;
  std::uint64_t memory = 0;
  BucketOrder order = BucketOrder::kBeta;
  // 0: choose. If partitions > 1, resident is at least 2.
  std::uint32_t partitions = 0;
  std::uint32_t resident = 0;
  bool ahead = true;  // a partition more is in memory: the one that enters while others train
};

// Returns the size of the tables with this shape: the resident partitions and the one that enters ahead, or all of
// them.
std::uint64_t ResidentBytes(const PartitionRequest& request, const PartitionShape& shape);

// Returns everything that the training holds.
std::uint64_t TotalBytes(const PartitionRequest& request, const PartitionShape& shape);

// Returns the number of exchanges in an epoch.
std::uint64_t CountExchanges(BucketOrder order, const PartitionShape& shape);

// Returns a number that the states of an epoch do not exceed. Quick, unlike CountExchanges.
std::uint64_t MostStates(BucketOrder order, const PartitionShape& shape);

// Returns a usage error that names what is allowed, if the requested numbers are impossible with any memory.
absl::Status CheckPartitionNumbers(const PartitionRequest& request);

// Returns the shape that moves the fewest bytes per epoch within the budget (everything resident if that fits), or the
// requested one; empty if no shape fits. A pure function of the request. REQUIRES: CheckPartitionNumbers is ok
std::optional<PartitionShape> ChoosePartitions(const PartitionRequest& request);

// Returns the allowed shape that takes the least memory. REQUIRES: as above
PartitionShape SmallestShape(const PartitionRequest& request);

}  // namespace octavo
