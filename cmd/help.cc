#include "cmd/help.h"

#include <CLI/CLI.hpp>  // not App.hpp: the one place that compiles CLI11's formatter and reader of configuration files
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cmd/command_facts.h"
#include "cmd/presets.h"
#include "cmd/program_facts.h"
#include "cmd/terminal.h"
#include "cmd/wrapped_text.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::size_t kNameColumn = 30;  // where descriptions begin
constexpr std::size_t kCommandIndent = 2;

bool IsVerb(const CLI::App& app) { return app.get_parent() != nullptr && app.get_parent()->get_parent() == nullptr; }

// A command in several lines that can be copied: each but the last ends with a backslash.
std::string WrappedCommand(const std::string& line, std::size_t columns) {
  std::string text = Wrapped(line.substr(kCommandIndent), columns - 2, 2 * kCommandIndent, kCommandIndent);
  absl::StrReplaceAll({{"\n", " \\\n"}}, &text);
  return line.substr(0, kCommandIndent) + text;
}

// An indented line has a name and, after two spaces, a text, or is a command.
std::string WrappedLine(const std::string& line, std::size_t columns) {
  if (!line.starts_with(' ')) return Wrapped(line, columns);
  if (line.size() <= columns) return line;
  const std::size_t gap = line.rfind("  ");
  if (gap < kCommandIndent) return WrappedCommand(line, columns);
  return line.substr(0, gap + 2) + Wrapped(std::string_view(line).substr(gap + 2), columns, gap + 2, gap + 2);
}

// "--name TEXT:{a,b,c}" in lines that end after a comma.
std::string WrappedChoices(std::string name, std::size_t columns) {
  absl::StrReplaceAll({{",", ", "}}, &name);
  name = Wrapped(name, columns, 6, 2);
  absl::StrReplaceAll({{", ", ","}}, &name);
  return name;
}

// Lines of prose that follow each other are one paragraph.
std::string WrappedLines(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  bool joins = false;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    const bool prose = !line.empty() && !line.starts_with(' ');
    if (prose && joins) {
      lines.back() += " " + line;
    } else {
      lines.push_back(line);
    }
    joins = prose;
  }
  std::string out;
  for (const std::string& line : lines) out += WrappedLine(line, columns) + "\n";
  out.pop_back();
  return out;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const std::vector<std::string_view> first =
        mode == CLI::AppFormatMode::All ? std::vector<std::string_view>() : FirstOptionsOf(app->get_name());
    std::string text = WrappedLines(app->get_description(), TextColumns()) + "\n" + make_usage(app, std::move(name));
    text += make_positionals(app);
    if (IsVerb(*app) && !first.empty()) {
      text += FirstOptions(*app, first);
    } else {
      text += make_groups(app, mode) + Inherited(*app);
    }
    text += make_subcommands(app, CLI::AppFormatMode::Normal);
    return text + "\n" + make_footer(app);
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional) + make_option_opts(option);
    if (name.size() + 2 > TextColumns()) name = WrappedChoices(name, TextColumns());
    return NameAndText(name, make_option_desc(option), kNameColumn, TextColumns());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return NameAndText(command->get_name(), Summary(*command), kNameColumn, TextColumns());
  }

  std::string make_footer(const CLI::App* app) const override {
    std::string text = CLI::Formatter::make_footer(app);
    if (IsVerb(*app)) {
      text += (text.empty() ? "" : "\n") + Presets(app->get_name()) + HelpFooterOf(app->get_name()) + "\n";
    }
    return WrappedLines(text, TextColumns());
  }

 private:
  std::string Inherited(const CLI::App& app) const {
    std::string text;
    for (const InheritedOptions& inherited : InheritedOptionsOf(app)) {
      if (!inherited.options.empty()) text += make_group(inherited.title, /*is_positional=*/false, inherited.options);
    }
    return text;
  }

  // The options `first` described, all others named.
  std::string FirstOptions(const CLI::App& app, const std::vector<std::string_view>& first) const {
    std::vector<const CLI::Option*> described;
    for (const std::string_view name : first) {
      const CLI::Option* option = app.get_option_no_throw(std::string(name));
      if (option == nullptr) option = app.get_parent()->get_option_no_throw(std::string(name));
      if (option != nullptr) described.push_back(option);
    }
    std::string text = make_group("Options that most trainings need", /*is_positional=*/false, described);
    std::vector<std::pair<std::string, std::string>> groups;
    const auto add = [&](const std::string& title, const CLI::Option* option) {
      if (option->get_positional() || std::ranges::find(described, option) != described.end()) return;
      if (groups.empty() || groups.back().first != title) groups.emplace_back(title, "");
      groups.back().second +=
          fmt::format("{}{}", groups.back().second.empty() ? "" : " ", FactsOf(*option).flags.back());
    };
    for (const std::string& group : app.get_groups()) {
      for (const CLI::Option* option : OptionsOf(app)) {
        if (option->get_group() == group) add(group == "Options" ? "Start and end" : group, option);
      }
    }
    for (const InheritedOptions& inherited : InheritedOptionsOf(app)) {
      for (const CLI::Option* option : inherited.options) add(inherited.title, option);
    }
    text += fmt::format("\nAll others, which octavo {} --help-all describes:\n", app.get_name());
    for (const auto& [title, names] : groups) text += NameAndText(title, names, kNameColumn, TextColumns());
    return text;
  }

  static std::string Presets(const std::string& verb) {
    const std::vector<std::string> names = InstalledPresets(verb);
    if (FlagOfPresets(verb).empty() || names.empty()) return "";
    return fmt::format("Presets for {} (octavo presets says what each is for): {}\n\n", FlagOfPresets(verb),
                       fmt::join(names, ", "));
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() { return std::make_shared<HelpFormatter>(); }

void ShowHelpAll(CLI::App& app) {
  CLI::Option* const option = app.get_option("--help-all");
  if (!IsVerb(app) || FirstOptionsOf(app.get_name()).empty()) option->group("");
  for (CLI::App* command : app.get_subcommands(nullptr)) ShowHelpAll(*command);
}

std::string ShortHelp(const CLI::App& app) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : CommandsOf(app)) verbs.push_back(verb->get_name());
  std::string text = app.get_description() + "\n\nFirst steps:\n";
  for (const std::string_view example : ExamplesOf("")) text += fmt::format("  {}\n", example);
  text += fmt::format("\nVerbs: {}\n\n", fmt::join(verbs, ", "));
  text += "octavo help VERB describes a verb, octavo --help lists all with one line each.\n";
  return WrappedLines(text, TextColumns()) + "\n";
}

}  // namespace octavo
