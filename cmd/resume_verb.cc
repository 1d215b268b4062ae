// octavo resume: goes on with a run from its last commit.

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "cmd/training.h"

namespace octavo {
namespace {

struct ResumeFlags {
  RunFlags run;
  std::uint64_t epochs = 0;
  bool dry_run = false;
};

}  // namespace

void AddResumeVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand(
      "resume", "Go on with a run from its last commit, to the same bits as an unbroken run (but for async)");
  const auto flags = std::make_shared<ResumeFlags>();
  AddRunFlags(*verb, flags->run);
  AddWholeNumber(
      *verb, "--epochs", flags->epochs, 1, 1'000'000,
      "Epochs in all (more of them stretch a linear or cosine learning rate, and patience that has ended the "
      "run counts anew); without it as many as the run was started with")
      ->default_str("");
  verb->footer("The new place of a graph that has moved is kept in run.json.");
  verb->add_flag("--dry-run", flags->dry_run, "Check everything and say how it would go on, but write nothing");
  verb->final_callback([&program, flags] {
    program.run = [flags](Program& p) -> absl::Status {
      const auto& [run, graph] = flags->run;
      if (graph.empty()) RETURN_IF_ERROR(CheckGraphPlace(run, "--graph"));
      if (flags->dry_run) {
        ASSIGN_OR_RETURN(const TrainingStart start, CheckResume(run, flags->epochs, SettingsOf(p), graph));
        RETURN_IF_ERROR(WarnIfToBeReplaced(p, run));
        ReportStart(p, run, start);
        return absl::OkStatus();
      }
      return RunTraining(p, run, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
        return ResumeRun(flags->run.run, flags->epochs, settings, callbacks, flags->run.graph);
      });
    };
  });
}

}  // namespace octavo
