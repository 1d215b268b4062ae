#include "train/trainer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "checkpoint/run_lock.h"
#include "checkpoint/run_tables.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/failpoint.h"
#include "tables/mmap_gradient_accumulator.h"
#include "train/batch_step.h"
#include "train/initial_rows.h"
#include "train/memory_estimate.h"
#include "train/run_configuration.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

RunShape ShapeOf(const TrainOptions& options, const GraphDescription& graph) {
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
          .seed = options.seed};
}

// The loop over epochs and batches; one object a process and run.
class Trainer {
 public:
  Trainer(const Graph& graph, const TrainOptions& options, const RunPaths& paths, RunTables& tables,
          const TrainSettings& settings, const TrainCallbacks& callbacks)
      : graph_(graph),
        options_(options),
        paths_(paths),
        tables_(tables),
        settings_(settings),
        callbacks_(callbacks),
        progress_(tables.progress()),
        batches_(graph.Edges(Split::kTrain), options.seed, options.batch, kWindowEdges, options.prefetch) {}

  absl::StatusOr<TrainOutcome> Run();

 private:
  absl::Status Prepare();
  absl::Status RunEpoch();
  absl::Status RunBatch(std::uint64_t batch);
  absl::Status CommitHere();
  absl::Status CommitEpoch();
  EpochEvent MakeEvent();
  bool Stopping() const { return settings_.stop != nullptr && settings_.stop->load(std::memory_order_relaxed) != 0; }
  bool CommitDue() const {
    return options_.checkpoint_minutes > 0 && SecondsSince(last_commit_) >= options_.checkpoint_minutes * 60;
  }

  const Graph& graph_;
  const TrainOptions& options_;
  const RunPaths& paths_;
  RunTables& tables_;
  const TrainSettings& settings_;
  const TrainCallbacks& callbacks_;
  Progress progress_;  // of the work done, committed or not
  BatchPrefetcher batches_;
  std::unique_ptr<MmapGradientAccumulator> gradients_;
  std::unique_ptr<BatchStep> step_;
  std::unique_ptr<MetricsLog> metrics_;
  // Of the epoch under way, in this process.
  Clock::time_point epoch_begin_{};
  Clock::time_point last_commit_ = Clock::now();
  std::uint64_t edges_here_ = 0;
  double learning_rate_ = 0;
  double commit_seconds_ = 0;
  std::uint64_t loads_ = 0;
  std::uint64_t edge_bytes_before_ = 0;
  std::uint64_t table_bytes_read_before_ = 0;
  std::uint64_t table_bytes_written_before_ = 0;
};

absl::Status Trainer::Prepare() {
  for (std::uint32_t p = 0; p < tables_.embeddings().partition_count(); ++p) {
    RETURN_IF_ERROR(tables_.LoadPartition(static_cast<PartitionId>(p)));
    ++loads_;
  }
  ASSIGN_OR_RETURN(gradients_, MmapGradientAccumulator::Create(paths_.Gradients(), options_.dim,
                                                               MaxTouchedRows(options_, graph_.description())));
  step_ = std::make_unique<BatchStep>(options_, graph_,
                                      StepTables{.embeddings = tables_.embeddings(),
                                                 .optimizer = tables_.optimizer(),
                                                 .relations = tables_.relations(),
                                                 .relation_optimizer = tables_.relation_optimizer(),
                                                 .gradients = *gradients_});
  ASSIGN_OR_RETURN(MetricsLog log, MetricsLog::Open(paths_.Metrics(), progress_.metrics_bytes));
  metrics_ = std::make_unique<MetricsLog>(std::move(log));
  return absl::OkStatus();
}

absl::Status Trainer::RunBatch(std::uint64_t batch) {
  RETURN_IF_ERROR(batches_.Advance(batch));
  const std::span<const Edge> edges = batches_.Batch();
  ASSIGN_OR_RETURN(const ChunkLoss loss, step_->Compute({.epoch = progress_.epoch, .batch = batch}, edges));
  progress_.epoch_loss += loss.loss;
  progress_.epoch_penalty += loss.penalty;
  progress_.epoch_edges += edges.size();
  progress_.batch = batch + 1;
  edges_here_ += edges.size();
  return absl::OkStatus();
}

