#include "run/new_run.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"
#include "io/failpoint.h"
#include "io/file.h"
#include "run/initial_rows.h"
#include "run/trained_edges.h"

namespace octavo {
namespace {

// Writes what a warm start must have on the disk before its first commit: the rows exist, but no manifest names them
// yet. Having nothing to train is an error while there is no run yet.
absl::Status SealInit(InitialVectors& vectors, const Graph& graph, const TrainOptions& options, const RunPaths& paths,
                      bool drop_behind, bool sync, BegunRun& run, Progress& first) {
  ASSIGN_OR_RETURN(run.initial, vectors.Finish());
  if (options.needs_known_rows()) {
    run.known = vectors.known();
    RETURN_IF_ERROR(WriteWholeFileAtomically(paths.KnownRows(), EncodeKnownRows(*run.known)));
  }
  if (!run.edges) {
    ASSIGN_OR_RETURN(
        run.edges, MakeTrainedEdges(graph, options, paths, run.known, /*memory_bytes=*/0, drop_behind, vectors.stop()));
  }
  ASSIGN_OR_RETURN(File mark, File::Create(paths.Beginning()));
  RETURN_IF_ERROR(mark.Close());
  ASSIGN_OR_RETURN(MetricsLog metrics, MetricsLog::Open(paths.Metrics(), 0));
  RETURN_IF_ERROR(metrics.Append(run.initial));
  if (sync) RETURN_IF_ERROR(metrics.Sync());
  first.metrics_bytes = metrics.bytes();
  first.step = vectors.step();
  return Failpoint("initial.seal");
}

}  // namespace

RunShape ShapeOf(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& division) {
  const std::size_t relation_width = options.model_spec().RelationWidth();
  return {.configuration_hash = ConfigurationHash(options),
          .graph_fingerprint = graph.fingerprint,
          .rows = graph.node_count,
          .dim = options.dim,
          .state_width = StateWidth(options.optimizer, options.dim),
          .relation_rows = std::uint64_t{graph.relation_count} * (options.reciprocal ? 2 : 1),
          .relation_width = relation_width,
          .relation_state_width = relation_width == 0 ? 0 : StateWidth(options.optimizer, relation_width),
          .partition_rows = graph.partition_rows,
          .seed = options.seed,
          .element = options.storage,
          .partitions = division.partitions,
          .resident = division.resident,
          .lanes = options.lanes};
}

absl::StatusOr<std::optional<CellReader>> MakeTrainedEdges(const Graph& graph, const TrainOptions& options,
                                                           const RunPaths& paths, const std::optional<KnownRows>& known,
                                                           std::uint64_t memory_bytes, bool drop_behind,
                                                           const std::function<bool()>& stop,
                                                           const std::function<void(std::string_view)>& warn,
                                                           const CommitPeers* peers) {
  if (options.walk == Walk::kNone && options.edges == TrainEdges::kAll) return std::nullopt;
  const bool own_file = peers != nullptr && !peers->WritesFolder();
  const std::filesystem::path path = own_file ? paths.TrainedEdgesOf(peers->number()) : paths.TrainedEdges();
  const auto write = [&]() -> absl::StatusOr<CellReader> {
    if (options.walk != Walk::kNone) return WriteTrainedPairs(graph, options, memory_bytes, path, stop, warn);
    const bool relations = options.model_spec().RelationWidth() > 0;
    return WriteTrainedEdges(graph, *known, relations, path, stop);
  };
  ASSIGN_OR_RETURN(CellReader edges, write());
  if (own_file) RETURN_IF_ERROR(RemoveFile(path));
  if (drop_behind) edges.DropBehind();
  return edges;
}

absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> MakeGradients(const RunPaths& paths, std::size_t dim,
                                                                       const GradientCapacity& capacity,
                                                                       const CommitPeers* peers) {
  const bool own_file = peers != nullptr && !peers->WritesFolder();
  const std::filesystem::path path = own_file ? paths.GradientsOf(peers->number()) : paths.Gradients();
  ASSIGN_OR_RETURN(std::unique_ptr<MmapGradientAccumulator> gradients,
                   MmapGradientAccumulator::Create(path, dim, capacity));
  if (own_file) RETURN_IF_ERROR(RemoveFile(path));
  return gradients;
}

absl::StatusOr<BegunRun> BeginRun(const NewRun& run, const RunPaths& paths, bool sync) {
  const TrainOptions& options = run.configuration.options;
  const GraphDescription& graph = run.graph->description();
  InitialVectors* const vectors = run.vectors.get();
  if (run.WritesFolder()) RETURN_IF_ERROR(WriteRunConfiguration(paths.Configuration(), run.configuration));
  // Allocated before the first commit, so that a disk that is too small is an error while there is no run yet.
  BegunRun begun;
  // Walks need the memory before the tables do.
  if (options.walk != Walk::kNone) {
    ASSIGN_OR_RETURN(begun.edges, MakeTrainedEdges(*run.graph, options, paths, std::nullopt, run.memory_bytes,
                                                   run.drop_behind, run.stop, run.warn, run.peers));
  }
  ASSIGN_OR_RETURN(begun.gradients, MakeGradients(paths, options.dim, run.gradients, run.peers));
  const RunShape shape = ShapeOf(options, graph, run.division);
  const double scale = InitialScale(options, shape.rows);
  const double relation_scale = InitialScale(options, shape.relation_rows);
  RunBeginning beginning;
  if (vectors != nullptr) {
    beginning.embeddings = [&](std::uint64_t first, std::span<float> rows) {
      return vectors->CopyEmbeddings(first, rows);
    };
    beginning.optimizer = [&](std::uint64_t first, std::span<float> rows) {
      return vectors->CopyOptimizer(first, rows);
    };
    beginning.relation_optimizer = [&](std::uint64_t row, std::span<float> values) {
      vectors->CopyRelationState(row, values);
    };
    beginning.seal = [&](Progress& first) {
      return SealInit(*vectors, *run.graph, options, paths, run.drop_behind, sync, begun, first);
    };
  }
  const auto embedding = [&](std::uint64_t row, std::span<float> values) {
    InitialEmbedding(options, scale, row, values);
  };
  const auto relation = [&](std::uint64_t row, std::span<float> values) {
    InitialRelation(options, relation_scale, row, values);
    if (vectors != nullptr) vectors->CopyRelation(row, values);
  };
  ASSIGN_OR_RETURN(begun.tables, RunTables::Create(paths, shape, embedding, relation, sync, beginning, run.peers));
  if (run.WritesFolder()) RETURN_IF_ERROR(RemoveFile(paths.Beginning()));
  return begun;
}

}  // namespace octavo
