// octavo grow: adds nodes and edges to a trained run without starting over: an import on top of the run's graph, and a
// training that starts with the run's rows.

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/importing.h"
#include "cmd/opened_run.h"
#include "cmd/program.h"
#include "cmd/train_flags.h"
#include "cmd/training.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/atomic_file.h"
#include "io/resolved_path.h"
#include "run/run_configuration.h"
#include "run/run_folder.h"
#include "run/trained_run.h"

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

// The run's options, overridden by the flags. The init options of an earlier growth do not apply to this one.
absl::StatusOr<TrainOptions> GrownOptions(const GrowFlags& flags, TrainOptions options) {
  options.freeze = Freeze::kNone;
  options.edges = TrainEdges::kAll;
  return ReadTrainOptions(flags.train, options);
}

absl::Status RunGrow(Program& program, GrowFlags& flags) {
  CatchTrainingRequests();  // a request during the import must not end it
  // Reports all errors that can be known before the import, which may take hours.
  ImportOptions& import = flags.import.options;
  ASSIGN_OR_RETURN(const RunConfiguration configuration, [&]() -> absl::StatusOr<RunConfiguration> {
    if (flags.base.empty()) RETURN_IF_ERROR(CheckGraphPlace(flags.run, "--base"));
    RETURN_IF_ERROR(OpenTrainedRun(flags.run, flags.base).status());
    return ReadRunConfiguration(RunPaths(flags.run).Configuration());
  }());
  import.base = flags.base.empty() ? configuration.graph : std::filesystem::path(flags.base);
  ASSIGN_OR_RETURN(const TrainOptions options, GrownOptions(flags, configuration.options));
  ASSIGN_OR_RETURN(const std::filesystem::path output_folder, ResolvedPath(flags.output));
  ASSIGN_OR_RETURN(const std::filesystem::path graph_folder, ResolvedPath(flags.import.graph));
  if (output_folder == graph_folder) {
    return UsageError(fmt::format("--output {}: is also --graph; expected another folder", flags.output));
  }
  const InitialSource init = {.source = flags.run, .graph = flags.base};
  RETURN_IF_ERROR(CheckGrownStart(import.base, !import.valid.empty(), flags.output, options, flags.overwrite,
                                  SettingsOf(program), init));
  // Locked from now on, so that no other process trains there.
  ASSIGN_OR_RETURN(RunFolder place, RunFolder::Take(flags.output, flags.overwrite));
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
      "grow", "Add edges and their nodes to the graph of a run, and train a new run that starts with its rows");
  RefuseEmpty(verb->add_option("--run", flags->run, "Run folder to start from; it is not changed"))
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
  verb->add_flag("--overwrite", flags->overwrite, "Replace existing folders when the new ones are complete");
  AddImportFlags(*verb, flags->import);
  flags->import.undirected_option->description(
      "Use each added line for both directions, in training and held-out edges; by default as the graph of the run "
      "was imported");
  flags->import.duplicates_option
      ->description(
          "Copies of an edge: merge into one, weights added, or keep; by default as the graph of the run was imported")
      ->default_str("");
  AddTrainOptionFlags(*verb, flags->train);
  verb->footer(
      "Training options that are not given are those of the run (the defaults above are octavo train's), except "
      "--freeze and --edges.\nA fraction of the run's --epochs is often enough.");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunGrow(p, *flags); }; });
}

}  // namespace octavo
