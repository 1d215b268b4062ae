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
  std::string init;
  std::string init_names;
  std::string init_state = "auto";
  bool overwrite = false;
};

absl::Status RunTrain(Program& program, const NewRunFlags& flags) {
  ASSIGN_OR_RETURN(const TrainOptions options, ReadTrainOptions(flags.train));
  for (const OptionField& field : TrainOptionFields()) {
    program.reporter.Detail(fmt::format("{} = {}", field.name, field.format(options)));
  }
  if (flags.init.empty() && (!flags.init_names.empty() || flags.init_state != "auto")) {
    return UsageError("--init-names and --init-state are of what --init names; expected --init with them");
  }
  const InitialSource init = {
      .source = flags.init, .names = flags.init_names, .optimizer_state = flags.init_state == "auto"};
  return RunTraining(program, flags.run, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
    return StartRun(flags.train.graph, flags.run, options, flags.overwrite, settings, callbacks, init);
  });
}

}  // namespace

void AddTrainVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("train", "Train embeddings of an imported graph in a new run folder");
  const auto flags = std::make_shared<NewRunFlags>();
  RefuseEmpty(verb->add_option("--run", flags->run, "Run folder to make"))->required()->type_name("DIR");
  verb->add_flag("--overwrite", flags->overwrite, "Remove a run that is there already");
  RefuseEmpty(
      verb->add_option("--init", flags->init,
                       "Run folder, .npy or word2vec file whose vectors the nodes of the same names begin with"))
      ->type_name("SOURCE");
  RefuseEmpty(verb->add_option("--init-names", flags->init_names, "Names of the rows of a .npy file, one a line"))
      ->type_name("FILE");
  verb->add_option("--init-state", flags->init_state,
                   "Optimizer state of a run: auto takes it over where the optimizer is the same, none begins anew")
      ->check(CLI::IsMember({"auto", "none"}))
      ->capture_default_str();
  AddTrainFlags(*verb, flags->train);
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunTrain(p, *flags); }; });
}

}  // namespace octavo
