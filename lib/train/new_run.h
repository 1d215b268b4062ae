// The making of a run up to its first commit, and what a training goes on with.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "checkpoint/run_tables.h"
#include "format/graph_description.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "graph/cell_reader.h"
#include "graph/graph.h"
#include "plan/epoch_plan.h"
#include "tables/mmap_gradient_accumulator.h"
#include "train/initial_vectors.h"
#include "train/options.h"
#include "train/run_configuration.h"
#include "train/telemetry.h"

namespace octavo {

RunShape ShapeOf(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& division);

// Sets aside the space of the gradients, for both divisions of the tables.
absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> MakeGradients(const RunPaths& paths,
                                                                       const TrainOptions& options,
                                                                       const GraphDescription& graph,
                                                                       const PartitionShape& now,
                                                                       const PartitionShape& next);

// The edges that are trained, where these are not all. `known` is there then.
absl::StatusOr<std::optional<CellReader>> MakeTrainedEdges(const Graph& graph, const TrainOptions& options,
                                                           const RunPaths& paths, const std::optional<KnownRows>& known,
                                                           bool drop_behind, const std::function<bool()>& stop = {});

// What a training goes on with.
struct BegunRun {
  std::unique_ptr<MmapGradientAccumulator> gradients;
  std::unique_ptr<RunTables> tables;
  std::optional<KnownRows> known;   // where the options need it
  std::optional<CellReader> edges;  // that are trained; empty: all
  InitialEvent initial;             // of a warm start
};

// A new run, checked as far as that goes without its folder.
struct NewRun {
  std::unique_ptr<Graph> graph;
  RunConfiguration configuration;
  PartitionShape division;
  bool drop_behind = false;                 // edges leave the page cache once they are read
  std::unique_ptr<InitialVectors> vectors;  // null where it begins with no other's rows
};

// Makes a run up to its first commit, on the disk where `sync`.
absl::StatusOr<BegunRun> BeginRun(const NewRun& run, const RunPaths& paths, bool sync);

}  // namespace octavo
