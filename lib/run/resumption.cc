#include "run/resumption.h"

#include <algorithm>
#include <string>

#include "base/count_text.h"
#include "base/status.h"
#include "checkpoint/run_replacement.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "io/file.h"
#include "plan/lane_schedule.h"
#include "run/telemetry.h"
#include "run/trainable.h"
#include "run/trained_run.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

absl::Status CheckDivision(const RunPaths& paths, const Progress& progress, const TrainOptions& options,
                           const GraphDescription& graph) {
  const PartitionShape shape = DivisionOf(progress);
  // With lanes the division is a lane's.
  const std::uint32_t divided = options.lanes == 1
                                    ? graph.partition_count
                                    : LargestLane(graph.partition_count, static_cast<std::uint32_t>(options.lanes));
  const bool valid = shape.partitions >= 1 && shape.partitions <= divided && shape.resident <= shape.partitions &&
                     shape.resident >= std::min(shape.partitions, 2U) && progress.plan_epoch <= progress.epoch;
  if (valid) return absl::OkStatus();
  return CorruptError(
      fmt::format("{}: {} partitions, {} resident, from epoch {}; expected a division that {} fine partitions allow",
                  paths.State().string(), progress.partitions, progress.resident, progress.plan_epoch + 1, divided));
}

}  // namespace

PartitionShape DivisionOf(const Progress& progress) {
  return {static_cast<std::uint32_t>(progress.partitions), static_cast<std::uint32_t>(progress.resident)};
}

absl::Status CheckIsRun(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const bool there, FileExists(paths.State()));
  ASSIGN_OR_RETURN(const bool replaced, IsBeingReplaced(paths));
  if (there || replaced) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_graph, FileExists(GraphPaths(paths.folder()).Description()));
  return UsageError(fmt::format("{}: {}; octavo train makes one", paths.folder().string(),
                                is_graph ? "is a graph, not a run" : "no run here (there is no STATE)"));
}

absl::StatusOr<std::optional<KnownRows>> ReadKnownRows(const TrainOptions& options, const RunPaths& paths,
                                                       const RunShape& shape) {
  if (!options.needs_known_rows()) return std::nullopt;
  const fs::path path = paths.KnownRows();
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path, KnownRows::FileBytes(shape.rows, shape.relation_rows));
  // The run's options require it: if missing, it is damaged.
  if (!bytes.ok() && KindOf(bytes.status()) == ErrorKind::kUsage) return CorruptError(MessageOf(bytes.status()));
  if (!bytes.ok()) return bytes.status();
  return DecodeKnownRows(*bytes, shape.rows, shape.relation_rows, path.string());
}

absl::StatusOr<Resumption> ReadResumption(const RunPaths& paths, std::uint64_t epochs, const fs::path& graph_folder,
                                          std::optional<ExchangeMode> exchange) {
  Resumption resumption;
  ASSIGN_OR_RETURN(resumption.configuration, ReadRunConfiguration(paths.Configuration()));
  TrainOptions& options = resumption.configuration.options;
  resumption.configuration_changed = !graph_folder.empty() || (epochs != 0 && epochs != options.epochs);
  if (!graph_folder.empty()) resumption.configuration.graph = fs::absolute(graph_folder);
  ASSIGN_OR_RETURN(resumption.graph, Graph::Open(resumption.configuration.graph));
  if (epochs != 0) options.epochs = epochs;
  if (exchange && *exchange != options.exchange) {
    options.exchange = *exchange;
    resumption.configuration_changed = true;
  }
  RETURN_IF_ERROR(CheckTrainable(*resumption.graph, options));
  // Before the tables are opened, which allocates the space of their second files again.
  ASSIGN_OR_RETURN(resumption.manifest, ReadNewestManifest(paths.State()));
  RETURN_IF_ERROR(CheckTrainedOn(*resumption.graph, paths.folder(), resumption.manifest.header));
  RETURN_IF_ERROR(MetricsLog::Check(paths.Metrics(), resumption.manifest.header.progress.metrics_bytes));
  const Progress& done = resumption.manifest.header.progress;
  const std::uint64_t begun = done.epoch + (done.batch > 0 ? 1 : 0);
  if (begun > options.epochs) {
    return UsageError(fmt::format("{}: {} {} done already{}; expected --epochs of at least {}", paths.folder().string(),
                                  CountText(done.epoch, "epoch"), done.epoch == 1 ? "is" : "are",
                                  done.batch > 0 ? " and the next is begun" : "", begun));
  }
  RETURN_IF_ERROR(CheckDivision(paths, done, options, resumption.graph->description()));
  return resumption;
}

}  // namespace octavo
