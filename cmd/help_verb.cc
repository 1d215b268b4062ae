// octavo help: prints the help of the program or of a verb.

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "base/status.h"
#include "cmd/command_facts.h"
#include "cmd/program.h"
#include "cmd/usage.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"

namespace octavo {
namespace {

struct HelpFlags {
  std::vector<std::string> words;  // a verb, and a subcommand of it
  bool all = false;
};

absl::StatusOr<const CLI::App*> FindCommand(const CLI::App& app, const std::string& name) {
  const std::vector<const CLI::App*> commands = CommandsOf(app);
  std::vector<std::string> names;
  for (const CLI::App* command : commands) {
    if (command->get_name() == name) return command;
    names.push_back(command->get_name());
  }
  const std::string meant =
      DidYouMean(NearNames(name, names.size(), [&](std::uint64_t i) -> std::string_view { return names[i]; }));
  return UsageError(fmt::format("unknown {} \"{}\"{}", app.get_parent() == nullptr ? "verb" : "subcommand",
                                Escape(name),
                                !meant.empty()  ? meant
                                : names.empty() ? fmt::format("; {} has none", app.get_name())
                                                : fmt::format("; expected {}", fmt::join(names, ", "))));
}

absl::Status PrintHelp(const CLI::App& app, const HelpFlags& flags) {
  const CLI::App* command = &app;
  std::string before;
  for (const std::string& word : flags.words) {
    before += (before.empty() ? "" : " ") + command->get_name();
    ASSIGN_OR_RETURN(command, FindCommand(*command, word));
  }
  // Of the formatter, because App::help prints the help of the verb that was parsed, which is this one.
  const std::string name = before + (before.empty() ? "" : " ") + command->get_name();
  const auto mode = flags.all ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal;
  fmt::print("{}", app.get_formatter()->make_help(command, name, mode));
  return absl::OkStatus();
}

}  // namespace

void AddHelpVerb(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<HelpFlags>();
  CLI::App& verb = *app.add_subcommand("help", "Describe a verb, or list all verbs");
  verb.add_option("VERB", flags->words, "The verb, and a subcommand of it if it has some")->type_name("VERB");
  verb.add_flag("--all", flags->all, "Describe every option");
  verb.callback([flags, &app, &program] { program.run = [flags, &app](Program&) { return PrintHelp(app, *flags); }; });
}

}  // namespace octavo
