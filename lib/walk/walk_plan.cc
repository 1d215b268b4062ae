#include "walk/walk_plan.h"

#include <algorithm>

#include "base/byte_size.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// The program itself, its threads, and the page cache of the files that are being written.
constexpr std::uint64_t kProgramBytes = 32 * kMiB;
// Blocks that a thread reads and what they are decoded to.
constexpr std::uint64_t kWorkerBytes = 2 * kMiB;
constexpr std::uint64_t kMinKeyBytes = 8 * kMiB;
constexpr std::uint64_t kMinCountBytes = 4 * kMiB;
// With no limit given: more keys at once make nothing faster.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 36;

std::uint64_t BytesOf(const PartitionRange& range, bool weighted) {
  return Adjacency::BytesOf(range.end_node - range.first_node, range.edges, weighted);
}

// Divides what is left for the counter. While keys become counts it holds the keys (K), the counts of before (C = K/2)
// and up to 12 bytes for each new key of 8, sorted bucket by bucket: K + C + 1.5 K, and K/2 for the buckets under way.
void ShareCounterBytes(std::uint64_t bytes, WalkPlan& plan) {
  plan.key_bytes = bytes / 7 * 2;
  plan.count_bytes = bytes / 7;
}

}  // namespace

absl::StatusOr<WalkPlan> PlanWalks(const WalkOptions& options, std::span<const PartitionRange> partitions,
                                   bool weighted, std::uint64_t memory_bytes, std::size_t threads) {
  const bool second_order = options.kind == WalkKind::kNode2Vec;
  std::uint64_t largest = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  for (const PartitionRange& range : partitions) {
    largest = std::max(largest, BytesOf(range, weighted));
    nodes += range.end_node - range.first_node;
    edges += range.edges;
  }
  // The least: a partition, or two, the pairs of one walk at a time, and what counts them, with buffers beside them.
  const std::uint64_t at_once = second_order ? 2 : 1;
  const std::uint64_t walk_bytes = options.pairs_of_walk() * sizeof(std::uint64_t);
  const std::uint64_t beside = std::max(kMinKeyBytes + kMinCountBytes, 6 * walk_bytes);
  const std::uint64_t smallest = kProgramBytes + kWorkerBytes + std::max(4 * at_once * largest, 2 * beside);
  if (memory_bytes > 0 && memory_bytes < smallest) {
    return UsageError(fmt::format("--memory {} is too little for these walks on this graph; expected at least {}MiB",
                                  FormatByteSize(memory_bytes), (smallest + kMiB - 1) / kMiB));
  }
  const std::uint64_t room = (memory_bytes == 0 ? kUnlimited : memory_bytes) - kProgramBytes;
  WalkPlan plan;
  plan.workers = std::clamp<std::uint64_t>(room / 4 / kWorkerBytes, 1, std::max<std::size_t>(1, threads));
  const std::uint64_t rest = room - plan.workers * kWorkerBytes;
  const std::uint64_t whole = Adjacency::BytesOf(nodes, edges, weighted);
  plan.write_bytes = rest / 8 * 7;
  if (whole <= rest / 3) {
    plan.ranges = JoinPartitions(partitions, weighted, whole);
    ShareCounterBytes(rest - whole, plan);
    return plan;
  }
  plan.ranges = JoinPartitions(partitions, weighted, std::max(largest, rest / 4 / at_once));
  plan.walker_bytes = rest / 8;
  ShareCounterBytes(rest - rest / 4 - plan.walker_bytes, plan);
  return plan;
}

}  // namespace octavo
