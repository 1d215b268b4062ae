#include "walk/walk_plan.h"

#include <algorithm>
#include <optional>

#include "base/byte_size.h"
#include "base/status.h"
#include "fmt/format.h"
#include "walk/walker_file.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// The program itself, its threads, and the page cache of the files being written.
constexpr std::uint64_t kProgramBytes = 32 * kMiB;
// Blocks that a thread reads, and their decoded edges.
constexpr std::uint64_t kWorkerBytes = 2 * kMiB;
constexpr std::uint64_t kMinKeyBytes = 8 * kMiB;
constexpr std::uint64_t kMinCountBytes = 4 * kMiB;
// The limit if none was given: more keys at once would not be faster.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 36;

std::uint64_t BytesOf(const PartitionRange& range, bool weighted) {
  return Adjacency::BytesOf(range.end_node - range.first_node, range.edges, weighted);
}

// What the walks and their graph need.
struct WalkNeeds {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t largest_bytes = 0;  // of the neighbours of one partition
  std::uint64_t beside_bytes = 0;   // of the counter, at least
};

WalkNeeds NeedsOf(const WalkOptions& options, std::span<const PartitionRange> partitions, bool weighted) {
  // The pairs of one walk, and the counter for them.
  const std::uint64_t walk_bytes = options.pairs_of_walk() * sizeof(std::uint64_t);
  WalkNeeds needs{.beside_bytes = std::max(kMinKeyBytes + kMinCountBytes, 6 * walk_bytes)};
  for (const PartitionRange& range : partitions) {
    needs.largest_bytes = std::max(needs.largest_bytes, BytesOf(range, weighted));
    needs.nodes += range.end_node - range.first_node;
    needs.edges += range.edges;
  }
  return needs;
}

// Divides the remaining memory for the counter. While keys become counts it holds the keys (K), the previous counts (C
// = K/2), up to 12 bytes for each new 8-byte key, sorted bucket by bucket (1.5 K), and K/2 for the buckets in progress:
// K + C + 1.5 K + K/2.
void ShareCounterBytes(std::uint64_t bytes, WalkPlan& plan) {
  plan.key_bytes = bytes / 7 * 2;
  plan.count_bytes = bytes / 7;
}

// Memory for walks between steps: half for the writers' pages, half for the page numbers of the previous step and of
// the one being written. An eighth of `rest`; more, up to a quarter, if the page numbers need it.
bool ShareWalkerBytes(const WalkOptions& options, std::uint64_t walks, std::uint64_t rest, WalkPlan& plan) {
  const WalkerLayout layout(options.carried_nodes());
  const std::size_t buckets = options.walker_buckets(plan.ranges.size());
  constexpr std::uint64_t kMostPages = UINT32_MAX;
  for (std::uint64_t half = rest / 16; half <= rest / 8; half += rest / 64 + 1) {
    plan.walker_bytes = half;
    if (walks / WalkerFile::PageWalkers(layout, buckets, plan.workers, half) <= kMostPages &&
        2 * WalkerFile::IndexBytes(walks, layout, buckets, plan.workers, half) <= half) {
      return true;
    }
  }
  return false;
}

// Returns the plan for so many workers in `room`, or nothing if `room` is too small.
std::optional<WalkPlan> PlanOf(const WalkOptions& options, std::span<const PartitionRange> partitions, bool weighted,
                               const WalkNeeds& needs, std::uint64_t room, std::size_t workers) {
  if (room < workers * kWorkerBytes + 2 * needs.beside_bytes) return std::nullopt;
  const std::uint64_t rest = room - workers * kWorkerBytes;
  const std::uint64_t whole = Adjacency::BytesOf(needs.nodes, needs.edges, weighted);
  WalkPlan plan;
  plan.workers = workers;
  plan.write_bytes = rest / 8 * 7;
  if (whole <= rest / 3) {
    plan.ranges = JoinPartitions(partitions, weighted, whole);
    ShareCounterBytes(rest - whole, plan);
    return plan;
  }
  // One range at a time; two for node2vec.
  const std::uint64_t range_bytes = rest / 4 / (options.kind == WalkKind::kNode2Vec ? 2 : 1);
  if (needs.largest_bytes > range_bytes) return std::nullopt;
  plan.ranges = JoinPartitions(partitions, weighted, range_bytes);
  if (!ShareWalkerBytes(options, needs.nodes * options.walks_of_node(), rest, plan)) return std::nullopt;
  ShareCounterBytes(rest - rest / 4 - 2 * plan.walker_bytes, plan);
  return plan;
}

}  // namespace

absl::StatusOr<WalkPlan> PlanWalks(const WalkOptions& options, std::span<const PartitionRange> partitions,
                                   bool weighted, std::uint64_t held_bytes, std::uint64_t memory_bytes,
                                   std::size_t threads) {
  const WalkNeeds needs = NeedsOf(options, partitions, weighted);
  const std::uint64_t beside = kProgramBytes + held_bytes;
  const auto plan_of = [&](std::uint64_t memory, std::size_t workers) {
    return PlanOf(options, partitions, weighted, needs, memory - std::min(memory, beside), workers);
  };
  const std::uint64_t memory = memory_bytes == 0 ? kUnlimited : memory_bytes;
  const std::uint64_t room = memory - std::min(memory, beside);
  for (std::size_t workers = std::clamp<std::uint64_t>(room / 4 / kWorkerBytes, 1, std::max<std::size_t>(1, threads));
       workers > 0; workers /= 2) {
    if (std::optional<WalkPlan> plan = plan_of(memory, workers)) return *std::move(plan);
  }
  // Searches for the smallest sufficient MiB, for one worker.
  std::uint64_t low = memory / kMiB;
  std::uint64_t high = std::max<std::uint64_t>(1, low);
  while (!plan_of(high * kMiB, 1)) high *= 2;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (plan_of(middle * kMiB, 1) ? high : low) = middle;
  }
  return UsageError(fmt::format("--memory {} is too little for these walks on this graph; expected at least {}MiB",
                                FormatByteSize(memory), high));
}

}  // namespace octavo
