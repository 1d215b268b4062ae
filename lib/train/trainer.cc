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
#include "checkpoint/verify_state.h"
#include "fmt/format.h"
#include "format/cells.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/resolved_path.h"
#include "run/initial_vectors.h"
#include "run/new_run.h"
#include "run/option_rules.h"
#include "run/precision.h"
#include "run/resumption.h"
#include "run/run_configuration.h"
#include "run/run_exchange.h"
#include "run/run_folder.h"
#include "run/trainable.h"
#include "run/trained_edges.h"
#include "train/chunk_work.h"
#include "train/memory_estimate.h"
#include "train/team.h"
#include "train/team_restart.h"
#include "train/training_loop.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// If the edges do not fit in addition to what the training holds, drops them from the page cache after reading. Returns
// whether it does. Tables are mapped only if their clean pages fit in addition.
bool LeaveRoom(Graph& graph, const TrainOptions& options, const PartitionShape& shape, const TrainSettings& settings) {
  const bool hold_all = HoldsAllTables(options, graph.description(), settings.threads, shape, settings.memory);
  const MemoryEstimate estimate =
      EstimateTrainingMemory(options, graph.description(), settings.threads, shape, hold_all);
  const std::uint64_t edges =
      MostTrainedEdges(options, graph.description()) * EdgeBytes(graph.Edges(Split::kTrain).header());
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
  ASSIGN_OR_RETURN(const fs::path source, ResolvedPath(init.source));
  ASSIGN_OR_RETURN(const fs::path folder, ResolvedPath(paths.folder()));
  if (std::mismatch(folder.begin(), folder.end(), source.begin(), source.end()).first != folder.end()) {
    return absl::OkStatus();
  }
  return UsageError(fmt::format("{}: is in the folder of the run that is made of it; choose another folder for the run",
                                init.source.string()));
}

// Opens the initial vectors of a run; null if it has none.
absl::StatusOr<std::unique_ptr<InitialVectors>> OpenInit(const Graph& graph, const TrainOptions& options,
                                                         const TrainSettings& settings, const InitialSource& init,
                                                         const RunPaths& paths) {
  RETURN_IF_ERROR(CheckInit(options, init, paths));
  if (!init.given()) return nullptr;
  const auto stop = [&settings] { return settings.stop != nullptr && *settings.stop != 0; };
  return InitialVectors::Open(init, graph, options, settings.memory, paths, stop);
}

// The checks of a start that concern its folder and its initial vectors.
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

// `pipelined` is another name for `sync`, and new runs are stored as `sync`. So a run with `pipelined` was made by an
// older program, which updated the rows of nodes one batch late if a batch was one chunk in one piece.
TrainOptions WithoutAliases(TrainOptions options) {
  if (options.schedule == Schedule::kPipelined) options.schedule = Schedule::kSync;
  return options;
}
bool BeganWithLateUpdates(const TrainOptions& options) {
  return options.schedule == Schedule::kPipelined && options.batch <= options.chunk && PiecesOf(options, 1) == 1;
}

// Opens and checks the inputs of a new run in `paths`. The graph may not be at its final path, `graph_name`, yet.
absl::StatusOr<NewRun> PrepareRun(const fs::path& graph_folder, const fs::path& graph_name, const RunPaths& paths,
                                  const TrainOptions& wanted, const TrainSettings& settings,
                                  const TrainCallbacks& callbacks, const InitialSource& init) {
  const TrainOptions options = WithSettledPrecision(wanted);
  NewRun run;
  ASSIGN_OR_RETURN(run.graph, Graph::Open(graph_folder));
  RETURN_IF_ERROR(CheckTrainable(*run.graph, options));
  if (callbacks.on_begin) callbacks.on_begin(run.graph->description(), options);
  ASSIGN_OR_RETURN(run.division, ChooseShape(options, run.graph->description(), settings.memory, settings.threads));
  if (callbacks.on_division) callbacks.on_division({.shape = run.division, .lanes = options.lanes, .from_epoch = 1});
  run.gradients = GradientCapacityOf(options, run.graph->description(), run.division);
  run.memory_bytes = settings.memory;
  run.stop = [&settings] { return settings.stop != nullptr && *settings.stop != 0; };
  run.warn = callbacks.on_warning;
  run.drop_behind = LeaveRoom(*run.graph, options, run.division, settings);
  run.configuration = {.options = WithoutAliases(options),
                       .graph = fs::absolute(graph_name),
                       .init = {.source = init.given() ? fs::absolute(init.source) : fs::path(),
                                .names = init.names.empty() ? fs::path() : fs::absolute(init.names),
                                .optimizer_state = init.optimizer_state}};
  // These keep a reference to the caller's options.
  ASSIGN_OR_RETURN(run.vectors, OpenInit(*run.graph, wanted, settings, init, paths));
  RETURN_IF_ERROR(EncodeRunConfiguration(run.configuration).status());
  return run;
}

