// octavo resume: continues a run from its last commit.

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/job.h"
#include "cmd/opened_run.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"

namespace octavo {
namespace {

struct ResumeFlags {
  RunFlags run;
  std::uint64_t epochs = 0;
  TrainFlags options;  // --exchange
  bool dry_run = false;
};

absl::StatusOr<std::optional<ExchangeMode>> ExchangeOf(const ResumeFlags& flags) {
  if (flags.options.given.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(const TrainOptions options, ReadTrainOptions(flags.options));
  return options.exchange;
}

}  // namespace

void AddResumeVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand(
      "resume", "Continue a run from its last commit, with the same bits as an uninterrupted run (except async)");
  const auto flags = std::make_shared<ResumeFlags>();
  AddRunFlags(*verb, flags->run);
  AddWholeNumber(*verb, "--epochs", flags->epochs, 1, 1'000'000,
                 "Epochs in all (more stretch a linear or cosine learning rate; if patience has ended the "
                 "run it counts anew); default: as many as the run was started with")
      ->default_str("");
  AddTrainOptionFlag(*verb, "exchange", flags->options);
  verb->footer("The new path of a moved graph is stored in run.json, as is --exchange.");
  verb->add_flag("--dry-run", flags->dry_run,
                 "Check everything and report how training would continue, but write nothing");
  verb->final_callback([&program, flags] {
    program.run = [flags](Program& p) -> absl::Status {
      RETURN_IF_ERROR(JoinJob(p));
      CatchTrainingRequests();
      const auto& [run, graph] = flags->run;
      if (graph.empty()) RETURN_IF_ERROR(CheckGraphPlace(run, "--graph"));
      ASSIGN_OR_RETURN(const std::optional<ExchangeMode> exchange, ExchangeOf(*flags));
      if (flags->dry_run) {
        TrainSettings settings = SettingsOf(p);
        settings.exchange = exchange;
        ASSIGN_OR_RETURN(const TrainingStart start, CheckResume(run, flags->epochs, settings, graph));
        RETURN_IF_ERROR(WarnIfToBeReplaced(p, run));
        ReportStart(p, run, start);
        return absl::OkStatus();
      }
      return RunTraining(p, run, [&](TrainSettings settings, const TrainCallbacks& callbacks) {
        settings.exchange = exchange;
        return ResumeRun(flags->run.run, flags->epochs, settings, callbacks, flags->run.graph);
      });
    };
  });
}

}  // namespace octavo
