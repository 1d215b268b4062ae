#include "cmd/usage.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <string_view>

#include "base/escape.h"
#include "cmd/command_facts.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"
#include "run/option_aliases.h"

namespace octavo {
namespace {

constexpr std::string_view kNoCommand = "A subcommand is required";  // CLI11's text

// The sub-commands that were parsed, the deepest last.
std::vector<const CLI::App*> CommandsRead(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands()[0];
    commands.push_back(at);
  }
  return commands;
}

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : OptionsOf(*at)) {
      const OptionFacts facts = FactsOf(*option);
      if (!facts.positional) flags.insert(flags.end(), facts.flags.begin(), facts.flags.end());
    }
  }
  return flags;
}

// An option of trainings by the name that it has elsewhere, if it is one of `names`; otherwise similar names.
std::string Suggest(const std::string& wanted, const std::vector<std::string>& names) {
  if (wanted.starts_with('-')) {
    const std::string meant = fmt::format("--{}", OptionMeantBy(wanted.substr(wanted.find_first_not_of('-'))));
    if (std::ranges::find(names, meant) != names.end()) return DidYouMean({meant});
  }
  return DidYouMean(NearNames(wanted, names.size(), [&](std::uint64_t i) -> std::string_view { return names[i]; }));
}

// If other words are in place of a sub-command: what was typed with the sub-command that accepts this many words before
// them. Otherwise nothing.
std::string Example(const CLI::App& command, const std::vector<std::string>& rest,
                    const std::vector<std::string>& typed) {
  const auto flag = std::find_if(rest.begin(), rest.end(), [](const auto& word) { return word.starts_with('-'); });
  const auto words = flag - rest.begin();
  for (const CLI::App* part : CommandsOf(command)) {
    std::ptrdiff_t most = 0;
    std::ptrdiff_t least = 0;
    for (const CLI::Option* option : OptionsOf(*part)) {
      most += option->get_positional() ? 1 : 0;
      least += option->get_positional() && option->get_required() ? 1 : 0;
    }
    if (words < std::max<std::ptrdiff_t>(1, least) || words > most) continue;
    std::string text = "octavo";
    bool placed = false;
    for (std::size_t i = 0; i < typed.size(); ++i) {
      if (!placed && typed[i] == rest[0] && !(i > 0 && typed[i - 1].starts_with('-'))) {
        text += " " + part->get_name();
        placed = true;
      }
      text += " " + ShellWord(typed[i]);
    }
    return placed ? ", as in: " + text : "";
  }
  return "";
}

}  // namespace

std::string UsageMessage(const CLI::App& app, const std::string& message, const std::vector<std::string>& typed) {
  const std::vector<const CLI::App*> commands = CommandsRead(app);
  const CLI::App& command = commands.empty() ? app : *commands.back();
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  const std::vector<std::string> parts = NamesOf(CommandsOf(command));
  // A word in place of a verb is a misspelt verb, and the flags after it belong to that.
  const bool no_verb = !parts.empty() && !rest.empty() && !rest[0].starts_with('-');
  const auto flag =
      no_verb ? rest.end()
              : std::find_if(rest.begin(), rest.end(), [](const auto& word) { return word.starts_with('-'); });
  std::string text = message;
  if (flag != rest.end()) {
    const std::string name = flag->substr(0, flag->find('='));
    const std::vector<std::string> flags = FlagsOf(command);
    std::string meant = Suggest(name, flags);
    if (meant.empty() && name.size() > 2 && name[1] != '-') meant = Suggest("-" + name, flags);
    const bool known = std::ranges::find(typed, "--") != typed.end() && std::ranges::find(flags, name) != flags.end();
    text = known ? fmt::format("found the flag \"{}\" after --, where every word is a value; expected flags before --",
                               Escape(name))
                 : fmt::format("unknown flag \"{}\"{}", Escape(name), meant);
  } else if (!parts.empty() && rest.empty() && message == kNoCommand) {
    text = fmt::format("expected a {}: {}", commands.empty() ? "verb" : "subcommand", fmt::join(parts, ", "));
  } else if (no_verb) {
    const std::string meant = Suggest(rest[0], parts);
    text = fmt::format("unknown {} \"{}\"{}", commands.empty() ? "verb" : "subcommand", Escape(rest[0]), meant);
    if (meant.empty() && !commands.empty()) {
      text += fmt::format("; expected {}{}", fmt::join(parts, ", "), Example(command, rest, typed));
    }
  } else if (!rest.empty()) {
    const std::vector<const CLI::Option*> options = OptionsOf(command);
    const bool takes_names = std::ranges::any_of(options, [](const auto* option) { return option->get_positional(); });
    text += takes_names
                ? fmt::format("; found the word \"{}\" too many; a name with blanks needs quotes", Escape(rest[0]))
                : fmt::format("; found \"{}\", which does not belong to a flag", Escape(rest[0]));
  }
  const std::string separator = text.ends_with("?") ? "" : ";";
  std::vector<std::string> names = NamesOf(commands);
  return fmt::format("{}{} see octavo {}{}--help", text, separator, fmt::join(names, " "), names.empty() ? "" : " ");
}

}  // namespace octavo
