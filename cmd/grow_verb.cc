// octavo grow: adds nodes and edges to a trained run without starting over: an import on top of the run's graph, and a
// training that begins with the run's rows.

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/importing.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/atomic_file.h"
#include "train/run_configuration.h"
#include "train/run_place.h"
#include "train/trained_run.h"

namespace octavo {
namespace {

struct GrowFlags {
  ImportFlags import;
  TrainFlags train;
  std::string run;
  std::string base;  // empty: where the run says its graph is
  std::string output;
  bool overwrite = false;
};

// The options of the run, with what the flags say over them. What an earlier growth has kept is no matter of this one.
absl::StatusOr<TrainOptions> GrownOptions(const GrowFlags& flags, TrainOptions options) {
  options.freeze = Freeze::kNone;
  options.edges = TrainEdges::kAll;
  return ReadTrainOptions(flags.train, options);
}

absl::Status RunGrow(Program& program, GrowFlags& flags) {
  // All that can be wrong is said before the import, which may take hours.
  ImportOptions& import = flags.import.options;
  ASSIGN_OR_RETURN(const RunConfiguration configuration, [&]() -> absl::StatusOr<RunConfiguration> {
    if (flags.base.empty()) RETURN_IF_ERROR(CheckGraphPlace(flags.run, "--base"));
    RETURN_IF_ERROR(OpenTrainedRun(flags.run, flags.base).status());
    return ReadRunConfiguration(RunPaths(flags.run).Configuration());
  }());
  import.base = flags.base.empty() ? configuration.graph : std::filesystem::path(flags.base);
  ASSIGN_OR_RETURN(const TrainOptions options, GrownOptions(flags, configuration.options));
  if (CanonicalPath(flags.output) == CanonicalPath(flags.import.graph)) {
    return UsageError(fmt::format("--output {}: is --graph, too; expected another folder", flags.output));
  }
  const InitialSource init = {.source = flags.run, .graph = flags.base};
  RETURN_IF_ERROR(CheckGrownStart(import.base, !import.valid.empty(), flags.output, options, flags.overwrite,
                                  SettingsOf(program), init));
  // Held from here on, so that nobody trains there meanwhile.
  ASSIGN_OR_RETURN(RunPlace place, RunPlace::Take(flags.output, flags.overwrite));
  import.overwrite = flags.overwrite;
  std::optional<AtomicFolder> graph;
  ASSIGN_OR_RETURN(const std::optional<ImportSummary> summary, RunImport(flags.import, program, &graph));
  if (!summary) return absl::OkStatus();  // interrupted
  return RunTraining(program, flags.output, [&](const TrainSettings& settings, const TrainCallbacks& callbacks) {
    return GrowRun(*std::move(graph), std::move(place), options, settings, callbacks, init);
  });
}

}  // namespace

void AddGrowVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<GrowFlags>();
  CLI::App* verb = app.add_subcommand(
      "grow", "Add edges, and with them nodes, to the graph of a run, and train a new run that begins with its rows");
  RefuseEmpty(verb->add_option("--run", flags->run, "Run folder that is added to; it stays as it is"))
      ->required()
      ->type_name("DIR");
  RefuseEmpty(verb->add_option("--add", flags->import.options.inputs,
                               "Edge lists with the training edges to add, as octavo import takes them"))
      ->required()
      ->type_name("FILE");
  RefuseEmpty(verb->add_option("--base", flags->base,
                               "Graph folder of the run, if it is no longer where the training found it"))
      ->type_name("DIR");
  RefuseEmpty(verb->add_option("--graph", flags->import.graph, "Graph folder to make, with the edges of both"))
      ->required()
      ->type_name("DIR");
  RefuseEmpty(verb->add_option("--output", flags->output, "Run folder to make"))->required()->type_name("DIR");
  verb->add_flag("--overwrite", flags->overwrite, "Replace both folders if they exist, when the new ones are whole");
  AddImportFlags(*verb, flags->import);
  flags->import.undirected_option->description(
      "Take each added line for both directions, in training and held-out edges; by default as the graph of the run "
      "was "
      "imported");
  flags->import.duplicates_option
      ->description(
          "Copies of an edge: merge into one, weights added, or keep; by default as the graph of the run was imported")
      ->default_str("");
  AddTrainOptionFlags(*verb, flags->train);
  verb->footer(
      "Training options that are not given are those of the run (the defaults above are octavo train's), but for "
      "--freeze and --edges.\nA fraction of the run's --epochs is often enough.");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunGrow(p, *flags); }; });
}

}  // namespace octavo
