#include "cmd/compared_choice.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/count_text.h"
#include "base/status.h"
#include "cmd/interrupt.h"
#include "cmd/train_flags.h"
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

// Returns the graph of the trials: `graph`, or one in `folder` that holds out some of its training edges.
absl::StatusOr<std::filesystem::path> GraphOfTrials(Program& program, const std::filesystem::path& graph,
                                                    const CandidateSource& source,
                                                    const std::filesystem::path& folder) {
  if (source.graph.valid_edges > 0) return graph;
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> opened, Graph::Open(graph));
  const std::filesystem::path path = folder / "graph";
  ASSIGN_OR_RETURN(const GraphDescription made, MakeHeldOutGraph(*opened, source.options.seed, path, Interrupted));
  program.reporter.Info(fmt::format("the graph has no valid edges, so the short trainings hold out {}",
                                    CountText(made.valid_edges, "training edge")));
  return path;
}

absl::Status RunTrial(Program& program, const std::filesystem::path& graph, const std::filesystem::path& folder,
                      const TrainSettings& settings, const std::string& number, ShortTrial& trial) {
  TrainCallbacks callbacks;
  callbacks.on_batch = [&](const TrainProgress& progress) {
    ShownProgress shown = ProgressOf(progress);
    shown.phase = fmt::format("{}, {}", number, shown.phase);
    program.reporter.Show(shown);
  };
  RETURN_IF_ERROR(RunShortTrial(graph, folder, settings, callbacks, Interrupted, trial));
  program.reporter.EndProgress();
  program.reporter.Info(
      fmt::format("{}, {}: {}, {}", number, NameOf(trial), CountText(trial.epochs, "epoch"),
                  trial.diverged ? std::string("has diverged") : fmt::format("valid MRR {:.4f}", trial.scores.mrr)));
  return absl::OkStatus();
}

// Returns the trial to take.
absl::StatusOr<ShortTrial> RunTrials(Program& program, const std::filesystem::path& graph,
                                     const std::filesystem::path& folder, const CandidateSource& source,
                                     const Choice& choice, std::vector<ShortTrial> trials) {
  TrainSettings settings = SettingsOf(program);
  settings.validate = MakeValidator(program);
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(folder, "octavo-trials"));
  ASSIGN_OR_RETURN(const std::filesystem::path trained, GraphOfTrials(program, graph, source, scratch.path()));
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const std::string number = fmt::format("trial {}/{}", t + 1, trials.size());
    RETURN_IF_ERROR(RunTrial(program, trained, scratch.path(), settings, number, trials[t]));
  }
  ShortTrial& best = trials[TrialToTake(trials)];
  std::optional<ShortTrial> combined = MakeCombinedTrial(source, choice, trials);
  if (!combined) return std::move(best);
  RETURN_IF_ERROR(RunTrial(program, trained, scratch.path(), settings, "trial of two changes", *combined));
  std::vector<ShortTrial> last = {std::move(best), *std::move(combined)};
  return std::move(last[TrialToTake(last)]);
}

}  // namespace

absl::Status TakeBetterChange(Program& program, const std::filesystem::path& graph, const std::filesystem::path& run,
                              const CandidateSource& source, std::vector<ShortTrial> trials, Choice& choice) {
  CatchInterrupts();
  program.reporter.Info(fmt::format("compares {} (off with --changes 0)", ComparisonText(trials)));
  const absl::StatusOr<ShortTrial> taken =
      RunTrials(program, graph, FolderBeside(run), source, choice, std::move(trials));
  program.reporter.EndProgress();
  if (absl::IsCancelled(taken.status()) || Interrupted()) return absl::CancelledError();
  if (!taken.ok()) {
    program.reporter.Warning(
        fmt::format("a short training has failed, so the chosen options are taken: {}", MessageOf(taken.status())));
    return absl::OkStatus();
  }
  choice.options = taken->options;
  program.reporter.Info(
      fmt::format("takes {}{}", NameOf(*taken), taken->change.empty() ? ": no change is clearly better" : ""));
  return absl::OkStatus();
}

void ReportComparison(Reporter& reporter, const std::vector<ShortTrial>& trials) {
  if (!trials.empty()) reporter.Info("train will first compare " + ComparisonText(trials));
}

}  // namespace octavo
