#include "run/trained_run.h"

#include <array>
#include <utility>

#include "base/status.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "run/run_configuration.h"
#include "run/run_exchange.h"
#include "tables/relation_table.h"

namespace octavo {

namespace {

// Attempts to open a run that is being trained: two commits in a row overwrite what the first attempt reads.
constexpr int kTries = 5;

// The checksums of the commit, valid until a training commits the partition again.
ExpectedRows ExpectedOf(const RunPaths& paths, const Manifest& manifest, std::uint64_t PartitionRecord::*checksum) {
  ExpectedRows expected;
  for (const PartitionRecord& record : manifest.partitions) expected.checksums.push_back(record.*checksum);
  expected.is_current = [path = paths.State(), opened = manifest](std::uint64_t partition) {
    const absl::StatusOr<Manifest> newest = ReadNewestManifest(path);
    if (!newest.ok() || newest->header.run_id != opened.header.run_id) return false;
    const PartitionRecord& now = newest->partitions[partition];
    return now.slot == opened.partitions[partition].slot && now.generation == opened.partitions[partition].generation;
  };
  return expected;
}

// Opens a table of nodes as of the commit.
absl::StatusOr<TableReader> OpenRows(const RunPaths& paths, const Manifest& manifest, TableName table,
                                     const NpyShape& shape, std::uint64_t PartitionRecord::*checksum) {
  std::vector<std::uint8_t> slots;
  for (const PartitionRecord& record : manifest.partitions) slots.push_back(static_cast<std::uint8_t>(record.slot));
  ASSIGN_OR_RETURN(TableReader reader, TableReader::Open({paths.Table(table, 0), paths.Table(table, 1)}, shape,
                                                         manifest.header.partition_rows, std::move(slots)));
  reader.Expect(ExpectedOf(paths, manifest, checksum));
  return reader;
}

absl::StatusOr<std::vector<float>> LoadRelations(const RunPaths& paths, const ManifestHeader& header, TableName table,
                                                 std::uint64_t width, std::uint64_t checksum) {
  RelationTable relations({paths.Table(table, 0), paths.Table(table, 1)}, {header.relation_rows, width});
  RETURN_IF_ERROR(relations.Load(static_cast<int>(header.relation_slot), checksum));
  return std::vector<float>(relations.values().begin(), relations.values().end());
}

absl::StatusOr<TrainedRun> OpenCommit(const RunPaths& paths, const Manifest& manifest,
                                      const std::filesystem::path& graph_folder) {
  const ManifestHeader& header = manifest.header;
  ASSIGN_OR_RETURN(const RunConfiguration configuration, ReadRunConfiguration(paths.Configuration()));
  if (ConfigurationHash(configuration.options) != header.configuration_hash) {
    return CorruptError(
        fmt::format("{}: is not the configuration that this run was started with", paths.Configuration().string()));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph,
                   Graph::Open(graph_folder.empty() ? configuration.graph : graph_folder));
  RETURN_IF_ERROR(CheckTrainedOn(*graph, paths.folder(), header));
  const ModelSpec model = configuration.options.model_spec();
  if (header.element() != configuration.options.storage) {
    return CorruptError(fmt::format("{}: embeddings of {}; expected {}", paths.State().string(),
                                    ElementName(header.element()), ElementName(configuration.options.storage)));
  }
  if (header.dim != model.dim || header.relation_width != model.RelationWidth()) {
    return CorruptError(fmt::format("{}: dimensions ({}, {}); expected ({}, {})", paths.State().string(), header.dim,
                                    header.relation_width, model.dim, model.RelationWidth()));
  }
  ASSIGN_OR_RETURN(TableReader embeddings,
                   OpenRows(paths, manifest, TableName::kEmbeddings, {header.rows, header.dim, header.element()},
                            &PartitionRecord::embedding_checksum));
  ASSIGN_OR_RETURN(std::vector<float> relations, LoadRelations(paths, header, TableName::kRelations,
                                                               header.relation_width, header.relation_checksum));
  return TrainedRun{.graph = std::move(graph),
                    .model = model,
                    .reciprocal = configuration.options.reciprocal,
                    .optimizer = configuration.options.optimizer,
                    .embeddings = std::move(embeddings),
                    .relations = std::move(relations),
                    .relation_rows = header.relation_rows,
                    .run_id = header.run_id,
                    .generation = header.generation,
                    .epochs_done = header.progress.epoch};
}

}  // namespace

absl::Status CheckTrainedOn(const Graph& graph, const std::filesystem::path& folder, const ManifestHeader& header) {
  if (graph.description().fingerprint == header.graph_fingerprint) return absl::OkStatus();
  return CorruptError(fmt::format("{}: the run was trained on a graph with fingerprint {:016x}; {} has {:016x}",
                                  folder.string(), header.graph_fingerprint, graph.paths().folder().string(),
                                  graph.description().fingerprint));
}

absl::StatusOr<TrainedRun> OpenTrainedRun(const std::filesystem::path& folder,
                                          const std::filesystem::path& graph_folder) {
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckSettled(paths));
  ASSIGN_OR_RETURN(Manifest manifest, ReadNewestManifest(paths.State()));
  RETURN_IF_ERROR(CheckWholeRun(manifest, paths.State().string()));
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<TrainedRun> run = OpenCommit(paths, manifest, graph_folder);
    if (run.ok() || attempt == kTries) return run;
    ASSIGN_OR_RETURN(Manifest newest, ReadNewestManifest(paths.State()));
    if (newest.header.generation == manifest.header.generation) return run;
    manifest = std::move(newest);
  }
}

absl::StatusOr<TrainedState> OpenTrainedState(const std::filesystem::path& folder, const TrainedRun& run) {
  const RunPaths paths(folder);
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(paths.State()));
  const ManifestHeader& header = manifest.header;
  if (header.generation != run.generation) {
    return RuntimeError(
        fmt::format("{}: a training committed while it was being opened; stop it first", folder.string()));
  }
  ASSIGN_OR_RETURN(TableReader optimizer,
                   OpenRows(paths, manifest, TableName::kOptimizer, {header.rows, header.state_width},
                            &PartitionRecord::state_checksum));
  ASSIGN_OR_RETURN(std::vector<float> relations,
                   LoadRelations(paths, header, TableName::kRelationOptimizer, header.relation_state_width,
                                 header.relation_state_checksum));
  return TrainedState{
      .optimizer = std::move(optimizer), .relations = std::move(relations), .step = header.progress.step};
}

absl::StatusOr<bool> CommittedSince(const std::filesystem::path& folder, const TrainedRun& run) {
  ASSIGN_OR_RETURN(const Manifest newest, ReadNewestManifest(RunPaths(folder).State()));
  return newest.header.generation != run.generation;
}

}  // namespace octavo
