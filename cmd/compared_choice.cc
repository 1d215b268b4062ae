#include "cmd/compared_choice.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/status.h"
#include "cmd/interrupt.h"
#include "cmd/limits.h"
#include "cmd/training.h"
#include "cmd/validation.h"
#include "fmt/format.h"
#include "format/graph_description.h"
#include "graph/graph.h"
#include "io/scratch_folder.h"
#include "tune/held_out.h"

namespace octavo {
namespace {

std::string NameOf(const ShortTrial& trial) { return trial.change.empty() ? "the chosen options" : trial.change; }

std::string ComparisonText(const std::vector<ShortTrial>& trials) {
  return fmt::format("the chosen options with {} of them, by short trainings", CountText(trials.size() - 1, "change"));
}

// Beside the run, of which nothing may be left in the other.
std::filesystem::path FolderBeside(const std::filesystem::path& run) {
  std::filesystem::path folder = std::filesystem::absolute(run);
  if (!folder.has_filename()) folder = folder.parent_path();
  return ProbeFolder(folder.parent_path().string());
}

struct TrialGraph {
  std::filesystem::path path;
  std::uint64_t samples = 0;   // independent ones among its valid edges
  std::uint64_t held_out = 0;  // training edges of `graph`
};

// Returns the graph of the trials: `graph`, or one in `folder` that holds out some of its training edges. Without
// samples if they cannot be held out.
absl::StatusOr<TrialGraph> GraphOfTrials(const std::filesystem::path& graph, const CandidateSource& source,
                                         const std::filesystem::path& folder) {
  if (source.graph.valid_edges > 0) return TrialGraph{graph, source.graph.valid_edges};
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> opened, Graph::Open(graph));
  TrialGraph trials{folder / "graph"};
  const absl::StatusOr<GraphDescription> made =
      MakeHeldOutGraph(*opened, source.options.seed, trials.path, Interrupted);
  if (!made.ok()) {
    if (KindOf(made.status()) == ErrorKind::kUsage) return trials;  // too few pairs of nodes
    return made.status();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> held_out, Graph::Open(trials.path));
  ASSIGN_OR_RETURN(trials.samples, CountValidPairs(*held_out));
  trials.held_out = made->valid_edges;
  return trials;
}

absl::Status RunTrial(Program& program, const TrialGraph& graph, const std::filesystem::path& folder,
                      const std::string& label, ShortTrial& trial) {
  TrainSettings settings = SettingsOf(program);
  settings.validate = MakeValidator(program);
  TrainCallbacks callbacks;
  callbacks.on_batch = [&](const TrainProgress& progress) {
    ShownProgress shown = ProgressOf(progress);
    shown.phase = fmt::format("{}, {}", label, shown.phase);
    program.reporter.Show(shown);
  };
  RETURN_IF_ERROR(RunShortTrial(graph.path, folder, settings, callbacks, Interrupted, trial));
  trial.samples = std::min(trial.samples, graph.samples);
  program.reporter.EndProgress();
  program.reporter.Info(
      fmt::format("{}, {}: {}, {}", label, NameOf(trial), CountText(trial.epochs, "epoch"),
                  trial.diverged ? std::string("has diverged") : fmt::format("valid MRR {:.4f}", trial.scores.mrr)));
  return absl::OkStatus();
}

void WarnOfFailure(Program& program, const std::string& taken, const absl::Status& status) {
  // What follows the cause names the run of the trial, which is removed.
  const std::string_view message = MessageOf(status);
  program.reporter.EndProgress();
  program.reporter.Warning(fmt::format("a short training has failed, so the comparison ends with {}: {}", taken,
                                       message.substr(0, message.find("; generation "))));
}

// Returns the trial to take, or nothing if there is nothing to compare. A failure ends the trials: those before it are
// compared.
absl::StatusOr<std::optional<ShortTrial>> RunTrials(Program& program, const std::filesystem::path& graph,
                                                    const std::filesystem::path& folder, const CandidateSource& source,
                                                    const Choice& choice, std::vector<ShortTrial> trials) {
  constexpr std::uint64_t kLeastPairs = 50;
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(folder, "octavo-trials"));
  ASSIGN_OR_RETURN(const TrialGraph trained, GraphOfTrials(graph, source, scratch.path()));
  if (source.graph.valid_edges == 0 && trained.samples < kLeastPairs) {
    program.reporter.Info(
        fmt::format("compares nothing: the training edges that were held out are between {} of nodes, less than {}",
                    CountText(trained.samples, "pair"), kLeastPairs));
    return std::nullopt;
  }
  if (trained.held_out > 0) {
    program.reporter.Info(fmt::format("the graph has no valid edges, so the short trainings hold out {}",
                                      CountText(trained.held_out, "training edge")));
  }
  absl::Status status;
  for (std::size_t t = 0; t < trials.size() && status.ok(); ++t) {
    const std::string label = fmt::format("trial {}/{}", t + 1, trials.size());
    status = RunTrial(program, trained, scratch.path(), label, trials[t]);
    if (status.ok()) continue;
    if (t == 0 || absl::IsCancelled(status)) return status;
    trials.resize(t);
  }
  std::optional<ShortTrial> combined;
  if (status.ok()) combined = MakeCombinedTrial(source, choice, trials);
  if (combined) status = RunTrial(program, trained, scratch.path(), "trial of two changes", *combined);
  if (absl::IsCancelled(status)) return status;
  ShortTrial best = trials[TrialToTake(trials)];
  if (!status.ok()) {
    WarnOfFailure(program, NameOf(best), status);
  } else if (combined) {
    const std::vector<ShortTrial> finalists = {best, *combined};
    best = finalists[TrialToTake(finalists)];
  }
  return best;
}

}  // namespace

