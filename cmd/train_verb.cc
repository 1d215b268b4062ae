// octavo train: trains a new run.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/program.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"
#include "fmt/format.h"
#include "train/options.h"

namespace octavo {
namespace {

struct NewRunFlags {
  TrainFlags train;
  std::string run;
  bool overwrite = false;
};

absl::Status RunTrain(Program& program, const NewRunFlags& flags) {
  ASSIGN_OR_RETURN(const TrainOptions options, ReadTrainOptions(flags.train));
  for (const OptionField& field : TrainOptionFields()) {
    program.reporter.Detail(fmt::format("{} = {}", field.name, field.format(options)));
  }
  return RunTraining(program, flags.run, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
    return StartRun(flags.train.graph, flags.run, options, flags.overwrite, settings, callbacks);
  });
}

}  // namespace

void AddTrainVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("train", "Train embeddings of an imported graph in a new run folder");
  const auto flags = std::make_shared<NewRunFlags>();
  RefuseEmpty(verb->add_option("--run", flags->run, "Run folder to make"))->required()->type_name("DIR");
  verb->add_flag("--overwrite", flags->overwrite, "Remove a run that is there already");
  AddTrainFlags(*verb, flags->train);
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunTrain(p, *flags); }; });
}

}  // namespace octavo
