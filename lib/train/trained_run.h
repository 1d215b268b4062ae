// A run opened for reading: the last commit of a training, finished or not, with the graph it was trained on.
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
  std::uint64_t generation = 0;  // of the commit that was opened
  std::uint64_t epochs_done = 0;
};

// The optimizer state beside a TrainedRun.
struct TrainedState {
  TableReader optimizer;         // [graph->node_count(), state width]
  std::vector<float> relations;  // [relation_rows, state width]
  std::uint64_t step = 0;        // updates
};

// Opens the state of the commit that `run` is of; a runtime error where there is a newer one.
absl::StatusOr<TrainedState> OpenTrainedState(const std::filesystem::path& folder, const TrainedRun& run);

// Whether the run was committed again since `run` was opened: then rows read meanwhile can be of several commits.
absl::StatusOr<bool> CommittedSince(const std::filesystem::path& folder, const TrainedRun& run);

// A corrupt-file error where `graph` is not the one that the run in `folder`, whose last commit has `header`, was
// trained on.
absl::Status CheckTrainedOn(const Graph& graph, const std::filesystem::path& folder, const ManifestHeader& header);

// Opens the run at `folder`. The graph is found where run.json says it was, or at `graph_folder` if that is not empty;
// its fingerprint must be the run's. A folder without a run is a usage error, as is one whose run is to be replaced and
// was cut. May run beside a training.
absl::StatusOr<TrainedRun> OpenTrainedRun(const std::filesystem::path& folder,
                                          const std::filesystem::path& graph_folder = {});

}  // namespace octavo
