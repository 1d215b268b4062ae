#include "cmd/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "base/escape.h"
#include "cmd/command_facts.h"
#include "evaluate/near_names.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::string_view kNoCommand = "A subcommand is required";  // as CLI11 has it

// The sub-commands that were read, the deepest last.
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

std::string Suggest(const std::string& wanted, const std::vector<std::string>& names) {
  return DidYouMean(NearNames(wanted, names.size(), [&](std::uint64_t i) -> std::string_view { return names[i]; }));
}

}  // namespace

std::string DidYouMean(const std::vector<std::string>& near) {
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i) {
    text += fmt::format("{}\"{}\"", i == 0 ? "; did you mean " : i + 1 == near.size() ? " or " : ", ", Escape(near[i]));
  }
  return near.empty() ? text : text + "?";
}

std::string UsageMessage(const CLI::App& app, const std::string& message) {
  const std::vector<const CLI::App*> commands = CommandsRead(app);
  const CLI::App& command = commands.empty() ? app : *commands.back();
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  // What stands where a verb belongs is a misspelt one, and the flags behind it are that one's.
  const bool no_verb = commands.empty() && !rest.empty() && rest[0][0] != '-';
  const auto flag =
      no_verb ? rest.end() : std::find_if(rest.begin(), rest.end(), [](const auto& word) { return word[0] == '-'; });
  std::string text = message;
  if (flag != rest.end()) {
    const std::string name = flag->substr(0, flag->find('='));
    const std::vector<std::string> flags = FlagsOf(command);
    std::string meant = Suggest(name, flags);
    if (meant.empty() && name.size() > 2 && name[1] != '-') meant = Suggest("-" + name, flags);
    text = fmt::format("unknown flag \"{}\"{}", Escape(name), meant);
  } else if (const std::vector<std::string> parts = NamesOf(CommandsOf(command));
             !parts.empty() && (!rest.empty() || message == kNoCommand)) {
    const std::string_view what = commands.empty() ? "verb" : "subcommand";
    text = rest.empty() ? fmt::format("expected a {}: {}", what, fmt::join(parts, ", "))
                        : fmt::format("unknown {} \"{}\"{}", what, Escape(rest[0]), Suggest(rest[0], parts));
  } else if (!rest.empty()) {
    text += fmt::format("; found \"{}\", which belongs to no flag", Escape(rest[0]));
  }
  const std::string separator = text.ends_with("?") ? "" : ";";
  std::vector<std::string> names = NamesOf(commands);
  return fmt::format("{}{} see octavo {}{}--help", text, separator, fmt::join(names, " "), names.empty() ? "" : " ");
}

}  // namespace octavo
