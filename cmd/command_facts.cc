#include "cmd/command_facts.h"

#include <CLI/App.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/str_split.h"

namespace octavo {
namespace {

std::vector<std::string> SplitNonEmpty(std::string_view text, char separator) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), separator, absl::SkipEmpty());
}

}  // namespace

OptionFacts FactsOf(const CLI::Option& option) {
  OptionFacts facts;
  facts.positional = option.get_positional();
  facts.help = option.get_description();
  facts.group = option.get_group();
  facts.required = option.get_required();
  facts.default_text = option.get_default_str();
  if (facts.positional) {
    facts.flags = {option.get_name(/*positional=*/true)};
  } else {
    for (const std::string& name : option.get_snames()) facts.flags.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) facts.flags.push_back("--" + name);
  }
  if (option.get_type_size() == 0) return facts;
  facts.repeated = option.get_expected_max() > 1;
  // The name of the value; after bars, words that may replace it; in braces, all allowed values.
  const std::string type = option.get_type_name();
  facts.value = type.substr(0, type.find(':'));
  if (const std::size_t open = type.find('{'); open != std::string::npos) {
    facts.choices = SplitNonEmpty(std::string_view(type).substr(open + 1, type.rfind('}') - open - 1), ',');
    facts.closed = true;
  } else {
    facts.choices = SplitNonEmpty(facts.value, '|');
    if (!facts.choices.empty()) facts.choices.erase(facts.choices.begin());
  }
  return facts;
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::vector<InheritedOptions> InheritedOptionsOf(const CLI::App& app) {
  std::vector<InheritedOptions> all;
  for (const CLI::App* at = app.get_parent(); at != nullptr; at = at->get_parent()) {
    InheritedOptions inherited;
    inherited.title = at->get_parent() == nullptr ? "Options of every command" : "Options of octavo " + at->get_name();
    for (const CLI::Option* option : OptionsOf(*at)) {
      if (!IsHelp(*at, option) && !option->get_positional()) inherited.options.push_back(option);
    }
    all.push_back(std::move(inherited));
  }
  return all;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

bool IsHelp(const CLI::App& app, const CLI::Option* option) {
  return option == app.get_help_ptr() || option == app.get_help_all_ptr() || option == app.get_version_ptr();
}

std::string Summary(const CLI::App& app) {
  const std::string text = app.get_description();
  return text.substr(0, text.find('\n'));
}

}  // namespace octavo
