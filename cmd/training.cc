#include "cmd/training.h"

#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/duration.h"
#include "base/escape.h"
#include "base/status.h"
#include "cmd/interrupt.h"
#include "cmd/limits.h"
#include "cmd/next_commands.h"
#include "cmd/validation.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "ranks/plugin_transport.h"
#include "run/run_folder.h"
#include "run/training_remarks.h"

namespace octavo {
namespace {

void ReportEpoch(Reporter& reporter, const EpochEvent& event, std::uint64_t epochs) {
  reporter.Info(fmt::format("epoch {}/{}  loss {:.5f}  {}  {:.0f} edges/s", event.epoch, epochs, event.loss,
                            DurationText(event.seconds), event.edges_per_second));
  reporter.Detail(fmt::format(
      "  fetch {:.2f} s, compute {:.2f} s, apply {:.2f} s, stall {:.2f} s, commit {:.2f} s; {} of {} windows of edges "
      "prefetched; peak memory {}",
      event.fetch_seconds, event.compute_seconds, event.apply_seconds, event.stall_seconds, event.commit_seconds,
      event.prefetched_windows, event.windows, FormatByteSize(event.peak_rss_bytes)));
  const std::string traffic =
      fmt::format("  loads {} (planned {}), read {} (planned {}), written {} (planned {}), {:.2f} s in the background",
                  event.partition_loads, event.planned_partition_loads, FormatByteSize(event.read_bytes),
                  FormatByteSize(event.planned_read_bytes), FormatByteSize(event.written_bytes),
                  FormatByteSize(event.planned_written_bytes), event.exchange_seconds);
  if (event.lanes > 1) {
    reporter.Detail(fmt::format("  {} lanes in {} rounds: the slowest of each round {:.2f} s together, balance {:.2f}",
                                event.lanes, event.rounds, event.slowest_lane_seconds, event.lane_balance));
  }
  if (event.ranks > 1) {
    reporter.Info(fmt::format("  {} ranks: moved {}, sending took {:.2f} s, rank {} waited most: {:.2f} s", event.ranks,
                              FormatByteSize(event.moved_bytes), event.moving_seconds, event.waiting_rank,
                              event.waited_seconds));
  }
  if (event.partitions > event.resident) {
    reporter.Info(traffic);
  } else {
    reporter.Detail(traffic);
  }
}

void ReportInit(Reporter& reporter, const InitialEvent& event) {
  reporter.Info(fmt::format("{} of {} nodes and {} of {} relation rows start with those of {}, which has {} vectors{}",
                            event.nodes, event.all_nodes, event.relation_rows, event.all_relation_rows, event.source,
                            event.vectors, event.optimizer_state ? "; with optimizer state" : ""));
  if (event.nodes == 0) reporter.Warning(fmt::format("no node has a name in {}", event.source));
}

void ReportValidation(Reporter& reporter, const ValidationEvent& event) {
  const std::string rank = event.best_epoch == event.epoch
                               ? std::string("the best so far")
                               : fmt::format("best {:.4f} after epoch {}", event.best_mrr, event.best_epoch);
  reporter.Info(fmt::format("validation after epoch {}: MRR {:.4f}  hits@10 {:.4f}  {}; {}{}", event.epoch,
                            event.scores.mrr, event.scores.hits_at_10, DurationText(event.seconds), rank,
                            event.learning_rate_factor < 1
                                ? fmt::format("; learning rate times {:.4g}", event.learning_rate_factor)
                                : std::string()));
}

std::string DivisionText(const PartitionShape& shape, std::uint64_t lanes) {
  if (lanes > 1) {
    return fmt::format("{} lanes in {} rounds an epoch{}", lanes, 2 * lanes - 1,
                       shape.WholeGraph() ? std::string()
                                          : fmt::format("; the tables of a lane in {} partitions, {} of them in memory",
                                                        shape.partitions, shape.resident));
  }
  if (shape.WholeGraph()) return "all tables are in memory";
  return fmt::format("tables in {} partitions, {} of them in memory", shape.partitions, shape.resident);
}

void ReportDivision(Reporter& reporter, const TrainDivision& division, std::uint64_t memory) {
  const std::string how = DivisionText(division.shape, division.lanes);
  if (division.changed) {
    reporter.Warning(
        fmt::format("from epoch {} on: {}, to fit --memory {} (so far {}, which takes {}); from then on the "
                    "bits differ from those that the previous division would give",
                    division.from_epoch, how, FormatByteSize(memory), DivisionText(division.before, division.lanes),
                    FormatByteSize(division.memory_before)));
  } else if (division.shape.WholeGraph() && division.lanes == 1) {
    reporter.Detail(how);
  } else {
    reporter.Info(how);
  }
}

}  // namespace

std::string LoadingText(const LoadingChoice& choice) {
  return fmt::format("exchange {}: {}", LoadingName(choice.loading), choice.why);
}

ShownProgress ProgressOf(const TrainProgress& progress) {
  return {.phase = fmt::format("epoch {}/{}", progress.epoch, progress.epochs),
          .share = static_cast<double>(progress.batch) / static_cast<double>(progress.batches),
          .done = static_cast<double>(progress.edges),
          .unit = "edges",
          .later = progress.epochs - progress.epoch,
          .detail = fmt::format("loss {:.4f}", progress.loss)};
}

void ReportChoice(Reporter& reporter, const std::optional<Choice>& choice) {
  if (!choice) return;
  reporter.Info(fmt::format("the graph: {}", choice->facts));
  reporter.Info(fmt::format("chosen: {}", choice->chosen));
  if (!choice->reasons.empty()) reporter.Info(fmt::format("because: {}", choice->reasons));
}

TrainSettings SettingsOf(const Program& program) {
  TrainSettings settings;
  settings.threads = ThreadCount(program);
  settings.memory = MemoryLimit(program);
  settings.ranks = program.ranks.get();
  settings.divide_anew = program.options.memory > 0;
  return settings;
}

void ReportStart(Program& program, const std::filesystem::path& run, const TrainingStart& start) {
  const TrainOptions& options = start.options;
  const TrainingPlan& plan = start.plan;
  const std::string from = start.generation == 0
                               ? std::string("new")
                               : fmt::format("generation {}, {} and {} done", start.generation,
                                             CountText(start.epoch, "epoch"), CountText(start.batch, "batch"));
  program.reporter.Info(fmt::format("{}: {}; {}, dim {}, to epoch {} of {} each", run.string(), from,
                                    ModelName(options.model), options.dim, options.epochs,
                                    CountText(start.graph.train_edges, "edge")));
  for (const std::string& remark : TrainingRemarks(start.graph, options)) program.reporter.Info("note: " + remark);
  program.reporter.Info(fmt::format("memory: {} of {}; {}", FormatByteSize(plan.estimate.total()),
                                    FormatByteSize(plan.memory), DivisionText(plan.shape, start.options.lanes)));
  program.reporter.Info(LoadingText(plan.loading));
  program.reporter.Info(fmt::format("disk: {} while it trains, {} when done", FormatByteSize(plan.disk_bytes),
                                    FormatByteSize(plan.disk_bytes_after)));
  program.reporter.Info("--dry-run: nothing was written");
}

std::string_view UncommittedFate(const RunPaths& run) {
  if (std::error_code ignored; std::filesystem::exists(run.State(), ignored)) return "is as it was before";
  return IsUntrained(run) ? "has nothing trained yet; the same command begins it again" : "was not made";
}

std::atomic<bool>* CatchTrainingRequests() {
  if (!IsLaunched()) return &CatchCommitRequests();
  CatchStopRequests();
  return nullptr;
}

absl::Status RunTraining(
    Program& program, const std::filesystem::path& run,
    const std::function<absl::StatusOr<TrainOutcome>(const TrainSettings&, const TrainCallbacks&)>& work) {
  CatchInterrupts();
  TrainSettings settings = SettingsOf(program);
  settings.validate = MakeValidator(program);
  settings.stop = &InterruptSignal();
  settings.commit = CatchTrainingRequests();

  std::uint64_t epochs = 0;
  TrainCallbacks callbacks;
  GraphDescription graph;
  bool trained_any = false;
  callbacks.on_begin = [&](const GraphDescription& description, const TrainOptions& options) {
    graph = description;
    program.reporter.Info(fmt::format("trains {}", TrainingText(options)));
    program.reporter.Info(fmt::format("on {}, in {}", GraphText(graph), run.string()));
    for (const std::string& remark : TrainingRemarks(graph, options)) program.reporter.Info("note: " + remark);
  };
  callbacks.on_warning = [&](std::string_view text) { program.reporter.Warning(text); };
  callbacks.on_division = [&](const TrainDivision& division) {
    ReportDivision(program.reporter, division, settings.memory);
  };
  callbacks.on_loading = [&](const LoadingChoice& choice) { program.reporter.Info(LoadingText(choice)); };
  callbacks.on_initial = [&](const InitialEvent& event) { ReportInit(program.reporter, event); };
  callbacks.on_batch = [&](const TrainProgress& progress) {
    epochs = progress.epochs;
    trained_any = true;
    program.reporter.Show(ProgressOf(progress));
  };
  callbacks.on_commit = [&](std::uint64_t generation) {
    if (!Interrupted()) program.reporter.Info(fmt::format("generation {} is committed", generation));
  };
  callbacks.on_epoch = [&](const EpochEvent& event) { ReportEpoch(program.reporter, event, epochs); };
  callbacks.on_validation = [&](const ValidationEvent& event) { ReportValidation(program.reporter, event); };

  const absl::StatusOr<TrainOutcome> trained = work(settings, callbacks);
  if (EndedByInterrupt(program, trained.status(), run.string(), UncommittedFate(RunPaths(run)))) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const TrainOutcome outcome, trained);
  if (outcome.finished) {
    const ValidationProgress& validation = outcome.validation;
    if (outcome.stopped_early) {
      program.reporter.Info(fmt::format("stopped early: no better validation since epoch {}", validation.best_epoch));
    }
    program.reporter.Info(fmt::format("done: {}, generation {} in {}", CountText(outcome.epochs_done, "epoch"),
                                      outcome.generation, run.string()));
    if (validation.best_epoch > 0) {
      program.reporter.Info(fmt::format(
          "best validation: MRR {:.4f} after epoch {}{}", validation.best_mrr, validation.best_epoch,
          outcome.kept_best ? fmt::format(", kept in {}", RunPaths(run).Best().folder().string()) : std::string()));
    }
    if (!trained_any) {  // it was finished before
      program.reporter.Info(
          fmt::format("nothing was left to train; with more epochs: octavo resume --run {} --epochs {}",
                      ShellWord(run.string()), 2 * outcome.epochs_done));
    }
    ReportNext(program.reporter, NextOfRun(run, graph));
    return absl::OkStatus();
  }
  program.reporter.Warning(
      fmt::format("stopped by {}: generation {} is committed; continue with: {}octavo resume --run {}", InterruptName(),
                  outcome.generation, program.ranks == nullptr ? "" : "the launcher and ", ShellWord(run.string())));
  program.exit_code = InterruptExitCode();
  return absl::OkStatus();
}

}  // namespace octavo
