#include "train/trainer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/status.h"
#include "checkpoint/commit_copy.h"
#include "checkpoint/run_lock.h"
#include "checkpoint/run_replacement.h"
#include "checkpoint/run_tables.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "format/cells.h"
#include "format/known_rows.h"
#include "format/paths.h"
#include "io/failpoint.h"
#include "io/file.h"
#include "tables/mmap_gradient_accumulator.h"
#include "train/initial_rows.h"
#include "train/initial_vectors.h"
#include "train/memory_estimate.h"
#include "train/run_configuration.h"
#include "train/trained_edges.h"
#include "train/training_loop.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

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
          .resident = division.resident};
}

// A folder that is there must be free for a run.
absl::Status CheckFolder(const RunPaths& paths) {
  std::error_code error;
  if (fs::exists(paths.folder(), error) && !fs::is_directory(paths.folder(), error)) {
    return UsageError(fmt::format("{}: exists and is not a folder", paths.folder().string()));
  }
  // The two have names of their own, but nobody could replace, check or remove one of them any more.
  if (fs::exists(GraphPaths(paths.folder()).Description(), error)) {
    return UsageError(fmt::format("{}: is a graph; choose another folder for the run", paths.folder().string()));
  }
  return absl::OkStatus();
}

// Removes the files of the run that were not there before, unless told to keep them: a resume that finds no room to go
// on leaves the run as it was. The newest manifest cannot name them.
class NewFiles {
 public:
  explicit NewFiles(const RunPaths& paths) {
    std::error_code ignored;
    for (const fs::path& path : paths.All()) {
      // Not of a file that the disk cannot say anything of.
      if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) absent_.push_back(path);
    }
  }
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    for (const fs::path& path : absent_) static_cast<void>(RemoveFile(path));
  }
  void Keep() { absent_.clear(); }

 private:
  std::vector<fs::path> absent_;
};

// Sets aside the space of the gradients, for both divisions of the tables.
absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> MakeGradients(const RunPaths& paths,
                                                                       const TrainOptions& options,
                                                                       const GraphDescription& graph,
                                                                       const PartitionShape& now,
                                                                       const PartitionShape& next) {
  const std::uint64_t rows = std::max(MaxWindowRows(options, graph, now), MaxWindowRows(options, graph, next));
  return MmapGradientAccumulator::Create(paths.Gradients(), options.dim, rows);
}

// A folder with a run, or with files of a run's names that no training left there, is not taken without --overwrite. A
// training that was stopped before its first commit leaves run.json and no STATE, and no metrics.jsonl, which comes
// behind the commit, or of a warm start one that is marked: with it, the vectors may be all that is left of a run.
absl::Status CheckUnused(const RunPaths& paths) {
  const std::string folder = paths.folder().string();
  std::vector<fs::path> there;
  for (const fs::path& path : paths.All()) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (error && status.type() != fs::file_type::not_found) {
      return RuntimeError(fmt::format("{}: {}", path.string(), error.message()));
    }
    if (fs::exists(status) && path != paths.Lock()) there.push_back(path);
  }
  const auto has = [&](const fs::path& path) { return std::find(there.begin(), there.end(), path) != there.end(); };
  if (has(paths.State())) {
    return UsageError(
        fmt::format("{}: has a run; go on with it by octavo resume --run {}, or say --overwrite", folder, folder));
  }
  const bool untrained = !has(paths.Metrics()) || has(paths.Beginning());
  if (untrained && ReadRunConfiguration(paths.Configuration()).ok()) return absl::OkStatus();
  for (const fs::path& path : there) {
    return UsageError(
        fmt::format("{}: is there and belongs to no run; choose another folder, or say --overwrite", path.string()));
  }
  return absl::OkStatus();
}

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
  if (!overwrite) return CheckUnused(paths);
  ASSIGN_OR_RETURN(const bool has_older, FileExists(paths.State()));
  return has_older ? CheckCopyPlace(paths, paths.Best()) : absl::OkStatus();
}

