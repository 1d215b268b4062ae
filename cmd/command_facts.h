// What completions and manual pages say about the command line, derived from the tree that parses it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

struct OptionFacts {
  std::vector<std::string> flags;    // "-q", "--quiet"; for a positional only its name
  std::string value;                 // "N", "DIR", "N|auto"; empty for a switch
  std::vector<std::string> choices;  // the allowed values, or the words that may replace a number
  bool closed = false;               // only the choices are allowed
  std::string default_text;
  std::string help;
  std::string group;
  bool required = false;
  bool positional = false;
  bool repeated = false;  // accepts several values
};

OptionFacts FactsOf(const CLI::Option& option);

// The options of one command that its help shows, in order; without those of its parent commands.
std::vector<const CLI::Option*> OptionsOf(const CLI::App& app);
// The options of the parent commands that are also allowed after it, nearest command first, without help and version.
struct InheritedOptions {
  std::string title;  // "Options of octavo query", "Options of every command"
  std::vector<const CLI::Option*> options;
};
std::vector<InheritedOptions> InheritedOptionsOf(const CLI::App& app);
// The sub-commands that its help shows.
std::vector<const CLI::App*> CommandsOf(const CLI::App& app);

// The first line of a command's description.
std::string Summary(const CLI::App& app);

// Whether the option prints help or the version, for which each command has its own.
bool IsHelp(const CLI::App& app, const CLI::Option* option);

}  // namespace octavo
