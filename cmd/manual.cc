#include "cmd/manual.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "cmd/command_facts.h"
#include "cmd/program_facts.h"
#include "cmd/version_facts.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr Fact kFiles[] = {{"GRAPH/graph.json", "counts and fingerprint of a graph"},
                           {"GRAPH/nodes.names", "one name per line; line i + 1 names row i of embeddings.npy"},
                           {"GRAPH/relations.tsv", "names of the relations, in the order of relations.npy"},
                           {"GRAPH/train.cells, valid.cells, test.cells", "the edges"},
                           {"RUN/run.json", "the configuration of a run"},
                           {"RUN/embeddings.npy, relations.npy", "the vectors, as NumPy reads them"},
                           {"RUN/metrics.jsonl", "one event per line: epochs and validations"},
                           {"RUN/STATE", "which rows are committed"}};

// Text escaped for roff, without line ends.
std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string Bold(std::string_view text) { return fmt::format("\\fB{}\\fR", Roff(text)); }
std::string Italic(std::string_view text) { return fmt::format("\\fI{}\\fR", Roff(text)); }

std::string Section(std::string title) {
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".SH {}\n", Roff(title));
}

// Indented lines are kept as they are; the others become paragraphs.
std::string Paragraphs(const std::string& text) {
  std::string out;
  bool as_is = false;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    const bool indented = line.starts_with(' ');
    if (indented != as_is) out += indented ? ".PP\n.nf\n" : ".fi\n.PP\n";
    as_is = indented;
    if (!line.empty()) out += Roff(line) + "\n";
  }
  return as_is ? out + ".fi\n" : out;
}

std::string Facts(std::span<const Fact> facts) {
  std::string text;
  for (const Fact& fact : facts) text += fmt::format(".TP\n{}\n{}\n", Bold(fact.name), Roff(fact.text));
  return text;
}

// "train, valid or test".
std::string Either(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", Bold(words[i]));
  }
  return text;
}

std::string Entry(const OptionFacts& facts) {
  std::string tag;
  for (const std::string& flag : facts.flags) {
    tag += fmt::format("{}{}", tag.empty() ? "" : ", ", facts.positional ? Italic(flag) : Bold(flag));
  }
  if (!facts.positional && !facts.value.empty()) tag += " " + Italic(facts.value);
  if (facts.repeated) tag += " ...";
  std::string text = fmt::format(".TP\n{}\n{}.", tag, Roff(facts.help));
  if (facts.closed)
    text += fmt::format(" {}: {}.", facts.choices.size() == 1 ? "Only" : "One of", Either(facts.choices));
  if (!facts.default_text.empty()) text += fmt::format(" The default is {}.", Bold(facts.default_text));
  return text + "\n";
}

// The options of a command by group, with `heading` (.SH or .SS) before each group.
std::string Options(const CLI::App& command, std::string_view heading) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const CLI::Option* option : OptionsOf(command)) {
    const OptionFacts facts = FactsOf(*option);
    const std::string group = facts.positional ? "Arguments" : facts.group;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == group; });
    if (found == groups.end()) found = groups.insert(facts.positional ? groups.begin() : groups.end(), {group, ""});
    found->second += Entry(facts);
  }
  std::string text;
  for (const auto& [group, entries] : groups) {
    text += heading == ".SH" ? Section(group) : fmt::format("{} {}\n", heading, Roff(group));
    text += entries;
  }
  return text;
}

// "octavo query [OPTIONS] neighbors NAME", with the required options.
std::string Synopsis(const CLI::App& command) {
  std::string line;
  std::string before;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    std::string own = Bold(at->get_name());
    if (at == &command) own += " [" + Italic("OPTIONS") + "]";
    for (const CLI::Option* option : OptionsOf(*at)) {
      const OptionFacts facts = FactsOf(*option);
      std::string word =
          facts.positional ? Italic(facts.flags[0]) : Bold(facts.flags.back()) + " " + Italic(facts.value);
      if (facts.repeated) word += " ...";
      if (facts.required) own += " " + word;
      if (facts.positional && !facts.required) own += " [" + word + "]";
    }
    line = line.empty() ? own : own + " " + line;
  }
  return line + "\n";
}

std::string Examples(std::string_view command) {
  std::string text = Section("Examples") + ".nf\n";
  for (const std::string_view example : ExamplesOf(command)) text += Roff(example) + "\n";
  return text + ".fi\n";
}

std::string Head(const std::string& name, const std::string& summary) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH {} 1 {} \"octavo {}\" \"User Commands\"\n{}{} \\- {}\n", Roff(title), kVersionDate, kVersion,
                     Section("Name"), Roff(name), Roff(summary));
}

// "trains embeddings": the name line of a manual page begins in lower case.
std::string Lowered(std::string text) {
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string ProgramPage(const CLI::App& app) {
  std::string text = Head("octavo", Lowered(Summary(app)));
  text += Section("Synopsis") + fmt::format("{} [{}] {} ...\n", Bold("octavo"), Italic("OPTIONS"), Italic("COMMAND"));
  text += Section("Description") + Paragraphs(app.get_description());
  text +=
      ".PP\n" +
      Roff(
          "octavo import makes a graph folder from an edge list, octavo train a run folder from a graph. The result "
          "is a function of graph, configuration and seed, whatever the number of threads; what was committed "
          "survives a kill, and octavo resume continues from there.") +
      "\n";
  text += Section("Commands");
  for (const CLI::App* command : CommandsOf(app)) {
    text += fmt::format(".TP\n{}(1)\n{}.\n", Bold("octavo-" + command->get_name()), Roff(Summary(*command)));
  }
  text += Options(app, ".SH");
  text += Section("Exit status") + Facts(ExitCodes());
  text += Section("Environment") + Facts(EnvironmentVariables());
  text += Section("Files") + Facts(kFiles);
  text += Examples("");
  text += Section("See also");
  const std::vector<const CLI::App*> commands = CommandsOf(app);
  for (const CLI::App* command : commands) {
    text += fmt::format(".BR {} (1){}\n", Roff("octavo-" + command->get_name()), command == commands.back() ? "" : ",");
  }
  return text;
}

std::string CommandPage(const CLI::App& command) {
  const std::string name = command.get_name();
  std::string text = Head("octavo-" + name, Lowered(Summary(command)));
  const std::vector<const CLI::App*> parts = CommandsOf(command);
  text += Section("Synopsis");
  if (parts.empty()) text += Synopsis(command);
  for (const CLI::App* part : parts) text += (part == parts.front() ? "" : ".br\n") + Synopsis(*part);
  text += Section("Description") + Paragraphs(command.get_description());
  text += Options(command, ".SH");
  for (const CLI::App* part : parts) {
    text += Section(part->get_name()) + Roff(part->get_description()) + ".\n" + Options(*part, ".SS");
  }
  for (const InheritedOptions& inherited : InheritedOptionsOf(command)) {
    text += Section(inherited.title);
    for (const CLI::Option* option : inherited.options) text += Entry(FactsOf(*option));
  }
  if (!command.get_footer().empty()) text += Section("Notes") + Paragraphs(command.get_footer());
  text += Section("Exit status") + Roff("0 when done; the others are in ") + "octavo(1).\n";
  return text + Examples(name) + Section("See also") + ".BR octavo (1),\n" + Roff(PageOf(name)) + "\n";
}

}  // namespace

std::string ManualPage(const CLI::App& app, const CLI::App* command) {
  return command == nullptr ? ProgramPage(app) : CommandPage(*command);
}

}  // namespace octavo