// The marks of a run that needs them.
absl::StatusOr<std::optional<KnownRows>> ReadKnownRows(const TrainOptions& options, const RunPaths& paths,
                                                       const RunShape& shape) {
  if (!options.needs_known_rows()) return std::nullopt;
  const fs::path path = paths.KnownRows();
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path, KnownRows::FileBytes(shape.rows, shape.relation_rows));
  // Such a run has it: to lack it is damage.
  if (!bytes.ok() && KindOf(bytes.status()) == ErrorKind::kUsage) return CorruptError(MessageOf(bytes.status()));
  if (!bytes.ok()) return bytes.status();
  return DecodeKnownRows(*bytes, shape.rows, shape.relation_rows, path.string());
}

// The edges that are trained, where these are not all. `known` is there then.
absl::StatusOr<std::optional<CellReader>> MakeTrainedEdges(const Graph& graph, const TrainOptions& options,
                                                           const RunPaths& paths, const std::optional<KnownRows>& known,
                                                           bool drop_behind, const std::function<bool()>& stop = {}) {
  if (options.edges == TrainEdges::kAll) return std::nullopt;
  const bool relations = options.model_spec().RelationWidth() > 0;
  ASSIGN_OR_RETURN(CellReader edges, WriteTrainedEdges(graph, *known, relations, paths.TrainedEdges(), stop));
  if (drop_behind) edges.DropBehind();
  return edges;
}

const KnownRows* FrozenRows(const TrainOptions& options, const std::optional<KnownRows>& known) {
  return options.freeze == Freeze::kOld ? &*known : nullptr;
}

// What a training goes on with.
struct BegunRun {
  std::unique_ptr<MmapGradientAccumulator> gradients;
  std::unique_ptr<RunTables> tables;
  std::optional<KnownRows> known;   // where the options need it
  std::optional<CellReader> edges;  // that are trained; empty: all
  InitialEvent initial;             // of a warm start
};

// What is written when the rows of a warm start are there and no commit names them yet. Nothing to train is an error
// while there is no run.
absl::Status SealInit(InitialVectors& vectors, const Graph& graph, const TrainOptions& options, const RunPaths& paths,
                      bool drop_behind, bool sync, BegunRun& run, Progress& first) {
  ASSIGN_OR_RETURN(run.initial, vectors.Finish());
  if (options.needs_known_rows()) {
    run.known = vectors.known();
    RETURN_IF_ERROR(WriteWholeFileAtomically(paths.KnownRows(), EncodeKnownRows(*run.known)));
  }
  ASSIGN_OR_RETURN(run.edges, MakeTrainedEdges(graph, options, paths, run.known, drop_behind, vectors.stop()));
  ASSIGN_OR_RETURN(File mark, File::Create(paths.Beginning()));
  RETURN_IF_ERROR(mark.Close());
  ASSIGN_OR_RETURN(MetricsLog metrics, MetricsLog::Open(paths.Metrics(), 0));
  RETURN_IF_ERROR(metrics.Append(run.initial));
  if (sync) RETURN_IF_ERROR(metrics.Sync());
  first.metrics_bytes = metrics.bytes();
  first.step = vectors.step();
  return Failpoint("initial.seal");
}

// The space of the tables is set aside at once, that of the copies is not: what they will need is compared with what
// there is.
absl::Status CheckRoomForBest(const TrainOptions& options, const GraphDescription& graph, const RunPaths& paths) {
  if (options.keep != Keep::kBest) return absl::OkStatus();
  std::error_code error;
  const fs::space_info space = fs::space(paths.folder(), error);
  const std::uint64_t needed = 4 * graph.node_count * NodeBytes(options);
  if (error || space.available >= needed) return absl::OkStatus();
  return RuntimeError(fmt::format(
      "{}: {} are free and {} needed: two slots of the tables, and with keep best two copies of them, while the newer "
      "takes the place of the older",
      paths.folder().string(), FormatByteSize(space.available), FormatByteSize(needed)));
}