// Returns the division of a resumed run from its next epoch on, and reports it to the caller.
absl::StatusOr<PartitionShape> NextDivision(const Resumption& resumption, const TrainSettings& settings,
                                            const TrainCallbacks& callbacks) {
  const TrainOptions& options = resumption.configuration.options;
  const GraphDescription& graph = resumption.graph->description();
  const Progress& progress = resumption.manifest.header.progress;
  const PartitionShape now = DivisionOf(progress);
  PartitionShape next = now;
  const bool ends = progress.epoch + (progress.batch > 0 ? 1 : 0) >= options.epochs;  // there is no next epoch
  if (settings.divide_anew && !ends && options.lanes == 1) {
    ASSIGN_OR_RETURN(next, ChooseShape(options, graph, settings.memory, settings.threads));
  }
  const MemoryEstimate estimate = EstimateTrainingMemory(options, graph, settings.threads, now);
  if (progress.batch > 0 || (next == now && !ends)) {
    if (const absl::Status status = CheckMemory(estimate, settings.memory); !status.ok()) {
      return UsageError(fmt::format("{} divides the tables into {} partitions, {} of them resident: {}",
                                    progress.batch > 0 ? "the epoch that was begun" : "the run", now.partitions,
                                    now.resident, MessageOf(status)));
    }
  }
  if (callbacks.on_division) {
    const std::uint64_t from = progress.epoch + (progress.batch > 0 && next != now ? 2 : 1);
    callbacks.on_division({.shape = next,
                           .lanes = options.lanes,
                           .from_epoch = from,
                           .changed = next != now,
                           .before = now,
                           .memory_before = estimate.total()});
  }
  return next;
}

// What several processes cannot do yet.
absl::Status CheckTeam(const Team& team, const TrainOptions& options) {
  if (team.folders() == 1 || options.validate_every == 0) return absl::OkStatus();
  return UsageError(
      fmt::format("validate-every is {}, and the ranks have {} different folders: no rank has all rows to "
                  "validate with; expected a folder on a disk that all of them share, or validate-every 0",
                  options.validate_every, team.folders()));
}

