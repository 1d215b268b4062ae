#include "cmd/compared_choice.h"

#include <string>

#include "base/count_text.h"
#include "base/status.h"
#include "cmd/interrupt.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"
#include "cmd/validation.h"
#include "fmt/format.h"
#include "io/scratch_folder.h"

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

absl::Status RunTrials(Program& program, const std::filesystem::path& graph, const std::filesystem::path& folder,
                       std::vector<ShortTrial>& trials) {
  TrainSettings settings = SettingsOf(program);
  settings.validate = MakeValidator(program);
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(folder, "octavo-trials"));
  for (std::size_t t = 0; t < trials.size(); ++t) {
    TrainCallbacks callbacks;
    callbacks.on_batch = [&](const TrainProgress& progress) {
      ShownProgress shown = ProgressOf(progress);
      shown.phase = fmt::format("trial {}/{}, {}", t + 1, trials.size(), shown.phase);
      program.reporter.Show(shown);
    };
    RETURN_IF_ERROR(RunShortTrial(graph, scratch.path(), settings, callbacks, Interrupted, trials[t]));
    program.reporter.EndProgress();
    program.reporter.Info(fmt::format(
        "trial {}/{}, {}: {}, {}", t + 1, trials.size(), NameOf(trials[t]), CountText(trials[t].epochs, "epoch"),
        trials[t].diverged ? std::string("has diverged") : fmt::format("valid MRR {:.4f}", trials[t].scores.mrr)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TakeBetterChange(Program& program, const std::filesystem::path& graph, const std::filesystem::path& run,
                              std::vector<ShortTrial> trials, Choice& choice) {
  CatchInterrupts();
  program.reporter.Info(fmt::format("compares {} (off with --changes 0)", ComparisonText(trials)));
  const absl::Status trained = RunTrials(program, graph, FolderBeside(run), trials);
  program.reporter.EndProgress();
  if (absl::IsCancelled(trained) || Interrupted()) return absl::CancelledError();
  if (!trained.ok()) {
    program.reporter.Warning(
        fmt::format("a short training has failed, so the chosen options are taken: {}", MessageOf(trained)));
    return absl::OkStatus();
  }
  const ShortTrial& taken = trials[TrialToTake(trials)];
  choice.options = taken.options;
  program.reporter.Info(
      fmt::format("takes {}{}", NameOf(taken), taken.change.empty() ? ": no change is clearly better" : ""));
  return absl::OkStatus();
}

void ReportComparison(Reporter& reporter, const std::vector<ShortTrial>& trials) {
  if (!trials.empty()) reporter.Info("train will first compare " + ComparisonText(trials));
}

}  // namespace octavo
