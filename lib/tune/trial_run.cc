#include "tune/trial_run.h"

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "format/sealed_json.h"
#include "io/file.h"
#include "nlohmann/json.hpp"
#include "run/run_configuration.h"

namespace octavo {
namespace {

// Room for the events of a million epochs, 1 KiB each.
constexpr std::uint64_t kMostMetricsBytes = std::uint64_t{1} << 30;

double NumberAt(const nlohmann::json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number() ? at->get<double>() : 0;
}

// Returns the scores if the line, at byte `offset` of the file, is the event of that validation.
absl::StatusOr<std::optional<ValidationScores>> ScoresOf(std::string_view line, std::uint64_t offset,
                                                         std::uint64_t epoch, const std::string& file_name) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  RETURN_IF_ERROR(CheckSeal(line, json.contains(kSealKey), fmt::format("{}: byte {}", file_name, offset), offset));
  if (!json.contains("event") || json["event"] != "validation") return std::nullopt;
  if (!json.contains("epoch") || json["epoch"] != epoch) return std::nullopt;
  return ValidationScores{.mrr = NumberAt(json, "mrr"),
                          .hits_at_1 = NumberAt(json, "hits@1"),
                          .hits_at_3 = NumberAt(json, "hits@3"),
                          .hits_at_10 = NumberAt(json, "hits@10"),
                          .mean_rank = NumberAt(json, "mean_rank"),
                          .triples = static_cast<std::uint64_t>(NumberAt(json, "triples"))};
}

}  // namespace

absl::StatusOr<std::optional<ValidationScores>> CommittedScores(const RunPaths& run, std::uint64_t epoch) {
  ASSIGN_OR_RETURN(const bool there, FileExists(run.State()));
  if (!there) return std::nullopt;
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(run.State()));
  if (manifest.header.validation.validated_epoch < epoch) return std::nullopt;
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(run.Metrics(), kMostMetricsBytes));
  // Events after the last commit belong to work that will be repeated.
  std::string_view events = std::string_view(text).substr(0, manifest.header.progress.metrics_bytes);
  while (!events.empty()) {
    events.remove_suffix(events.ends_with('\n') ? 1 : 0);
    const std::size_t begin = events.rfind('\n') + 1;  // 0 if there is none
    ASSIGN_OR_RETURN(const std::optional<ValidationScores> scores,
                     ScoresOf(events.substr(begin), begin, epoch, run.Metrics().string()));
    if (scores) return scores;
    events = events.substr(0, begin);
  }
  return CorruptError(fmt::format("{}: no validation of epoch {}, which was committed", run.Metrics().string(), epoch));
}

namespace {

// Records the graph's current path in the run; the graph may have been moved.
absl::Status NameGraph(const std::filesystem::path& graph, const RunPaths& run) {
  ASSIGN_OR_RETURN(RunConfiguration configuration, ReadRunConfiguration(run.Configuration()));
  std::filesystem::path now = std::filesystem::absolute(graph);
  if (configuration.graph == now) return absl::OkStatus();
  configuration.graph = std::move(now);
  return WriteRunConfiguration(run.Configuration(), configuration);
}

// Epochs of the last commit; 0 without a run.
absl::StatusOr<std::uint64_t> CommittedEpochs(const RunPaths& run) {
  ASSIGN_OR_RETURN(const bool there, FileExists(run.State()));
  if (!there) return 0;
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(run.State()));
  return manifest.header.progress.epoch;
}

// Trains until the stop that `watching` sets, or to the end.
absl::Status Train(const std::filesystem::path& graph, const RunPaths& run, const TrainOptions& options,
                   const TrainSettings& stopping, const TrainCallbacks& watching) {
  ASSIGN_OR_RETURN(const bool begun, FileExists(run.State()));
  if (begun) RETURN_IF_ERROR(NameGraph(graph, run));
  return (begun ? ResumeRun(run.folder(), 0, stopping, watching)
                : StartRun(graph, run.folder(), options, /*overwrite=*/true, stopping, watching))
      .status();
}

// The scores of the commit of `epoch`, ranked after the training; empty if it has not come so far, or was stopped.
absl::StatusOr<std::optional<ValidationScores>> RankCommit(const RunPaths& run, const TrainOptions& options,
                                                           std::uint64_t epoch, const TrainSettings& settings,
                                                           const std::function<bool()>& should_stop) {
  ASSIGN_OR_RETURN(const std::uint64_t done, CommittedEpochs(run));
  if (done < epoch) return std::nullopt;
  if (!settings.validate) return ValidationScores();
  const absl::StatusOr<ValidationScores> scores = settings.validate(run.folder(), options, settings.memory);
  if (absl::IsCancelled(scores.status()) && should_stop()) return std::nullopt;
  RETURN_IF_ERROR(scores.status());
  return *scores;
}

}  // namespace

absl::StatusOr<std::optional<ValidationScores>> TrainToEpoch(const std::filesystem::path& graph, const RunPaths& run,
                                                             const TrainOptions& options, std::uint64_t epoch,
                                                             const TrainSettings& settings,
                                                             const TrainCallbacks& callbacks,
                                                             const std::function<bool()>& should_stop) {
  const bool inside = options.validate_every > 0;
  // After the last epoch a run still has work to do: its tables return to one file each.
  if (epoch < options.epochs) {
    if (inside) {
      ASSIGN_OR_RETURN(const std::optional<ValidationScores> before, CommittedScores(run, epoch));
      if (before) return before;
    } else {
      ASSIGN_OR_RETURN(const std::uint64_t done, CommittedEpochs(run));
      if (done >= epoch) return RankCommit(run, options, epoch, settings, should_stop);
    }
  }
  std::atomic<int> stop = 0;
  TrainSettings stopping = settings;
  stopping.stop = &stop;
  const auto stop_if = [&stop](bool asked) {
    if (asked) stop.store(1, std::memory_order_relaxed);
  };
  // If the validator stops because it was asked to, also check what asked it.
  if (settings.validate) {
    stopping.validate = [&](const auto&... arguments) {
      auto scores = settings.validate(arguments...);
      stop_if(should_stop());
      return scores;
    };
  }
  TrainCallbacks watching = callbacks;
  watching.on_batch = [&](const TrainProgress& progress) {
    stop_if(should_stop());
    if (callbacks.on_batch) callbacks.on_batch(progress);
  };
  watching.on_validation = [&](const ValidationEvent& event) {
    stop_if(event.epoch >= epoch || should_stop());
    if (callbacks.on_validation) callbacks.on_validation(event);
  };
  watching.on_epoch = [&](const EpochEvent& event) {
    stop_if(!inside && event.epoch >= epoch);
    if (callbacks.on_epoch) callbacks.on_epoch(event);
  };
  RETURN_IF_ERROR(Train(graph, run, options, stopping, watching));
  return inside ? CommittedScores(run, epoch) : RankCommit(run, options, epoch, settings, should_stop);
}

}  // namespace octavo
