#include "cmd/opened_run.h"

#include <filesystem>
#include <system_error>

#include "base/count_text.h"
#include "base/status.h"
#include "checkpoint/run_replacement.h"
#include "checkpoint/verify_state.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/file.h"
#include "run/run_configuration.h"
#include "run/run_exchange.h"

namespace octavo {

absl::Status CheckGraphPlace(const std::string& run, std::string_view flag) {
  // During a replacement the folder's contents are the older run's.
  ASSIGN_OR_RETURN(const bool replaced, IsBeingReplaced(RunPaths(run)));
  if (replaced) return absl::OkStatus();
  const absl::StatusOr<RunConfiguration> configuration = ReadRunConfiguration(RunPaths(run).Configuration());
  if (!configuration.ok()) return absl::OkStatus();
  std::error_code error;
  const bool there = std::filesystem::exists(GraphPaths(configuration->graph).Description(), error);
  if (there || error) return absl::OkStatus();
  return UsageError(fmt::format("{}: was trained on the graph {}, where there is none now; {} DIR names its new place",
                                run, configuration->graph.string(), flag));
}

absl::StatusOr<TrainedRun> OpenRun(Program& program, const RunFlags& flags) {
  if (flags.graph.empty()) RETURN_IF_ERROR(CheckGraphPlace(flags.run, "--graph"));
  absl::StatusOr<TrainedRun> run = OpenTrainedRun(flags.run, flags.graph);
  const std::string fallback = run.ok() ? DescribeFallback(RunPaths(flags.run).State()) : "";
  if (!fallback.empty()) program.reporter.Warning(fallback);
  return run;
}

absl::Status WarnIfToBeReplaced(Program& program, const std::string& run) {
  const RunPaths next = RunPaths(run).Replacement();
  ASSIGN_OR_RETURN(const bool made, FileExists(next.State()));
  ASSIGN_OR_RETURN(const ReplacementStage stage, StageOfReplacement(RunPaths(run)));
  if (made && stage == ReplacementStage::kMaking) {
    program.reporter.Warning(
        fmt::format("{}: a run that will replace {}, which is still valid; if no training is making it any more, "
                    "octavo resume removes it, and the command that made it can be repeated",
                    next.folder().string(), run));
  }
  return absl::OkStatus();
}

absl::Status WarnIfCommitted(Program& program, const RunFlags& flags, const TrainedRun& run) {
  ASSIGN_OR_RETURN(const bool committed, CommittedSince(flags.run, run));
  if (committed) {
    program.reporter.Warning(
        fmt::format("{}: a training committed while generation {} was read: rows may be from several commits",
                    flags.run, run.generation));
  }
  return absl::OkStatus();
}

std::string DescribeRun(const TrainedRun& run) {
  return fmt::format("{}{}, dim {}, {}", ModelName(run.model.kind), run.reciprocal ? " with reciprocals" : "",
                     run.model.dim, CountText(run.epochs_done, "epoch"));
}

}  // namespace octavo
