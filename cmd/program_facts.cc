#include "cmd/program_facts.h"

#include "fmt/format.h"

namespace octavo {
namespace {

constexpr Fact kExitCodes[] = {
    {"0", "done"},
    {"1", "failed while running: I/O error, full disk, out of memory, a loss that is not finite"},
    {"2", "wrong usage or configuration"},
    {"3", "bad input data"},
    {"4", "corrupt or incompatible files"},
    {"5", "the run is in use by another process"},
    {"129, 130, 143", "interrupted by SIGHUP, SIGINT, SIGTERM, after a commit"}};

constexpr Fact kEnvironment[] = {
    {"NO_COLOR", "if set, messages on a terminal have no colour"},
    {"OCTAVO_GEMM", "portable: multiply matrices without libxsmm; the bits of a training may differ"},
    {"OCTAVO_FAILPOINT", "for tests: let an operation fail, or end the program, at a named place"}};

std::string Table(std::string_view title, std::span<const Fact> facts) {
  std::string text = fmt::format("{}:\n", title);
  for (const Fact& fact : facts) text += fmt::format("  {:<25} {}\n", fact.name, fact.text);
  return text;
}

}  // namespace

std::span<const Fact> ExitCodes() { return kExitCodes; }
std::span<const Fact> EnvironmentVariables() { return kEnvironment; }

std::string HelpFooter() {
  return Table("Exit codes", kExitCodes) + "\n" + Table("Environment", kEnvironment) +
         "\nManual pages: octavo(1), octavo-train(1) and so on. Completion of the shell: octavo completion --help.";
}

}  // namespace octavo