// Makes `run` up to its first commit and installs it in its place. With `keep_older`, or with an `unnamed` graph, the
// run is made next to its place first and then moved; the graph is renamed to its path in between. `unnamed` may be
// null.
absl::StatusOr<BegunRun> InstallRun(NewRun& run, const RunFolder& place, AtomicFolder* unnamed, bool keep_older) {
  const RunPaths& paths = place.paths();
  const TrainOptions& options = run.configuration.options;
  const GraphDescription& graph = run.graph->description();
  const bool full = options.durability == Durability::kFull;
  if (run.peers != nullptr) {
    // The folders are made and empty before any process begins.
    if (run.WritesFolder()) RETURN_IF_ERROR(RemoveRun(paths));
    RETURN_IF_ERROR(run.peers->Meet());
    std::optional<RunLock> lock;
    if (!run.WritesFolder()) {
      ASSIGN_OR_RETURN(lock, RunLock::Share(paths.Ranks()));
    }
    ASSIGN_OR_RETURN(BegunRun begun, BeginRun(run, paths, full));
    begun.lock = std::move(lock);
    return begun;
  }
  const bool beside = unnamed != nullptr || keep_older;
  if (!beside || !place.has_older()) RETURN_IF_ERROR(RemoveRun(paths));
  if (!place.has_older()) RETURN_IF_ERROR(CheckRoomForBest(options, graph, paths));
  if (!beside) return BeginRun(run, paths, full);
  RETURN_IF_ERROR(CreateFolders(paths.Replacement().folder()));
  // The first commit syncs the folder before STATE names the run.
  if (unnamed != nullptr) {
    const std::string_view mark = place.has_older() ? kGrowthOverRun : "";
    RETURN_IF_ERROR(WriteWholeFileAtomically(paths.Replacement().Growth(), mark));
  }
  // The older run would survive a power cut, so the run that replaces it must, too.
  ASSIGN_OR_RETURN(BegunRun begun, BeginRun(run, paths.Replacement(), /*sync=*/true));
  begun.tables.reset();  // they hold paths that are about to be renamed
  begun.gradients.reset();
  RETURN_IF_ERROR(CheckRemovable(paths));
  if (unnamed != nullptr) RETURN_IF_ERROR(unnamed->Commit());
  RETURN_IF_ERROR(ReplaceRun(paths));
  ASSIGN_OR_RETURN(begun.gradients, MmapGradientAccumulator::Create(paths.Gradients(), options.dim, run.gradients));
  ASSIGN_OR_RETURN(begun.tables, RunTables::Open(paths, ShapeOf(options, graph, run.division), full));
  // Pairs of walks keep their name in the folder, which has moved with them.
  if (options.walk == Walk::kNone) {
    ASSIGN_OR_RETURN(begun.edges,
                     MakeTrainedEdges(*run.graph, options, paths, begun.known, run.memory_bytes, run.drop_behind));
  }
  return begun;
}

// Installs the new run, which commits its initial rows as generation 1, and trains it. From the first commit on a kill
// leaves a run that can be resumed.
absl::StatusOr<TrainOutcome> TrainNew(NewRun& run, RunFolder& place, AtomicFolder* unnamed,
                                      const TrainSettings& settings, const TrainCallbacks& callbacks,
                                      Team* team = nullptr) {
  const RunPaths& paths = place.paths();
  const TrainOptions& options = run.configuration.options;
  // An older run stays until the new one has a commit. If the disk has no room for both, it is removed first, unless
  // vectors are read, which may be its own.
  bool keep_older = false;
  if (place.has_older()) {
    const DiskSpace space = DiskSpaceOf(options, run.graph->description(), run.division);
    DiskSpace both = space;
    if (options.walk != Walk::kNone) {  // their pairs, and what is sorted of them
      both.beginning += 2 * sizeof(Edge) * MostTrainedEdges(options, run.graph->description());
    }
    keep_older = run.vectors != nullptr || (team == nullptr && CheckDiskSpace(paths, both, /*beside=*/true).ok());
    RETURN_IF_ERROR(CheckDiskSpace(paths, space, keep_older));
  }
  place.Keep();
  const absl::StatusOr<BegunRun> begun = InstallRun(run, place, unnamed, keep_older);
  if (!begun.ok()) {
    // If the graph has been renamed, the new run is the valid one; it is not moved now, as the disk has just failed.
    const bool named = unnamed != nullptr && unnamed->path().empty();
    if (!named) static_cast<void>(unnamed != nullptr ? RemoveRunFolder(paths.Replacement()) : SettleRun(paths));
    return begun.status();
  }
  if (run.vectors != nullptr && callbacks.on_initial) callbacks.on_initial(begun->initial);
  run.vectors.reset();  // the training needs their memory
  if (unnamed != nullptr) {
    const std::uint64_t fingerprint = run.graph->description().fingerprint;
    ASSIGN_OR_RETURN(run.graph, Graph::Open(run.configuration.graph));  // messages name its path
    if (run.graph->description().fingerprint != fingerprint) {
      return UsageError(
          fmt::format("{}: was replaced by another graph meanwhile; octavo resume --run {} --graph DIR continues "
                      "with that of the run",
                      run.configuration.graph.string(), paths.folder().string()));
    }
    if (run.drop_behind) run.graph->DropBehind();
  }
  return TrainingLoop(*run.graph, begun->edges ? *begun->edges : run.graph->Edges(Split::kTrain),
                      FrozenRows(options, begun->known), options, paths, *begun->tables, *begun->gradients,
                      run.division, settings, callbacks, team)
      .Run(/*past_patience=*/false);
}

}  // namespace

