// octavo inspect: shows what a graph, a run or a file is. A new kind gets a function in inspect.h and a line here.

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/inspect.h"
#include "cmd/program.h"
#include "fmt/format.h"
#include "format/paths.h"

namespace octavo {
namespace {

struct InspectFlags {
  std::string path;
  bool json = false;
};

absl::Status RunInspect(const InspectFlags& flags, Program& program) {
  std::error_code error;
  if (!std::filesystem::exists(flags.path, error)) {
    return UsageError(fmt::format("{}: no such file or folder", flags.path));
  }
  if (std::filesystem::exists(GraphPaths(flags.path).Description(), error)) {
    return InspectGraph(flags.path, flags.json, program);
  }
  if (std::filesystem::exists(RunPaths(flags.path).Configuration(), error)) return InspectRun(flags.path, flags.json);
  if (!std::filesystem::is_directory(flags.path, error)) return InspectFile(flags.path, flags.json);
  return UsageError(fmt::format("{}: found neither graph.json nor run.json; expected a graph or a run", flags.path));
}

}  // namespace

void AddInspectVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<InspectFlags>();
  CLI::App& verb = *app.add_subcommand("inspect", "Show what a graph, a run, or one of their files contains");
  RefuseEmpty(verb.add_option("PATH", flags->path, "A graph folder, a run folder, a .npy or a .cells file"))
      ->required()
      ->type_name("PATH");
  verb.add_flag("--json", flags->json, "Print a JSON object");
  verb.callback([flags, &program] { program.run = [flags](Program& running) { return RunInspect(*flags, running); }; });
}

}  // namespace octavo