PartitionShape DivisionOf(const Progress& progress) {
  return {static_cast<std::uint32_t>(progress.partitions), static_cast<std::uint32_t>(progress.resident)};
}

absl::Status CheckDivision(const RunPaths& paths, const Progress& progress, const GraphDescription& graph) {
  const PartitionShape shape = DivisionOf(progress);
  const bool valid = shape.partitions >= 1 && shape.partitions <= graph.partition_count &&
                     shape.resident <= shape.partitions && shape.resident >= std::min(shape.partitions, 2U) &&
                     progress.plan_epoch <= progress.epoch;
  if (valid) return absl::OkStatus();
  return CorruptError(fmt::format(
      "{}: {} partitions, {} resident, from epoch {}; expected what {} fine partitions allow", paths.State().string(),
      progress.partitions, progress.resident, progress.plan_epoch + 1, graph.partition_count));
}

// Returns how a resumed run goes on from its next epoch, and tells the caller.
absl::StatusOr<PartitionShape> NextDivision(const TrainOptions& options, const GraphDescription& graph,
                                            const Progress& progress, const TrainSettings& settings,
                                            const TrainCallbacks& callbacks) {
  const PartitionShape now = DivisionOf(progress);
  PartitionShape next = now;
  const bool ends = progress.epoch + (progress.batch > 0 ? 1 : 0) >= options.epochs;  // there is no next epoch
  if (settings.divide_anew && !ends) {
    ASSIGN_OR_RETURN(next, ChooseShape(options, graph, settings.memory, settings.threads));
  }
  if (progress.batch > 0 || (next == now && !ends)) {
    const MemoryEstimate estimate = EstimateTrainingMemory(options, graph, settings.threads, now);
    if (const absl::Status status = CheckMemory(estimate, settings.memory); !status.ok()) {
      return UsageError(fmt::format("{} divides the tables into {} partitions, {} of them resident: {}",
                                    progress.batch > 0 ? "the epoch that was begun" : "the run", now.partitions,
                                    now.resident, MessageOf(status)));
    }
  }
  if (callbacks.on_division) {
    const std::uint64_t from = progress.epoch + (progress.batch > 0 && next != now ? 2 : 1);
    callbacks.on_division({.shape = next, .from_epoch = from, .changed = next != now});
  }
  return next;
}

absl::Status CheckIsRun(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const bool there, FileExists(paths.State()));
  ASSIGN_OR_RETURN(const bool replaced, IsBeingReplaced(paths));
  if (there || replaced) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_graph, FileExists(GraphPaths(paths.folder()).Description()));
  return UsageError(fmt::format("{}: {}; octavo train makes one", paths.folder().string(),
                                is_graph ? "is a graph, and no run" : "no run here (there is no STATE)"));
}

// Where a run stands and how it goes on.
struct Resumption {
  RunConfiguration configuration;  // with the new number of epochs, and the graph's new place
  bool configuration_changed = false;
  std::unique_ptr<Graph> graph;
  Manifest manifest;
  PartitionShape next;  // of the next epoch
};

