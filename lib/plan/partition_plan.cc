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

// The numbers of partitions to compare: up to 64 all, above only those that make the largest partition smaller than
// fewer partitions do. Others exchange more of the same size.
std::vector<std::uint32_t> CandidatePartitions(const PartitionRequest& request) {
  if (request.partitions != 0) return {request.partitions};
  constexpr std::uint32_t kAll = 64;
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t p = 1; p <= request.fine_partitions; ++p) {
    if (p > kAll && LargestPartition(request.fine_partitions, p) == LargestPartition(request.fine_partitions, p - 1)) {
      continue;
    }
    candidates.push_back(p);
  }
  return candidates;
}

// The most resident partitions that fit the memory, or 0. More of them mean fewer bytes moved. They take more memory
// too, except all of them: then no partition is on its way.
std::uint32_t MostResident(const PartitionRequest& request, std::uint32_t partitions, const ResidentRange& range) {
  const auto fits = [&](std::uint32_t resident) {
    return TotalBytes(request, {partitions, resident}) <= request.memory;
  };
  if (range.first > range.last) return 0;
  if (fits(range.last)) return range.last;
  if (!fits(range.first)) return 0;
  std::uint32_t most = range.first;
  for (std::uint32_t above = range.last; above - most > 1;) {
    const std::uint32_t middle = most + (above - most) / 2;
    (fits(middle) ? most : above) = middle;
  }
  return most;
}

std::uint64_t Cost(const PartitionRequest& request, const PartitionShape& shape) {
  if (shape.WholeGraph()) return 0;
  const std::uint64_t largest = LargestPartition(request.fine_partitions, shape.partitions) * request.fine_bytes;
  return CountExchanges(request.order, shape) * (largest + kExchangeBytes);
}

}  // namespace

std::uint64_t ResidentBytes(const PartitionRequest& request, const PartitionShape& shape) {
  if (shape.WholeGraph()) return request.table_bytes;
  const std::uint64_t held = std::uint64_t{shape.resident} + (request.ahead ? 1 : 0);
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

std::uint64_t MostStates(BucketOrder order, const PartitionShape& shape) {
  if (shape.WholeGraph()) return 1;
  if (order == BucketOrder::kBeta) return BetaExchanges(shape.partitions, shape.resident) + 1;
  // A bucket needs at most two exchanges.
  return 2 * std::uint64_t{shape.partitions} * shape.partitions + 1;
}

absl::Status CheckPartitionNumbers(const PartitionRequest& request) {
  if (request.partitions > request.fine_partitions) {
    return UsageError(
        fmt::format("partitions: found {}; expected at most {}, the fine partitions of the graph (one for each 1,024 "
                    "nodes; octavo import --partitions sets the most)",
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
  for (const std::uint32_t p : CandidatePartitions(request)) {
    const std::uint32_t c = MostResident(request, p, AllowedResident(request, p));
    if (c == 0) continue;
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
  for (const std::uint32_t p : CandidatePartitions(request)) {
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