absl::Status TakeBetterChange(Program& program, const std::filesystem::path& graph, const std::filesystem::path& run,
                              const CandidateSource& source, std::vector<ShortTrial> trials, Choice& choice) {
  CatchInterrupts();
  program.reporter.Info(fmt::format("compares {} (off with --changes 0)", ComparisonText(trials)));
  absl::StatusOr<std::optional<ShortTrial>> ended =
      RunTrials(program, graph, FolderBeside(run), source, choice, std::move(trials));
  program.reporter.EndProgress();
  if (absl::IsCancelled(ended.status()) || Interrupted()) return absl::CancelledError();
  if (!ended.ok()) {
    WarnOfFailure(program, "the chosen options", ended.status());
    return absl::OkStatus();
  }
  const std::optional<ShortTrial> taken = *std::move(ended);
  if (!taken) return absl::OkStatus();
  choice.options = taken->options;
  program.reporter.Info(
      fmt::format("takes {}{}", NameOf(*taken), taken->change.empty() ? ": no change is clearly better" : ""));
  return absl::OkStatus();
}

absl::StatusOr<TimedComparison> PlanTimedTrials(const Program& program, const TrainFlags& flags, const std::string& run,
                                                std::uint64_t changes) {
  constexpr double kShare = 0.4;
  TimedComparison comparison;
  if (flags.seconds == 0 || changes == 0 || !TimeChoosesEpochs(flags)) return comparison;
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(flags.graph));
  if (!IsSmallWithEdgesToRank(graph->description())) return comparison;
  TrainFlags untimed = flags;
  untimed.seconds = 0;
  const int threads = ThreadCount(program);
  const std::uint64_t memory = MemoryLimit(program);
  ASSIGN_OR_RETURN(comparison.settled, SettleTrainOptions(untimed, run, memory, threads));
  if (!comparison.settled.source) return comparison;
  ASSIGN_OR_RETURN(comparison.timed,
                   TrialsWithin(kShare * flags.seconds,
                                MakeShortTrials(*comparison.settled.source, *comparison.settled.choice, changes),
                                *graph, ProbeFolder(run), memory, threads));
  return comparison;
}

void ReportComparison(Reporter& reporter, const std::vector<ShortTrial>& trials) {
  if (!trials.empty()) reporter.Info("train will first compare " + ComparisonText(trials));
}

}  // namespace octavo
