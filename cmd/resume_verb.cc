// octavo resume: goes on with a run from its last commit.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cmd/flags.h"
#include "cmd/program.h"
#include "cmd/training.h"

namespace octavo {
namespace {

struct ResumeFlags {
  std::string run;
  std::uint64_t epochs = 0;
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
  verb->final_callback([&program, flags] {
    program.run = [flags](Program& p) {
      return RunTraining(p, flags->run, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
        return ResumeRun(flags->run, flags->epochs, settings, callbacks);
      });
    };
  });
}

}  // namespace octavo