absl::Status Trainer::RunEpoch() {
  const std::uint64_t count = batches_.BatchCount();
  batches_.BeginEpoch(progress_.epoch);
  epoch_begin_ = Clock::now();
  edges_here_ = 0;
  commit_seconds_ = 0;
  for (std::uint64_t batch = progress_.batch; batch < count; ++batch) {
    RETURN_IF_ERROR(Failpoint("train.batch"));
    RETURN_IF_ERROR(RunBatch(batch));
    // Between windows the tables are whole: here, and only here, is an update made, a commit, or a stop.
    if ((batch + 1) % options_.accumulate != 0 && batch + 1 != count) continue;
    learning_rate_ = LearningRateAt(options_.learning_rate_schedule, static_cast<float>(options_.learning_rate),
                                    progress_.epoch * count + batch, options_.epochs * count);
    RETURN_IF_ERROR(step_->Apply(static_cast<float>(learning_rate_), ++progress_.step));
    if (callbacks_.on_batch) {
      callbacks_.on_batch({.epoch = progress_.epoch + 1,
                           .epochs = options_.epochs,
                           .batch = progress_.batch,
                           .batches = count,
                           .loss = progress_.epoch_loss / (2.0 * static_cast<double>(progress_.epoch_edges)),
                           .edges_per_second = static_cast<double>(edges_here_) / SecondsSince(epoch_begin_)});
    }
    if (batch + 1 == count) break;
    if (Stopping()) return CommitHere();
    if (CommitDue()) RETURN_IF_ERROR(CommitHere());
  }
  return CommitEpoch();
}

absl::Status Trainer::CommitHere() {
  const Clock::time_point begin = Clock::now();
  RETURN_IF_ERROR(step_->CheckRows());
  RETURN_IF_ERROR(tables_.Commit(progress_));
  commit_seconds_ += SecondsSince(begin);
  last_commit_ = Clock::now();
  return absl::OkStatus();
}

EpochEvent Trainer::MakeEvent() {
  const auto [fetch, stall] = batches_.TakeFetchAndStallSeconds();
  const StepTimes times = step_->TakeTimes();
  const double sides = 2.0 * static_cast<double>(progress_.epoch_edges);
  const std::uint64_t edge_bytes = batches_.BytesRead();
  EpochEvent event;
  event.epoch = progress_.epoch + 1;
  event.loss = progress_.epoch_loss / sides;
  event.penalty = progress_.epoch_penalty / sides;
  event.edges = progress_.epoch_edges;
  event.learning_rate = learning_rate_;
  event.seconds = SecondsSince(epoch_begin_);
  event.edges_per_second = static_cast<double>(edges_here_) / event.seconds;
  event.fetch_seconds = fetch;
  event.compute_seconds = times.compute_seconds;
  event.apply_seconds = times.apply_seconds;
  event.stall_seconds = stall;
  event.commit_seconds = commit_seconds_;
  event.partition_loads = std::exchange(loads_, 0);
  const std::uint64_t tables_read = tables_.bytes_read() - table_bytes_read_before_;
  // Planned: each edge once, and each partition that this epoch had to load.
  event.planned_read_bytes = edges_here_ * EdgeBytes(graph_.Edges(Split::kTrain).header()) + tables_read;
  event.read_bytes = edge_bytes - edge_bytes_before_ + tables_read;
  event.planned_written_bytes = tables_.whole_bytes();
  event.written_bytes = tables_.bytes_written() - table_bytes_written_before_;
  event.peak_rss_bytes = PeakResidentBytes();
  edge_bytes_before_ = edge_bytes;
  table_bytes_read_before_ = tables_.bytes_read();
  table_bytes_written_before_ = tables_.bytes_written();
  return event;
}

absl::Status Trainer::CommitEpoch() {
  const Clock::time_point begin = Clock::now();
  RETURN_IF_ERROR(step_->CheckRows());
  EpochEvent event;
  const auto seal = [&](Progress& next) -> absl::Status {
    commit_seconds_ += SecondsSince(begin);
    event = MakeEvent();
    RETURN_IF_ERROR(metrics_->Append(event));
    next.metrics_bytes = metrics_->bytes();
    return options_.durability == Durability::kFull ? metrics_->Sync() : absl::OkStatus();
  };
  RETURN_IF_ERROR(tables_.Commit(Progress{.epoch = progress_.epoch + 1, .step = progress_.step}, seal));
  progress_ = tables_.progress();
  last_commit_ = Clock::now();
  if (callbacks_.on_epoch) callbacks_.on_epoch(event);
  return absl::OkStatus();
}

absl::StatusOr<TrainOutcome> Trainer::Run() {
  if (absl::Status status = Prepare(); !status.ok()) return status;
  while (progress_.epoch < options_.epochs && !Stopping()) {
    if (absl::Status status = RunEpoch(); !status.ok()) return status;
  }
  const bool finished = progress_.epoch >= options_.epochs;
  if (finished) {
    if (absl::Status status = tables_.Finish(); !status.ok()) return status;
  }
  return TrainOutcome{.finished = finished, .generation = tables_.generation(), .epochs_done = progress_.epoch};
}

absl::Status RemoveRun(const RunPaths& paths) {
  // STATE first: without it what is left is no run, however far this gets. run.json stays until the next is written: it
  // says that what is left was a run's.
  for (const fs::path& path : paths.All()) {
    if (path == paths.Lock() || path == paths.Configuration()) continue;
    std::error_code error;
    fs::remove(path, error);
    if (error) return RuntimeError(fmt::format("{}: remove: {}", path.string(), error.message()));
  }
  return SyncFolder(paths.folder());
}

