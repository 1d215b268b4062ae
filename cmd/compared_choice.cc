#include "cmd/compared_choice.h"

#include <chrono>
#include <string>
#include <vector>

#include "base/count_text.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "cmd/interrupt.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"
#include "cmd/validation.h"
#include "fmt/format.h"
#include "io/scratch_folder.h"
#include "tune/short_trials.h"

namespace octavo {
namespace {

std::string NameOf(const ShortTrial& trial) { return trial.change.empty() ? "what is chosen" : trial.change; }

std::string ComparisonText(const std::vector<ShortTrial>& trials) {
  return fmt::format("compares what is chosen with {} by short trainings and the valid edges (--trials 0 does not)",
                     CountText(trials.size() - 1, "change"));
}

}  // namespace

absl::Status TakeBetterChange(Program& program, const std::filesystem::path& graph, const std::filesystem::path& run,
                              const CandidateSource& source, std::uint64_t most, double seconds, Choice& choice) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<ShortTrial> trials = MakeShortTrials(source, choice, most);
  if (trials.empty()) return absl::OkStatus();
  CatchInterrupts();
  TrainSettings settings = SettingsOf(program);
  settings.validate = MakeValidator(program);
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(ProbeFolder(run.string()), "octavo-trials"));
  program.reporter.Info(ComparisonText(trials));
  for (std::size_t t = 0; t < trials.size(); ++t) {
    // All trials take about the same time, so the first one shows whether there is enough.
    const double most_seconds = seconds * static_cast<double>(t + 1) / static_cast<double>(trials.size());
    const auto is_late = [&] { return seconds > 0 && SecondsSince(begin) > most_seconds; };
    TrainCallbacks callbacks;
    callbacks.on_batch = [&](const TrainProgress& progress) {
      ShownProgress shown = ProgressOf(progress);
      shown.phase = fmt::format("trial {}/{}, {}", t + 1, trials.size(), shown.phase);
      program.reporter.Show(shown);
    };
    const auto stop = [&] { return Interrupted() || is_late(); };
    const absl::Status trained = RunShortTrial(graph, scratch.path(), settings, callbacks, stop, trials[t]);
    program.reporter.EndProgress();
    if (absl::IsCancelled(trained) && !Interrupted()) {
      program.reporter.Info("the time is too short for that: takes what is chosen");
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(trained);
    program.reporter.Info(fmt::format("trial {}/{}, {}: {}, valid MRR {:.4f}", t + 1, trials.size(), NameOf(trials[t]),
                                      CountText(trials[t].epochs, "epoch"), trials[t].scores.mrr));
  }
  const ShortTrial& taken = trials[TrialToTake(trials)];
  choice.options = taken.options;
  program.reporter.Info(
      fmt::format("takes {}{}", NameOf(taken),
                  taken.change.empty() ? ": no change is better by more than chance explains" : std::string()));
  return absl::OkStatus();
}

void ReportComparison(Reporter& reporter, const CandidateSource& source, std::uint64_t most, const Choice& choice) {
  const std::vector<ShortTrial> trials = MakeShortTrials(source, choice, most);
  if (!trials.empty()) reporter.Info("train first " + ComparisonText(trials));
}

}  // namespace octavo
