// A run opened for reading: the last commit of a training, finished or not, and the graph it was trained on.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/manifest.h"
#include "graph/graph.h"
#include "model/model_spec.h"
#include "optimize/optimizer.h"
#include "tables/table_reader.h"

namespace octavo {

// Constant after OpenTrainedRun; any thread.
struct TrainedRun {
  std::unique_ptr<Graph> graph;
  ModelSpec model;
  bool reciprocal = false;
  OptimizerKind optimizer = OptimizerKind::kRowAdagrad;
  TableReader embeddings;           // [graph->node_count(), model.dim]
  std::vector<float> relations;     // [relation_rows, model.RelationWidth()]
  std::uint64_t relation_rows = 0;  // relation_count, twice that with reciprocal relations
  std::array<std::uint64_t, 2> run_id{};
  std::uint64_t generation = 0;  // of the opened commit
  std::uint64_t epochs_done = 0;
};

// The optimizer state of a TrainedRun.
struct TrainedState {
  TableReader optimizer;         // [graph->node_count(), state width]
  std::vector<float> relations;  // [relation_rows, state width]
  std::uint64_t step = 0;        // number of updates
};

// Opens the state of the commit that `run` has; a runtime error if there is a newer commit.
absl::StatusOr<TrainedState> OpenTrainedState(const std::filesystem::path& folder, const TrainedRun& run);

// Whether the run has been committed since `run` was opened; rows read since then may be from several commits.
absl::StatusOr<bool> CommittedSince(const std::filesystem::path& folder, const TrainedRun& run);

// Returns a corrupt-file error if `graph` is not the one that the run in `folder` was trained on. `header` is of its
// last commit.
absl::Status CheckTrainedOn(const Graph& graph, const std::filesystem::path& folder, const ManifestHeader& header);

// Opens the run at `folder`. The graph is at `graph_folder` or, if that is empty, where run.json says; its fingerprint
// must match the run's. A folder without a run is a usage error, as is one with an interrupted replacement. Can run
// during training.
absl::StatusOr<TrainedRun> OpenTrainedRun(const std::filesystem::path& folder,
                                          const std::filesystem::path& graph_folder = {});

}  // namespace octavo
