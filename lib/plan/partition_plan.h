// How a memory budget divides the tables of a training: into how many partitions, and how many of them are resident.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plan/bucket_order.h"
#include "plan/epoch_plan.h"

namespace octavo {

// What the choice depends on. Sizes in bytes.
struct PartitionRequest {
  std::uint32_t fine_partitions = 1;
  std::uint64_t fine_bytes = 0;   // of one fine partition, all its tables together
  std::uint64_t table_bytes = 0;  // of all partitions; the last one may be short
  // Returns what the training holds beside the partitions.
  std::function<std::uint64_t(const PartitionShape&)> other_bytes;
  std::uint64_t memory = 0;
  BucketOrder order = BucketOrder::kBeta;
  // 0: to be chosen. With partitions > 1, resident is at least 2.
  std::uint32_t partitions = 0;
  std::uint32_t resident = 0;
};

// Returns what the tables take with that shape: the resident partitions and the one in flight, or all of them.
std::uint64_t ResidentBytes(const PartitionRequest& request, const PartitionShape& shape);

// Returns all that the training holds.
std::uint64_t TotalBytes(const PartitionRequest& request, const PartitionShape& shape);

// Returns how many exchanges an epoch has.
std::uint64_t CountExchanges(BucketOrder order, const PartitionShape& shape);

// Returns the shape that moves the fewest bytes an epoch within the budget (everything resident where that fits), or
// the one that was asked for. A pure function of the request. A usage error where no shape fits names the smallest
// memory that would do, and one where the numbers asked for cannot be names what is allowed.
absl::StatusOr<PartitionShape> ChoosePartitions(const PartitionRequest& request);

}  // namespace octavo
