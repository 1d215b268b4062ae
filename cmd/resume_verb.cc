// octavo resume: goes on with a run from its last commit.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/program.h"
#include "cmd/training.h"

namespace octavo {
namespace {

struct ResumeFlags {
  std::string run;
  std::uint64_t epochs = 0;
  bool dry_run = false;
};

}  // namespace

void AddResumeVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand(
      "resume", "Go on with a run from its last commit, to the same bits as an unbroken run (but for async)");
  const auto flags = std::make_shared<ResumeFlags>();
  RefuseEmpty(verb->add_option("--run", flags->run, "Run folder"))->required()->type_name("DIR");
  AddWholeNumber(
      *verb, "--epochs", flags->epochs, 1, 1'000'000,
      "Epochs in all (more of them stretch a linear or cosine learning rate, and patience that has ended the "
      "run counts anew); without it as many as the run was started with")
      ->default_str("");
  verb->add_flag("--dry-run", flags->dry_run, "Check everything and say how it would go on, but write nothing");
  verb->final_callback([&program, flags] {
    program.run = [flags](Program& p) -> absl::Status {
      if (flags->dry_run) {
        ASSIGN_OR_RETURN(const TrainingStart start, CheckResume(flags->run, flags->epochs, SettingsOf(p)));
        ReportStart(p, flags->run, start);
        return absl::OkStatus();
      }
      return RunTraining(p, flags->run, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
        return ResumeRun(flags->run, flags->epochs, settings, callbacks);
      });
    };
  });
}

}  // namespace octavo
