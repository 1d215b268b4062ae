#include "train/trainer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "checkpoint/commit_copy.h"
#include "checkpoint/run_lock.h"
#include "checkpoint/run_replacement.h"
#include "checkpoint/run_tables.h"
#include "fmt/format.h"
#include "format/cells.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "train/initial_vectors.h"
#include "train/memory_estimate.h"
#include "train/new_run.h"
#include "train/resumption.h"
#include "train/run_configuration.h"
#include "train/run_exchange.h"
#include "train/run_place.h"
#include "train/training_loop.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Where the edges do not fit beside what the training holds, they leave the page cache once they are read. Returns
// whether that is so.
bool LeaveRoom(Graph& graph, const TrainOptions& options, const PartitionShape& shape, const TrainSettings& settings) {
  const MemoryEstimate estimate = EstimateTrainingMemory(options, graph.description(), settings.threads, shape);
  const std::uint64_t edges = graph.description().train_edges * EdgeBytes(graph.Edges(Split::kTrain).header());
  const std::uint64_t needed = estimate.total() + edges;
  const bool drop_behind = needed < edges || needed > settings.memory;
  if (drop_behind) graph.DropBehind();
  return drop_behind;
}

const KnownRows* FrozenRows(const TrainOptions& options, const std::optional<KnownRows>& known) {
  return options.freeze == Freeze::kOld ? &*known : nullptr;
}

// A warm start, and what it is needed for on.
absl::Status CheckInit(const TrainOptions& options, const InitialSource& init, const RunPaths& paths) {
  if (!init.given()) {
    if (!options.needs_known_rows()) return absl::OkStatus();
    return UsageError(fmt::format("{} has no meaning without --init, whose rows are the old ones",
                                  options.freeze == Freeze::kOld ? "freeze old" : "edges new"));
  }
  std::error_code error;
  const fs::path source = fs::weakly_canonical(init.source, error);
  const fs::path folder = fs::weakly_canonical(paths.folder(), error);
  if (std::mismatch(folder.begin(), folder.end(), source.begin(), source.end()).first != folder.end()) {
    return absl::OkStatus();
  }
  return UsageError(fmt::format("{}: is in the folder of the run that is made of it; choose another folder for the run",
                                init.source.string()));
}

// Opens what a run begins with; null where that is nothing.
absl::StatusOr<std::unique_ptr<InitialVectors>> OpenInit(const Graph& graph, const TrainOptions& options,
                                                         const TrainSettings& settings, const InitialSource& init,
                                                         const RunPaths& paths) {
  RETURN_IF_ERROR(CheckInit(options, init, paths));
  if (!init.given()) return nullptr;
  const auto stop = [&settings] { return settings.stop != nullptr && *settings.stop != 0; };
  return InitialVectors::Open(init, graph, options, settings.memory, paths, stop);
}

// All that a start can be refused for by its folder and what it begins with.
absl::Status CheckPlace(const Graph& graph, const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                        const InitialSource& init, const RunPaths& paths) {
  RETURN_IF_ERROR(OpenInit(graph, options, settings, init, paths).status());
  RETURN_IF_ERROR(CheckFolder(paths));
  if (!overwrite) {
    RETURN_IF_ERROR(CheckSettled(paths));
    return CheckUnused(paths);
  }
  ASSIGN_OR_RETURN(const bool has_older, FileExists(paths.State()));
  return has_older ? CheckCopyPlace(paths, paths.Best()) : absl::OkStatus();
}