absl::StatusOr<TrainOutcome> StartRun(const fs::path& graph_folder, const fs::path& folder, const TrainOptions& options,
                                      bool overwrite, const TrainSettings& settings, const TrainCallbacks& callbacks,
                                      const InitialSource& init) {
  const RunPaths paths(folder);
  ASSIGN_OR_RETURN(const std::unique_ptr<Team> team, MakeTeam(settings.ranks, folder, options.lanes));
  ASSIGN_OR_RETURN(NewRun run, PrepareRun(graph_folder, graph_folder, paths, options, settings, callbacks, init));
  if (team == nullptr) {
    ASSIGN_OR_RETURN(RunFolder place, RunFolder::Take(folder, overwrite));
    return TrainNew(run, place, nullptr, settings, callbacks);
  }
  RETURN_IF_ERROR(CheckTeam(*team, options));
  RETURN_IF_ERROR(CheckAlike(*team, run.graph->description(), options));
  run.peers = team.get();
  const PlannerSettings planned{.lanes = static_cast<std::uint32_t>(options.lanes),
                                .shape = run.division,
                                .order = options.order,
                                .seed = options.seed};
  team->SetFirstPlan(MakeEpochPlans(run.graph->Edges(Split::kTrain), planned)->Plan(0),
                     run.graph->description().partition_count);
  if (!team->WritesFolder()) {
    RunFolder place = RunFolder::TakenByAnother(folder);
    RETURN_IF_ERROR(team->Meet());
    return TrainNew(run, place, nullptr, settings, callbacks, team.get());
  }
  ASSIGN_OR_RETURN(RunFolder place, RunFolder::Take(folder, overwrite || IsBeginning(paths)));
  // Nobody removes anything while another rank may find a run in its folder.
  RETURN_IF_ERROR(team->Meet());
  return TrainNew(run, place, nullptr, settings, callbacks, team.get());
}

absl::StatusOr<TrainOutcome> GrowRun(AtomicFolder graph, RunFolder place, const TrainOptions& options,
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
                                         const TrainOptions& wanted, bool overwrite, const TrainSettings& settings,
                                         const InitialSource& init) {
  const TrainOptions options = WithSettledPrecision(wanted);
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(graph_folder));
  RETURN_IF_ERROR(CheckTrainable(*graph, options));
  TrainingStart start;
  start.options = options;
  start.graph = graph->description();
  ASSIGN_OR_RETURN(start.plan, PlanTraining(options, *graph, settings.memory, settings.threads, folder, nullptr));
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
  // A number of partitions that is too large for the base may be valid for the grown graph.
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
  ASSIGN_OR_RETURN(const Resumption resumption, ReadResumption(paths, epochs, graph_folder, settings.exchange));
  ASSIGN_OR_RETURN(const PartitionShape next, NextDivision(resumption, settings, {}));
  const ManifestHeader& header = resumption.manifest.header;
  TrainingStart start;
  start.options = resumption.configuration.options;
  start.graph = resumption.graph->description();
  start.generation = header.generation;
  start.epoch = header.progress.epoch;
  start.batch = header.progress.batch;
  start.options.partitions = next.partitions;
  start.options.resident = next.resident;
  ASSIGN_OR_RETURN(start.plan,
                   PlanTraining(start.options, *resumption.graph, settings.memory, settings.threads, folder, nullptr));
  RETURN_IF_ERROR(CheckDiskSpace(paths, DiskSpaceOf(start.options, resumption.graph->description(), start.plan.shape),
                                 /*beside=*/false));
  return start;
}