absl::StatusOr<Resumption> ReadResumption(const RunPaths& paths, std::uint64_t epochs, const fs::path& graph_folder,
                                          const TrainSettings& settings, const TrainCallbacks& callbacks) {
  Resumption resumption;
  ASSIGN_OR_RETURN(resumption.configuration, ReadRunConfiguration(paths.Configuration()));
  TrainOptions& options = resumption.configuration.options;
  resumption.configuration_changed = !graph_folder.empty() || (epochs != 0 && epochs != options.epochs);
  if (!graph_folder.empty()) resumption.configuration.graph = fs::absolute(graph_folder);
  ASSIGN_OR_RETURN(resumption.graph, Graph::Open(resumption.configuration.graph));
  if (epochs != 0) options.epochs = epochs;
  RETURN_IF_ERROR(CheckTrainable(*resumption.graph, options));
  // Before the tables are opened, which sets aside the space of their second files again.
  ASSIGN_OR_RETURN(resumption.manifest, ReadNewestManifest(paths.State()));
  if (resumption.manifest.header.graph_fingerprint != resumption.graph->description().fingerprint) {
    return CorruptError(fmt::format("{}: the run was trained on a graph with fingerprint {:016x}; {} has {:016x}",
                                    paths.folder().string(), resumption.manifest.header.graph_fingerprint,
                                    resumption.graph->paths().folder().string(),
                                    resumption.graph->description().fingerprint));
  }
  const Progress& done = resumption.manifest.header.progress;
  const std::uint64_t begun = done.epoch + (done.batch > 0 ? 1 : 0);
  if (begun > options.epochs) {
    return UsageError(fmt::format("{}: {} {} done already{}; expected --epochs of at least {}", paths.folder().string(),
                                  CountText(done.epoch, "epoch"), done.epoch == 1 ? "is" : "are",
                                  done.batch > 0 ? " and the next is begun" : "", begun));
  }
  RETURN_IF_ERROR(CheckDivision(paths, done, resumption.graph->description()));
  ASSIGN_OR_RETURN(resumption.next, NextDivision(options, resumption.graph->description(), done, settings, callbacks));
  return resumption;
}

// A disk that has not what the run will need on top of what its files hold.
absl::Status CheckDiskSpace(const RunPaths& paths, std::uint64_t needed) {
  std::uint64_t held = 0;
  std::error_code error;
  for (const RunPaths& run : {paths, paths.Best()}) {
    for (const fs::path& path : run.All()) {
      const std::uintmax_t bytes = fs::file_size(path, error);
      if (!error) held += bytes;
    }
  }
  fs::path folder = fs::absolute(paths.folder());
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= needed - std::min(needed, held)) return absl::OkStatus();
  return RuntimeError(
      fmt::format("{}: {} are free and {} needed; expected another disk, or a smaller dim, or storage bf16",
                  folder.string(), FormatByteSize(space.available + held), FormatByteSize(needed)));
}