// Opens and checks what a run in `paths` is made of. The graph may not have its name yet, which is `graph_name`.
absl::StatusOr<NewRun> PrepareRun(const fs::path& graph_folder, const fs::path& graph_name, const RunPaths& paths,
                                  const TrainOptions& options, const TrainSettings& settings,
                                  const TrainCallbacks& callbacks, const InitialSource& init) {
  NewRun run;
  ASSIGN_OR_RETURN(run.graph, Graph::Open(graph_folder));
  RETURN_IF_ERROR(CheckTrainable(*run.graph, options));
  ASSIGN_OR_RETURN(run.division, ChooseShape(options, run.graph->description(), settings.memory, settings.threads));
  if (callbacks.on_division) callbacks.on_division({.shape = run.division, .from_epoch = 1});
  run.drop_behind = LeaveRoom(*run.graph, options, run.division, settings);
  ASSIGN_OR_RETURN(run.vectors, OpenInit(*run.graph, options, settings, init, paths));
  run.configuration = {.options = options,
                       .graph = fs::absolute(graph_name),
                       .init = {.source = init.given() ? fs::absolute(init.source) : fs::path(),
                                .names = init.names.empty() ? fs::path() : fs::absolute(init.names),
                                .optimizer_state = init.optimizer_state}};
  RETURN_IF_ERROR(EncodeRunConfiguration(run.configuration).status());
  return run;
}

// Makes `run` in its place, up to its first commit, and moves it there where an older one is or the graph of `unnamed`,
// which may be null, has no name yet: that gets it in between.
absl::StatusOr<BegunRun> PutRun(NewRun& run, const RunPlace& place, AtomicFolder* unnamed) {
  const RunPaths& paths = place.paths();
  const TrainOptions& options = run.configuration.options;
  const GraphDescription& graph = run.graph->description();
  const bool full = options.durability == Durability::kFull;
  // The older run stands until all that the new one begins with was read.
  const bool beside = unnamed != nullptr || (place.has_older() && run.vectors != nullptr);
  if (!beside || !place.has_older()) RETURN_IF_ERROR(RemoveRun(paths));
  if (!place.has_older()) RETURN_IF_ERROR(CheckRoomForBest(options, graph, paths));
  if (!beside) return BeginRun(run, paths, full);
  RETURN_IF_ERROR(CreateFolders(paths.Replacement().folder()));
  // The first commit syncs the folder before it says that there is a run.
  if (unnamed != nullptr) RETURN_IF_ERROR(WriteWholeFileAtomically(paths.Replacement().Growth(), ""));
  // What takes the place of a run that a power cut would have spared is to survive one as well.
  ASSIGN_OR_RETURN(BegunRun begun, BeginRun(run, paths.Replacement(), /*sync=*/true));
  begun.tables.reset();  // they know the place by its name
  begun.gradients.reset();
  RETURN_IF_ERROR(CheckRemovable(paths));
  if (unnamed != nullptr) RETURN_IF_ERROR(unnamed->Commit());
  RETURN_IF_ERROR(ReplaceRun(paths));
  ASSIGN_OR_RETURN(begun.gradients, MakeGradients(paths, options, graph, run.division, run.division));
  ASSIGN_OR_RETURN(begun.tables, RunTables::Open(paths, ShapeOf(options, graph, run.division), full));
  ASSIGN_OR_RETURN(begun.edges, MakeTrainedEdges(*run.graph, options, paths, begun.known, run.drop_behind));
  return begun;
}

