#include "walk/walk_pairs.h"

#include <chrono>

#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "walk/pair_counter.h"
#include "walk/walk_source.h"

namespace octavo {
namespace {

// Walks hold ids as 32-bit words.
constexpr std::uint64_t kMaxNodes = (std::uint64_t{1} << 32) - 1;

}  // namespace

CellsHeader WalkCellsLayout(const GraphDescription& graph) {
  CellsHeader layout;
  layout.has_weights = 1;
  layout.partition_count = graph.partition_count;
  layout.partition_rows = graph.partition_rows;
  layout.node_count = graph.node_count;
  layout.relation_count = 1;
  return layout;
}

absl::Status CheckWalkable(const Graph& graph) {
  const std::string name = graph.paths().folder().string();
  if (graph.relation_count() > 1) {
    return UsageError(
        fmt::format("{}: a graph of {} relations; expected one without: walks do not tell relations apart (import the "
                    "edges again with --columns head,-,tail)",
                    name, graph.relation_count()));
  }
  if (graph.node_count() > kMaxNodes) {
    return UsageError(fmt::format("{}: {} nodes; expected at most {}", name, graph.node_count(), kMaxNodes));
  }
  return absl::OkStatus();
}

absl::StatusOr<WalkPlan> PlanWalksOn(const Graph& graph, const WalkOptions& options, std::uint64_t memory_bytes) {
  const CellReader& cells = graph.Edges(Split::kTrain);
  // The block indexes of the open graph.
  std::uint64_t held_bytes = 0;
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    held_bytes += graph.Edges(split).block_count() * sizeof(BlockRecord);
  }
  return PlanWalks(options, PartitionRanges(cells, options.both_ways), cells.header().has_weights != 0, held_bytes,
                   memory_bytes, static_cast<std::size_t>(MaxConcurrency()));
}

absl::StatusOr<WalkPairs> WriteWalkPairs(const Graph& graph, const WalkOptions& options, const WalkPlan& plan,
                                         const std::filesystem::path& folder, const WalkPairsCallbacks& callbacks) {
  const auto begin = std::chrono::steady_clock::now();
  const GraphDescription& description = graph.description();
  SpillUse use;
  use.work = "walk";
  use.stop = callbacks.stop;
  PairCounter counter({.partitions = {.rows = description.partition_rows, .count = description.partition_count},
                       .both_directions = options.pairs == PairDirection::kBoth,
                       .keep_self_loops = options.keep_self_loops,
                       .writers = plan.workers,
                       .key_bytes = plan.key_bytes,
                       .count_bytes = plan.count_bytes,
                       .write_bytes = plan.write_bytes,
                       .spill = folder,
                       .stop = callbacks.stop},
                      use);
  const WalkSource source = {.options = options,
                             .plan = plan,
                             .cells = graph.Edges(Split::kTrain),
                             .folder = folder,
                             .use = use,
                             .stop = callbacks.stop,
                             .progress = callbacks.walking};
  RETURN_IF_ERROR(plan.streamed() ? TakeStreamedWalks(source, counter) : TakeHeldWalks(source, counter));
  WalkPairs made;
  made.walks = source.walks();
  made.pairs = counter.pairs();
  made.walk_seconds = SecondsSince(begin);
  if (made.pairs == 0) {
    return InputError(
        fmt::format("{}: its walks give no pair of different nodes; expected a training edge between "
                    "two nodes",
                    graph.paths().folder().string()));
  }
  ASSIGN_OR_RETURN(made.written, counter.Write(GraphPaths(folder), WalkCellsLayout(description), callbacks.writing));
  made.spilled_bytes = use.written_bytes.load(std::memory_order_relaxed);
  return made;
}

}  // namespace octavo
