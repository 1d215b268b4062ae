#include "plan/partition_plan.h"

#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "base/random.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// The cost of an exchange apart from its bytes (a barrier, a short batch, page tables), expressed as bytes of disk
// transfer.
constexpr std::uint64_t kExchangeBytes = std::uint64_t{4} << 20;

// The resident counts that the request allows with `partitions` partitions: [first, last]; none if first > last.
struct ResidentRange {
  std::uint32_t first = 1;
  std::uint32_t last = 0;
};

ResidentRange AllowedResident(const PartitionRequest& request, std::uint32_t partitions) {
  if (request.partitions != 0 && request.partitions != partitions) return {};
  if (partitions == 1) return request.resident <= 1 || request.partitions == 1 ? ResidentRange{1, 1} : ResidentRange{};
  if (request.resident > partitions) return {};
  if (request.resident != 0) return {request.resident, request.resident};
  // With all of them resident their number has no effect: use one, unless a number was requested.
  return {2, request.partitions == 0 ? partitions - 1 : partitions};
}

std::uint64_t Cost(const PartitionRequest& request, const PartitionShape& shape) {
  if (shape.WholeGraph()) return 0;
  const std::uint64_t largest = LargestPartition(request.fine_partitions, shape.partitions) * request.fine_bytes;
  return CountExchanges(request.order, shape) * (largest + kExchangeBytes);
}

}  // namespace

std::uint64_t ResidentBytes(const PartitionRequest& request, const PartitionShape& shape) {
  if (shape.WholeGraph()) return request.table_bytes;
  const std::uint64_t held = std::uint64_t{shape.resident} + 1;
  const std::uint64_t fine = held * LargestPartition(request.fine_partitions, shape.partitions);
  return CheckedMultiply(std::min<std::uint64_t>(fine, request.fine_partitions), request.fine_bytes)
      .value_or(~std::uint64_t{0});
}

std::uint64_t TotalBytes(const PartitionRequest& request, const PartitionShape& shape) {
  return CheckedAdd(ResidentBytes(request, shape), request.other_bytes(shape)).value_or(~std::uint64_t{0});
}

std::uint64_t CountExchanges(BucketOrder order, const PartitionShape& shape) {
  if (shape.WholeGraph()) return 0;
  if (order == BucketOrder::kBeta) return BetaExchanges(shape.partitions, shape.resident);
  const RandomStream random(0, RandomPurpose::kBucketOrder, 0, 0);
  const std::vector<std::uint32_t> units(shape.partitions, 1);
  return MakeBucketOrder(order, units, shape.resident, random).size() - 1;
}

absl::Status CheckPartitionNumbers(const PartitionRequest& request) {
  if (request.partitions > request.fine_partitions) {
    return UsageError(
        fmt::format("partitions: found {}; expected at most {}, the fine partitions of the graph (one for each 1,024 "
                    "nodes, at most 64)",
                    request.partitions, request.fine_partitions));
  }
  if (request.partitions > 0 && request.resident > request.partitions) {
    return UsageError(
        fmt::format("resident: found {}; expected at most partitions, {}", request.resident, request.partitions));
  }
  if (request.resident > request.fine_partitions) {
    return UsageError(fmt::format("resident: found {}; expected at most {}, the fine partitions of the graph",
                                  request.resident, request.fine_partitions));
  }
  if (request.resident == 1 && request.partitions != 1 && request.fine_partitions > 1) {
    return UsageError("resident: found 1; expected at least 2, for an edge has its ends in two partitions");
  }
  return absl::OkStatus();
}

std::optional<PartitionShape> ChoosePartitions(const PartitionRequest& request) {
  std::optional<PartitionShape> best;
  std::uint64_t best_cost = 0;
  for (std::uint32_t p = 1; p <= request.fine_partitions; ++p) {
    const ResidentRange range = AllowedResident(request, p);
    // More resident partitions means fewer bytes moved.
    std::uint32_t c = range.last;
    while (c >= range.first && TotalBytes(request, {p, c}) > request.memory) --c;
    if (c < range.first) continue;
    const std::uint64_t cost = Cost(request, {p, c});
    if (best && cost >= best_cost) continue;
    best = PartitionShape{p, c};
    best_cost = cost;
  }
  return best;
}

PartitionShape SmallestShape(const PartitionRequest& request) {
  PartitionShape smallest;
  std::uint64_t least_bytes = ~std::uint64_t{0};
  for (std::uint32_t p = 1; p <= request.fine_partitions; ++p) {
    const ResidentRange range = AllowedResident(request, p);
    if (range.first > range.last) continue;
    const std::uint64_t bytes = TotalBytes(request, {p, range.first});
    if (bytes >= least_bytes) continue;
    least_bytes = bytes;
    smallest = {p, range.first};
  }
  return smallest;
}

}  // namespace octavo