absl::StatusOr<TrainOutcome> TrainNew(NewRun& run, RunPlace& place, AtomicFolder* unnamed,
                                      const TrainSettings& settings, const TrainCallbacks& callbacks) {
  const RunPaths& paths = place.paths();
  const TrainOptions& options = run.configuration.options;
  if (place.has_older()) {
    const DiskSpace space = DiskSpaceOf(options, run.graph->description(), run.division);
    RETURN_IF_ERROR(CheckDiskSpace(paths, space, /*beside=*/run.vectors != nullptr));
  }
  place.Keep();
  const absl::StatusOr<BegunRun> begun = PutRun(run, place, unnamed);
  if (!begun.ok()) {
    // With its graph named the new run is the one that stands; a disk that has just failed is not asked to move it.
    const bool named = unnamed != nullptr && unnamed->path().empty();
    if (!named) static_cast<void>(unnamed != nullptr ? RemoveRunFolder(paths.Replacement()) : SettleRun(paths));
    return begun.status();
  }
  if (run.vectors != nullptr && callbacks.on_initial) callbacks.on_initial(begun->initial);
  run.vectors.reset();  // the training needs their memory
  if (unnamed != nullptr) {
    const std::uint64_t fingerprint = run.graph->description().fingerprint;
    ASSIGN_OR_RETURN(run.graph, Graph::Open(run.configuration.graph));  // messages go by its name
    if (run.graph->description().fingerprint != fingerprint) {
      return UsageError(
          fmt::format("{}: was replaced by another graph meanwhile; octavo resume --run {} --graph DIR goes "
                      "on with that of the run",
                      run.configuration.graph.string(), paths.folder().string()));
    }
    if (run.drop_behind) run.graph->DropBehind();
  }
  return TrainingLoop(*run.graph, begun->edges ? *begun->edges : run.graph->Edges(Split::kTrain),
                      FrozenRows(options, begun->known), options, paths, *begun->tables, *begun->gradients,
                      run.division, settings, callbacks)
      .Run(/*past_patience=*/false);
}

}  // namespace

absl::Status CheckTrainable(const Graph& graph, const TrainOptions& options) {
  RETURN_IF_ERROR(ValidateTrainOptions(options));
  if (options.validate_every > 0 && graph.description().valid_edges == 0) {
    return UsageError(
        fmt::format("{}: no edges to validate with; expected validate-every 0, or a graph imported with "
                    "--valid FILE or --split",
                    graph.paths().folder().string()));
  }
  if (graph.description().train_edges > 0) return absl::OkStatus();
  return UsageError(fmt::format("{}: no training edges", graph.paths().folder().string()));
}

absl::StatusOr<TrainOutcome> StartRun(const fs::path& graph_folder, const fs::path& folder, const TrainOptions& options,
                                      bool overwrite, const TrainSettings& settings, const TrainCallbacks& callbacks,
                                      const InitialSource& init) {
  const RunPaths paths(folder);
  ASSIGN_OR_RETURN(NewRun run, PrepareRun(graph_folder, graph_folder, paths, options, settings, callbacks, init));
  ASSIGN_OR_RETURN(RunPlace place, RunPlace::Take(folder, overwrite));
  return TrainNew(run, place, nullptr, settings, callbacks);
}

absl::StatusOr<TrainOutcome> GrowRun(AtomicFolder graph, RunPlace place, const TrainOptions& options,
                                     const TrainSettings& settings, const TrainCallbacks& callbacks,
                                     const InitialSource& init) {
  const auto train = [&]() -> absl::StatusOr<TrainOutcome> {
    ASSIGN_OR_RETURN(NewRun run,
                     PrepareRun(graph.path(), graph.final_path(), place.paths(), options, settings, callbacks, init));
    return TrainNew(run, place, &graph, settings, callbacks);
  };
  const absl::StatusOr<TrainOutcome> trained = train();
  return trained.ok() ? trained : graph.UnderFinalName(trained.status());
}

absl::StatusOr<TrainingStart> CheckStart(const fs::path& graph_folder, const fs::path& folder,
                                         const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                                         const InitialSource& init) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(graph_folder));
  RETURN_IF_ERROR(CheckTrainable(*graph, options));
  TrainingStart start;
  start.options = options;
  start.train_edges = graph->description().train_edges;
  ASSIGN_OR_RETURN(start.plan, PlanTraining(options, *graph, settings.memory, settings.threads, nullptr));
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckPlace(*graph, options, overwrite, settings, init, paths));
  ASSIGN_OR_RETURN(const bool has_older, FileExists(paths.State()));
  RETURN_IF_ERROR(CheckDiskSpace(paths, DiskSpaceOf(options, graph->description(), start.plan.shape),
                                 /*beside=*/has_older && init.given()));
  return start;
}