// Makes a run up to its first commit, on the disk where `sync`. `vectors` is null where it begins with no other's rows.
absl::StatusOr<BegunRun> BeginRun(const Graph& graph, const RunConfiguration& configuration, const RunPaths& paths,
                                  const PartitionShape& division, InitialVectors* vectors, bool drop_behind,
                                  bool sync) {
  const TrainOptions& options = configuration.options;
  RETURN_IF_ERROR(WriteRunConfiguration(paths.Configuration(), configuration));
  // Before the first commit: a disk that is too small is an error while there is no run yet.
  BegunRun run;
  ASSIGN_OR_RETURN(run.gradients, MakeGradients(paths, options, graph.description(), division, division));
  const RunShape shape = ShapeOf(options, graph.description(), division);
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
      return SealInit(*vectors, graph, options, paths, drop_behind, sync, run, first);
    };
  }
  const auto embedding = [&](std::uint64_t row, std::span<float> values) {
    InitialEmbedding(options, scale, row, values);
  };
  const auto relation = [&](std::uint64_t row, std::span<float> values) {
    InitialRelation(options, relation_scale, row, values);
    if (vectors != nullptr) vectors->CopyRelation(row, values);
  };
  ASSIGN_OR_RETURN(run.tables, RunTables::Create(paths, shape, embedding, relation, sync, beginning));
  RETURN_IF_ERROR(RemoveFile(paths.Beginning()));
  return run;
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
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(graph_folder));
  RETURN_IF_ERROR(CheckTrainable(*graph, options));
  ASSIGN_OR_RETURN(const PartitionShape division,
                   ChooseShape(options, graph->description(), settings.memory, settings.threads));
  if (callbacks.on_division) callbacks.on_division({.shape = division, .from_epoch = 1});
  const bool drop_behind = LeaveRoom(*graph, options, division, settings);
  const RunPaths paths(folder);
  ASSIGN_OR_RETURN(std::unique_ptr<InitialVectors> vectors, OpenInit(*graph, options, settings, init, paths));
  RETURN_IF_ERROR(CheckFolder(paths));
  const RunConfiguration configuration = {.options = options,
                                          .graph = fs::absolute(graph_folder),
                                          .init = {.source = init.given() ? fs::absolute(init.source) : fs::path(),
                                                   .names = init.names.empty() ? fs::path() : fs::absolute(init.names),
                                                   .optimizer_state = init.optimizer_state}};
  RETURN_IF_ERROR(EncodeRunConfiguration(configuration).status());
  RETURN_IF_ERROR(CreateFolders(paths.folder()));
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
  RETURN_IF_ERROR(SettleReplacement(paths));
  if (!overwrite) RETURN_IF_ERROR(CheckUnused(paths));
  ASSIGN_OR_RETURN(const bool has_older, FileExists(paths.State()));
  if (has_older) {
    RETURN_IF_ERROR(CheckRemovable(paths));
    RETURN_IF_ERROR(CheckDiskSpace(paths, DiskSpaceOf(options, graph->description(), division).training));
  }
  // The older run stands until all that the new one begins with was read.
  const bool replaces = has_older && vectors != nullptr;
  const RunPaths place = replaces ? paths.Replacement() : paths;
  RETURN_IF_ERROR(replaces ? CreateFolders(place.folder()) : RemoveRun(paths));
  if (!has_older) RETURN_IF_ERROR(CheckRoomForBest(options, graph->description(), paths));
  // What takes the place of a run that a power cut would have spared is to survive one as well.
  const bool sync = replaces || options.durability == Durability::kFull;
  const auto put = [&]() -> absl::StatusOr<BegunRun> {
    ASSIGN_OR_RETURN(BegunRun run, BeginRun(*graph, configuration, place, division, vectors.get(), drop_behind, sync));
    if (!replaces) return run;
    run.tables.reset();  // they know the place by its name
    run.gradients.reset();
    RETURN_IF_ERROR(ReplaceRun(paths));
    ASSIGN_OR_RETURN(run.gradients, MakeGradients(paths, options, graph->description(), division, division));
    ASSIGN_OR_RETURN(run.tables, RunTables::Open(paths, ShapeOf(options, graph->description(), division),
                                                 options.durability == Durability::kFull));
    ASSIGN_OR_RETURN(run.edges, MakeTrainedEdges(*graph, options, paths, run.known, drop_behind));
    return run;
  };
  absl::StatusOr<BegunRun> run = put();
  if (!run.ok()) {
    if (replaces) static_cast<void>(SettleReplacement(paths));
    return run.status();
  }
  if (vectors != nullptr && callbacks.on_initial) callbacks.on_initial(run->initial);
  vectors.reset();  // the training needs their memory
  return TrainingLoop(*graph, run->edges ? *run->edges : graph->Edges(Split::kTrain), FrozenRows(options, run->known),
                      options, paths, *run->tables, *run->gradients, division, settings, callbacks)
      .Run(/*past_patience=*/false);
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
  RETURN_IF_ERROR(CheckDiskSpace(paths, start.plan.disk_bytes));
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
  RETURN_IF_ERROR(ChooseShape(on_base, graph->description(), settings.memory, settings.threads).status());
  return CheckPlace(*graph, on_base, overwrite, settings, init, RunPaths(folder));
}

absl::StatusOr<TrainingStart> CheckResume(const fs::path& folder, std::uint64_t epochs, const TrainSettings& settings,
                                          const fs::path& graph_folder) {
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckIsRun(paths));
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
  RETURN_IF_ERROR(CheckDiskSpace(paths, start.plan.disk_bytes));
  return start;
}

absl::StatusOr<TrainOutcome> ResumeRun(const fs::path& folder, std::uint64_t epochs, const TrainSettings& settings,
                                       const TrainCallbacks& callbacks, const fs::path& graph_folder) {
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckIsRun(paths));
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
  RETURN_IF_ERROR(SettleReplacement(paths));
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
