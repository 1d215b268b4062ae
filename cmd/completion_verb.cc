// octavo completion: prints the scripts with which shells complete octavo's command line.

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "cmd/completion_scripts.h"
#include "cmd/program.h"
#include "fmt/format.h"

namespace octavo {

void AddCompletionVerb(CLI::App& app, Program& program) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& verb = *app.add_subcommand("completion", "Print the script that lets a shell complete octavo's commands");
  verb.add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb.footer(
      "An installed octavo includes them. By hand, for one session:\n"
      "  bash: source <(octavo completion bash)\n"
      "  zsh:  source <(octavo completion zsh)      after compinit\n"
      "  fish: octavo completion fish | source");
  verb.callback([shell, &program] {
    program.run = [shell](Program&) {
      fmt::print("{}", *shell == "bash" ? kBashCompletion : *shell == "zsh" ? kZshCompletion : kFishCompletion);
      return absl::OkStatus();
    };
  });
}

}  // namespace octavo
