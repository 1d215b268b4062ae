#include "cmd/next_commands.h"

#include <optional>
#include <string_view>
#include <system_error>

#include "absl/status/statusor.h"
#include "base/escape.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/line_reader.h"
#include "run/run_configuration.h"

namespace octavo {
namespace {

// "run", or with a number if there is something of that name.
std::string UnusedRun() {
  std::error_code error;
  std::string name = "run";
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(name, error)); ++number) {
    name = fmt::format("run-{}", number);
  }
  return name;
}

// A name of the run's graph that can be typed as it is shown, or "NAME".
std::string SomeNode(const std::filesystem::path& run) {
  constexpr int kLooks = 100;
  constexpr std::size_t kMostBytes = 60;
  const std::string none = "NAME";
  const absl::StatusOr<RunConfiguration> configuration = ReadRunConfiguration(RunPaths(run).Configuration());
  if (!configuration.ok()) return none;
  absl::StatusOr<LineReader> names = LineReader::Open(GraphPaths(configuration->graph).NodeNames().string());
  for (int look = 0; names.ok() && look < kLooks; ++look) {
    const absl::StatusOr<std::optional<std::string_view>> name = names->NextLine();
    if (!name.ok() || !*name) break;
    const bool plain = !(*name)->starts_with('-') && (*name)->size() <= kMostBytes && EscapeCell(**name) == **name;
    if (plain) return ShellWord(**name);
  }
  return none;
}

}  // namespace

void ReportNext(Reporter& reporter, const std::vector<std::string>& commands) {
  for (const std::string& command : commands) reporter.Info("next: " + command);
}

std::vector<std::string> NextOfRun(const std::filesystem::path& run, const GraphDescription& graph) {
  const std::string name = ShellWord(run.string());
  std::vector<std::string> commands;
  if (graph.test_edges > 0) {
    commands.push_back(fmt::format("octavo evaluate --run {}", name));
  } else if (graph.valid_edges > 0) {
    commands.push_back(fmt::format("octavo evaluate --run {} --split valid", name));
  }
  commands.push_back(fmt::format("octavo query --run {} neighbors {}", name, SomeNode(run)));
  commands.push_back(fmt::format("octavo serve {} --open", name));
  commands.push_back(fmt::format("octavo report --run {} --output report.html", name));
  return commands;
}

std::string NextOfGraph(const std::filesystem::path& folder) {
  return fmt::format("octavo train --graph {} --run {}", ShellWord(folder.string()), UnusedRun());
}

std::string NextOfWalk(const std::filesystem::path& folder) {
  return fmt::format(
      "octavo train --graph {} --run {} --model dot --negatives 64 --degree-fraction 1 --degree-by-weight",
      ShellWord(folder.string()), UnusedRun());
}

}  // namespace octavo
