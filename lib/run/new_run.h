// Makes a run up to its first commit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "checkpoint/commit_peers.h"
#include "checkpoint/run_lock.h"
#include "checkpoint/run_tables.h"
#include "format/graph_description.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "graph/cell_reader.h"
#include "graph/graph.h"
#include "plan/epoch_plan.h"
#include "run/initial_vectors.h"
#include "run/options.h"
#include "run/run_configuration.h"
#include "run/telemetry.h"
#include "tables/mmap_gradient_accumulator.h"

namespace octavo {

RunShape ShapeOf(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& division);

// The edges that are trained; nullopt means those of the graph. A subset of them requires `known`, walks are taken
// within `memory_bytes`; `warn` is as for WriteTrainedPairs. With `peers`, processes of one folder make one file each.
absl::StatusOr<std::optional<CellReader>> MakeTrainedEdges(const Graph& graph, const TrainOptions& options,
                                                           const RunPaths& paths, const std::optional<KnownRows>& known,
                                                           std::uint64_t memory_bytes, bool drop_behind,
                                                           const std::function<bool()>& stop = {},
                                                           const std::function<void(std::string_view)>& warn = {},
                                                           const CommitPeers* peers = nullptr);

// The scratch file of a process that trains the run in `paths`; see RunPaths::Gradients.
absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> MakeGradients(const RunPaths& paths, std::size_t dim,
                                                                       const GradientCapacity& capacity,
                                                                       const CommitPeers* peers);

// A run after its first commit, ready for training.
struct BegunRun {
  std::optional<RunLock> lock;  // of a process that does not write the folder's own files
  std::unique_ptr<MmapGradientAccumulator> gradients;
  std::unique_ptr<RunTables> tables;
  std::optional<KnownRows> known;   // if the options need it
  std::optional<CellReader> edges;  // the edges to train; empty: the graph's
  InitialEvent initial;             // of a warm start
};

// A new run, checked as far as possible without its folder.
struct NewRun {
  std::unique_ptr<Graph> graph;
  RunConfiguration configuration;
  PartitionShape division;
  GradientCapacity gradients;                       // what the updates need at most
  std::uint64_t memory_bytes = 0;                   // of the training
  std::function<bool()> stop = {};                  // true: end with absl::CancelledError soon
  std::function<void(std::string_view)> warn = {};  // may be empty; a sentence for people
  bool drop_behind = false;                         // drop edges from the page cache after reading them
  std::unique_ptr<InitialVectors> vectors;          // null without --init
  CommitPeers* peers = nullptr;                     // of a run that several processes train, otherwise null

  // Whether this process writes what the run's folder has once.
  bool WritesFolder() const { return peers == nullptr || peers->WritesFolder(); }
};

// Makes a run up to its first commit; with `sync` that commit is on the disk.
absl::StatusOr<BegunRun> BeginRun(const NewRun& run, const RunPaths& paths, bool sync);

}  // namespace octavo
