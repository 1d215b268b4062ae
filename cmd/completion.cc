#include "cmd/completion.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cmd/command_facts.h"
#include "cmd/presets.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::size_t kMaxHelpBytes = 76;  // so that a description fits one line of a terminal

// Returns the option for the flag in the command or its parents, or nullptr: the program's flags are also allowed after
// verbs.
const CLI::Option* FindOption(const CLI::App& app, const std::string& flag) {
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    if (const CLI::Option* option = at->get_option_no_throw(flag)) return option;
  }
  return nullptr;
}

// The command's own sub-command with that name, or nullptr.
const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  const std::vector<const CLI::App*> commands = CommandsOf(app);
  const auto found = std::find_if(commands.begin(), commands.end(), [&](auto* c) { return c->get_name() == name; });
  return found == commands.end() ? nullptr : *found;
}

std::string Line(const std::string& candidate, std::string help) {
  std::replace(help.begin(), help.end(), '\n', ' ');
  if (help.size() > kMaxHelpBytes) help = help.substr(0, help.rfind(' ', kMaxHelpBytes)) + " ...";
  return fmt::format("{}\t{}\n", candidate, help);
}

// The values of an option that begin with `prefix`.
std::string Values(const CLI::App& command, const OptionFacts& facts, std::string_view prefix,
                   const std::string& before) {
  std::string text;
  for (const std::string& choice : facts.choices) {
    if (choice.starts_with(prefix)) text += Line(before + choice, choice == facts.default_text ? "the default" : "");
  }
  for (const std::string_view verb : VerbsWithPresets()) {
    const bool its = command.get_name() == verb && facts.flags.back() == FlagOfPresets(verb);
    if (!its && facts.value != "PRESET") continue;
    for (const std::string& preset : InstalledPresets(verb)) {
      if (preset.starts_with(prefix)) text += Line(before + preset, "preset");
    }
  }
  if (facts.value == "VERB") {
    for (const CLI::App* verb : CommandsOf(*command.get_parent())) {
      if (verb->get_name().starts_with(prefix)) text += Line(before + verb->get_name(), Summary(*verb));
    }
  }
  const bool folder = facts.value == "DIR";
  const bool path = facts.value == "FILE" || facts.value == "PATH";
  return text + (folder ? ":dirs\n" : path ? ":files\n" : ":none\n");
}

}  // namespace

std::string Complete(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  const CLI::Option* pending = nullptr;  // takes the next word as its value
  std::size_t positionals = 0;
  bool flags_ended = false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (pending != nullptr) {
      pending = nullptr;
    } else if (!flags_ended && word == "--") {
      flags_ended = true;
    } else if (!flags_ended && word.starts_with("-") && word != "-") {
      const CLI::Option* option = word.find('=') == std::string::npos ? FindOption(*at, word) : nullptr;
      if (option != nullptr && !FactsOf(*option).value.empty()) pending = option;
    } else if (const CLI::App* command = flags_ended ? nullptr : FindCommand(*at, word)) {
      at = command;
      positionals = 0;
    } else {
      ++positionals;
    }
  }
  const std::string last = words.empty() ? "" : words.back();
  if (pending != nullptr) return Values(*at, FactsOf(*pending), last, "");
  if (const std::size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = FindOption(*at, last.substr(0, equals));
    if (option == nullptr || FactsOf(*option).value.empty()) return ":none\n";
    return Values(*at, FactsOf(*option), std::string_view(last).substr(equals + 1), last.substr(0, equals + 1));
  }
  std::string text;
  if (!flags_ended && last.starts_with("-")) {
    for (const CLI::App* from = at; from != nullptr; from = from->get_parent()) {
      for (const CLI::Option* option : OptionsOf(*from)) {
        const OptionFacts facts = FactsOf(*option);
        if (facts.positional || (from != at && option != from->get_version_ptr() && IsHelp(*from, option))) continue;
        for (const std::string& flag : facts.flags) {
          if (flag.starts_with(last)) text += Line(flag, facts.help);
        }
      }
    }
    return text + ":none\n";
  }
  for (const CLI::App* command : CommandsOf(*at)) {
    if (!flags_ended && command->get_name().starts_with(last)) text += Line(command->get_name(), Summary(*command));
  }
  if (!text.empty()) return text + ":none\n";
  for (const CLI::Option* option : OptionsOf(*at)) {
    const OptionFacts facts = FactsOf(*option);
    if (facts.positional && (facts.repeated || positionals-- == 0)) return Values(*at, facts, last, "");
  }
  return ":none\n";
}

}  // namespace octavo
