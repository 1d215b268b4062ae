// What completions and manual pages say of the command line, read off the tree that parses it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

struct OptionFacts {
  std::vector<std::string> flags;    // "-q", "--quiet"; of a positional its name alone
  std::string value;                 // "N", "DIR", "N|auto"; empty for a switch
  std::vector<std::string> choices;  // the values that are allowed, or words beside a number
  bool closed = false;               // nothing but the choices is allowed
  std::string default_text;
  std::string help;
  std::string group;
  bool required = false;
  bool positional = false;
  bool repeated = false;  // takes several values
};

OptionFacts FactsOf(const CLI::Option& option);

// The options of one command that its help shows, in its order; without those of the commands above it.
std::vector<const CLI::Option*> OptionsOf(const CLI::App& app);
// The options of the commands above it that may stand behind it: of all but help and version, the nearest command
// first.
struct InheritedOptions {
  std::string title;  // "Options of octavo query", "Options of every command"
  std::vector<const CLI::Option*> options;
};
std::vector<InheritedOptions> InheritedOptionsOf(const CLI::App& app);
// Its sub-commands that the help shows.
std::vector<const CLI::App*> CommandsOf(const CLI::App& app);

// The first line of a command's description.
std::string Summary(const CLI::App& app);

}  // namespace octavo