absl::Status PrepareFolder(const RunPaths& paths) {
  std::error_code error;
  if (fs::exists(paths.folder(), error) && !fs::is_directory(paths.folder(), error)) {
    return UsageError(fmt::format("{}: exists and is not a folder", paths.folder().string()));
  }
  fs::create_directories(paths.folder(), error);
  if (error) return RuntimeError(fmt::format("{}: create: {}", paths.folder().string(), error.message()));
  return absl::OkStatus();
}

// A folder with a run, or with files of a run's names that no training left there, is not taken without --overwrite. A
// training that was stopped before its first commit leaves run.json and no STATE.
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
  // metrics.jsonl comes after the first commit: with it there was a run once, and its vectors may be all that is left.
  const bool stopped_early =
      has(paths.Configuration()) && !has(paths.Metrics()) && ReadRunConfiguration(paths.Configuration()).ok();
  if (stopped_early) return absl::OkStatus();
  for (const fs::path& path : there) {
    return UsageError(
        fmt::format("{}: is there and belongs to no run; choose another folder, or say --overwrite", path.string()));
  }
  return absl::OkStatus();
}

absl::Status CheckTrainable(const Graph& graph, const TrainOptions& options, const TrainSettings& settings) {
  RETURN_IF_ERROR(ValidateTrainOptions(options));
  if (graph.description().train_edges == 0) {
    return UsageError(fmt::format("{}: no training edges", graph.paths().folder().string()));
  }
  return CheckMemory(EstimateTrainingMemory(options, graph.description(), settings.threads), settings.memory);
}

}  // namespace

absl::StatusOr<TrainOutcome> StartRun(const fs::path& graph_folder, const fs::path& folder, const TrainOptions& options,
                                      bool overwrite, const TrainSettings& settings, const TrainCallbacks& callbacks) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(graph_folder));
  RETURN_IF_ERROR(CheckTrainable(*graph, options, settings));
  const RunPaths paths(folder);
  RETURN_IF_ERROR(PrepareFolder(paths));
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
  if (!overwrite) RETURN_IF_ERROR(CheckUnused(paths));
  RETURN_IF_ERROR(RemoveRun(paths));
  RETURN_IF_ERROR(
      WriteRunConfiguration(paths.Configuration(), {.options = options, .graph = fs::absolute(graph_folder)}));
  const double scale = InitialScale(options);
  ASSIGN_OR_RETURN(
      const std::unique_ptr<RunTables> tables,
      RunTables::Create(
          paths, ShapeOf(options, graph->description()),
          [&](std::uint64_t row, std::span<float> values) { InitialEmbedding(options, scale, row, values); },
          [&](std::uint64_t row, std::span<float> values) { InitialRelation(options, scale, row, values); },
          options.durability == Durability::kFull));
  return Trainer(*graph, options, paths, *tables, settings, callbacks).Run();
}

absl::StatusOr<TrainOutcome> ResumeRun(const fs::path& folder, std::uint64_t epochs, const TrainSettings& settings,
                                       const TrainCallbacks& callbacks) {
  const RunPaths paths(folder);
  std::error_code error;
  if (!fs::exists(paths.State(), error)) {
    return UsageError(fmt::format("{}: no run here (there is no STATE)", folder.string()));
  }
  ASSIGN_OR_RETURN(const RunLock lock, RunLock::Take(paths.Lock()));
  ASSIGN_OR_RETURN(RunConfiguration configuration, ReadRunConfiguration(paths.Configuration()));
  TrainOptions& options = configuration.options;
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(configuration.graph));
  const std::uint64_t epochs_before = options.epochs;
  if (epochs != 0) options.epochs = epochs;
  RETURN_IF_ERROR(CheckTrainable(*graph, options, settings));
  // Before the tables are opened, which sets aside the space of their second files again.
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(paths.State()));
  const Progress& done = manifest.header.progress;
  const std::uint64_t begun = done.epoch + (done.batch > 0 ? 1 : 0);
  if (begun > options.epochs) {
    return UsageError(fmt::format("{}: {} epochs are done already{}; expected --epochs of at least {}", folder.string(),
                                  done.epoch, done.batch > 0 ? " and the next is begun" : "", begun));
  }
  ASSIGN_OR_RETURN(
      const std::unique_ptr<RunTables> tables,
      RunTables::Open(paths, ShapeOf(options, graph->description()), options.durability == Durability::kFull));
  if (options.epochs != epochs_before) RETURN_IF_ERROR(WriteRunConfiguration(paths.Configuration(), configuration));
  return Trainer(*graph, options, paths, *tables, settings, callbacks).Run();
}

}  // namespace octavo