absl::StatusOr<TrainOutcome> ResumeRun(const fs::path& folder, std::uint64_t epochs, const TrainSettings& settings,
                                       const TrainCallbacks& callbacks, const fs::path& graph_folder) {
  const RunPaths paths(folder);
  if (settings.ranks != nullptr) RETURN_IF_ERROR(ShareRun(*settings.ranks, paths));
  RETURN_IF_ERROR(CheckIsRun(paths));
  std::uint64_t lanes = 1;
  if (settings.ranks != nullptr) {
    ASSIGN_OR_RETURN(const RunConfiguration read, ReadRunConfiguration(paths.Configuration()));
    lanes = read.options.lanes;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Team> team, MakeTeam(settings.ranks, folder, lanes));
  const bool writes_folder = team == nullptr || team->WritesFolder();
  std::optional<RunLock> lock;
  if (writes_folder) {
    ASSIGN_OR_RETURN(lock, RunLock::Take(paths.Lock()));
    RETURN_IF_ERROR(RunLock::AwaitOthers(paths.Ranks()));
    RETURN_IF_ERROR(SettleRun(paths));
    // Best effort: the next copy removes it, too.
    static_cast<void>(RemoveUnfinishedCopy(paths, paths.Best()));
  }
  if (team != nullptr) {
    RETURN_IF_ERROR(AgreeOnCommit(*settings.ranks, paths, writes_folder));
    if (!writes_folder) {
      ASSIGN_OR_RETURN(lock, RunLock::Share(paths.Ranks()));
    }
  }
  const std::string fallback = DescribeFallback(paths.State());
  ASSIGN_OR_RETURN(Resumption resumption, ReadResumption(paths, epochs, graph_folder, settings.exchange));
  if (!fallback.empty() && callbacks.on_warning) callbacks.on_warning(fallback);
  if (callbacks.on_begin) callbacks.on_begin(resumption.graph->description(), resumption.configuration.options);
  ASSIGN_OR_RETURN(const PartitionShape next, NextDivision(resumption, settings, callbacks));
  const auto& [configuration, configuration_changed, graph, manifest] = resumption;
  const TrainOptions& options = configuration.options;
  const Progress& done = manifest.header.progress;
  if (BeganWithLateUpdates(options) && done.epoch < options.epochs && callbacks.on_warning) {
    callbacks.on_warning(
        fmt::format("{}: was begun with updates a batch late (schedule pipelined); from here on its bits are those of "
                    "schedule sync",
                    folder.string()));
  }
  if (team != nullptr) {
    RETURN_IF_ERROR(CheckTeam(*team, options));
    RETURN_IF_ERROR(CheckAlike(*team, graph->description(), options));
  }
  const bool drop_behind = LeaveRoom(*graph, options, next, settings);
  const auto stop = [&settings] { return settings.stop != nullptr && *settings.stop != 0; };
  const RunShape shape = ShapeOf(options, graph->description(), DivisionOf(done));
  ASSIGN_OR_RETURN(const std::optional<KnownRows> known, ReadKnownRows(options, paths, shape));
  NewFiles made(paths);
  if (!writes_folder) made.Keep();  // others are making them
  // Walks need the memory before the tables do.
  ASSIGN_OR_RETURN(const std::optional<CellReader> edges,
                   MakeTrainedEdges(*graph, options, paths, known, settings.memory, drop_behind, stop, {}, team.get()));
  // With capacity for both divisions of the tables.
  GradientCapacity capacity = GradientCapacityOf(options, graph->description(), DivisionOf(done));
  const GradientCapacity then = GradientCapacityOf(options, graph->description(), next);
  capacity.block_floats = std::max(capacity.block_floats, then.block_floats);
  capacity.accumulated_rows = std::max(capacity.accumulated_rows, then.accumulated_rows);
  ASSIGN_OR_RETURN(const std::unique_ptr<MmapGradientAccumulator> gradients,
                   MakeGradients(paths, options.dim, capacity, team.get()));
  ASSIGN_OR_RETURN(const std::unique_ptr<RunTables> tables,
                   RunTables::Open(paths, shape, options.durability == Durability::kFull, team.get()));
  if (writes_folder) RETURN_IF_ERROR(RemoveFile(paths.Beginning()));
  if (configuration_changed && writes_folder)
    RETURN_IF_ERROR(WriteRunConfiguration(paths.Configuration(), configuration));
  made.Keep();
  return TrainingLoop(*graph, edges ? *edges : graph->Edges(Split::kTrain), FrozenRows(options, known), options, paths,
                      *tables, *gradients, next, settings, callbacks, team.get())
      .Run(/*past_patience=*/epochs != 0);
}

}  // namespace octavo
