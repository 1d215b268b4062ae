#include "train/trained_run.h"

#include <array>
#include <utility>

#include "base/status.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "tables/relation_table.h"
#include "train/run_configuration.h"

namespace octavo {

namespace {

// Tries to open the run while a training may commit: two commits in a row write where the first try reads.
constexpr int kTries = 5;

// The checksums of the commit, which hold until a training commits a partition anew.
ExpectedRows ExpectedOf(const RunPaths& paths, const Manifest& manifest) {
  ExpectedRows expected;
  for (const PartitionRecord& record : manifest.partitions) expected.checksums.push_back(record.embedding_checksum);
  expected.is_current = [path = paths.State(), opened = manifest](std::uint64_t partition) {
    const absl::StatusOr<Manifest> newest = ReadNewestManifest(path);
    if (!newest.ok() || newest->header.run_id != opened.header.run_id) return false;
    const PartitionRecord& now = newest->partitions[partition];
    return now.slot == opened.partitions[partition].slot && now.generation == opened.partitions[partition].generation;
  };
  return expected;
}

absl::StatusOr<TrainedRun> OpenCommit(const RunPaths& paths, const Manifest& manifest,
                                      const std::filesystem::path& graph_folder) {
  const std::filesystem::path& folder = paths.folder();
  const ManifestHeader& header = manifest.header;
  ASSIGN_OR_RETURN(const RunConfiguration configuration, ReadRunConfiguration(paths.Configuration()));
  if (ConfigurationHash(configuration.options) != header.configuration_hash) {
    return CorruptError(
        fmt::format("{}: is not the configuration that this run was started with", paths.Configuration().string()));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph,
                   Graph::Open(graph_folder.empty() ? configuration.graph : graph_folder));
  if (graph->description().fingerprint != header.graph_fingerprint) {
    return CorruptError(fmt::format("{}: the run was trained on a graph with fingerprint {:016x}; {} has {:016x}",
                                    folder.string(), header.graph_fingerprint, graph->paths().folder().string(),
                                    graph->description().fingerprint));
  }
  const ModelSpec model = configuration.options.model_spec();
  if (header.element() != configuration.options.storage) {
    return CorruptError(fmt::format("{}: embeddings of {}; expected {}", paths.State().string(),
                                    ElementName(header.element()), ElementName(configuration.options.storage)));
  }
  if (header.dim != model.dim || header.relation_width != model.RelationWidth()) {
    return CorruptError(fmt::format("{}: dimensions ({}, {}); expected ({}, {})", paths.State().string(), header.dim,
                                    header.relation_width, model.dim, model.RelationWidth()));
  }
  std::vector<std::uint8_t> slots;
  for (const PartitionRecord& record : manifest.partitions) slots.push_back(static_cast<std::uint8_t>(record.slot));
  ASSIGN_OR_RETURN(
      TableReader embeddings,
      TableReader::Open({paths.Table(TableName::kEmbeddings, 0), paths.Table(TableName::kEmbeddings, 1)},
                        {header.rows, header.dim, header.element()}, header.partition_rows, std::move(slots)));
  embeddings.Expect(ExpectedOf(paths, manifest));
  RelationTable relations({paths.Table(TableName::kRelations, 0), paths.Table(TableName::kRelations, 1)},
                          {header.relation_rows, header.relation_width});
  RETURN_IF_ERROR(relations.Load(static_cast<int>(header.relation_slot), header.relation_checksum));
  return TrainedRun{.graph = std::move(graph),
                    .model = model,
                    .reciprocal = configuration.options.reciprocal,
                    .embeddings = std::move(embeddings),
                    .relations = {relations.values().begin(), relations.values().end()},
                    .relation_rows = header.relation_rows,
                    .run_id = header.run_id,
                    .generation = header.generation,
                    .epochs_done = header.progress.epoch};
}

}  // namespace

absl::StatusOr<TrainedRun> OpenTrainedRun(const std::filesystem::path& folder,
                                          const std::filesystem::path& graph_folder) {
  const RunPaths paths(folder);
  ASSIGN_OR_RETURN(Manifest manifest, ReadNewestManifest(paths.State()));
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<TrainedRun> run = OpenCommit(paths, manifest, graph_folder);
    if (run.ok() || attempt == kTries) return run;
    ASSIGN_OR_RETURN(Manifest newest, ReadNewestManifest(paths.State()));
    if (newest.header.generation == manifest.header.generation) return run;
    manifest = std::move(newest);
  }
}

absl::StatusOr<bool> CommittedSince(const std::filesystem::path& folder, const TrainedRun& run) {
  ASSIGN_OR_RETURN(const Manifest newest, ReadNewestManifest(RunPaths(folder).State()));
  return newest.header.generation != run.generation;
}

}  // namespace octavo