absl::Status CheckGrownStart(const fs::path& base, bool has_valid_edges, const fs::path& folder,
                             const TrainOptions& options, bool overwrite, const TrainSettings& settings,
                             const InitialSource& init) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(base));
  RETURN_IF_ERROR(has_valid_edges ? ValidateTrainOptions(options) : CheckTrainable(*graph, options));
  // More partitions than the base has fine ones may do for the grown graph.
  TrainOptions on_base = options;
  const std::uint64_t most = graph->description().partition_count;
  if (on_base.partitions > most || on_base.resident > most) on_base.partitions = on_base.resident = 0;
  ASSIGN_OR_RETURN(const PartitionShape shape,
                   ChooseShape(on_base, graph->description(), settings.memory, settings.threads));
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckPlace(*graph, on_base, overwrite, settings, init, paths));
  ASSIGN_OR_RETURN(const bool has_older, FileExists(paths.State()));
  return CheckDiskSpace(paths, DiskSpaceOf(on_base, graph->description(), shape), /*beside=*/has_older);
}

absl::StatusOr<TrainingStart> CheckResume(const fs::path& folder, std::uint64_t epochs, const TrainSettings& settings,
                                          const fs::path& graph_folder) {
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckIsRun(paths));
  RETURN_IF_ERROR(CheckSettled(paths));
  ASSIGN_OR_RETURN(const Resumption resumption, ReadResumption(paths, epochs, graph_folder, settings, {}));
  const ManifestHeader& header = resumption.manifest.header;
  TrainingStart start;
  start.options = resumption.configuration.options;
  start.train_edges = resumption.graph->description().train_edges;
  start.generation = header.generation;
  start.epoch = header.progress.epoch;
  start.batch = header.progress.batch;
  start.options.partitions = resumption.next.partitions;
  start.options.resident = resumption.next.resident;
  ASSIGN_OR_RETURN(start.plan,
                   PlanTraining(start.options, *resumption.graph, settings.memory, settings.threads, nullptr));
  RETURN_IF_ERROR(CheckDiskSpace(paths, DiskSpaceOf(start.options, resumption.graph->description(), start.plan.shape),
                                 /*beside=*/false));
  return start;
}

absl::StatusOr<TrainOutcome> ResumeRun(const fs::path& folder, std::uint64_t epochs, const TrainSettings& settings,
                                       const TrainCallbacks& callbacks, const fs::path& graph_folder) {
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckIsRun(paths));
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
  RETURN_IF_ERROR(SettleRun(paths));
  ASSIGN_OR_RETURN(Resumption resumption, ReadResumption(paths, epochs, graph_folder, settings, callbacks));
  const auto& [configuration, configuration_changed, graph, manifest, next] = resumption;
  const TrainOptions& options = configuration.options;
  const Progress& done = manifest.header.progress;
  const bool drop_behind = LeaveRoom(*graph, options, next, settings);
  const RunShape shape = ShapeOf(options, graph->description(), DivisionOf(done));
  ASSIGN_OR_RETURN(const std::optional<KnownRows> known, ReadKnownRows(options, paths, shape));
  NewFiles made(paths);
  ASSIGN_OR_RETURN(const std::unique_ptr<MmapGradientAccumulator> gradients,
                   MakeGradients(paths, options, graph->description(), DivisionOf(done), next));
  ASSIGN_OR_RETURN(const std::unique_ptr<RunTables> tables,
                   RunTables::Open(paths, shape, options.durability == Durability::kFull));
  RETURN_IF_ERROR(RemoveFile(paths.Beginning()));
  ASSIGN_OR_RETURN(const std::optional<CellReader> edges, MakeTrainedEdges(*graph, options, paths, known, drop_behind));
  if (configuration_changed) RETURN_IF_ERROR(WriteRunConfiguration(paths.Configuration(), configuration));
  made.Keep();
  return TrainingLoop(*graph, edges ? *edges : graph->Edges(Split::kTrain), FrozenRows(options, known), options, paths,
                      *tables, *gradients, next, settings, callbacks)
      .Run(/*past_patience=*/epochs != 0);
}

}  // namespace octavo
