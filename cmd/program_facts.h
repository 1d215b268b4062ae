// What help and manual pages say apart from the flags: the examples and documentation page of each verb, exit codes and
// environment variables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

struct Fact {
  std::string_view name;
  std::string_view text;
};

std::span<const Fact> ExitCodes();
std::span<const Fact> EnvironmentVariables();

// Example command lines of a verb, or of the program for an empty name; none for unknown verbs. The graph, run and
// files in them are placeholders.
std::vector<std::string_view> ExamplesOf(std::string_view verb);
// The options of a verb with many that its help describes, the others being named only; none if it describes all.
std::vector<std::string_view> FirstOptionsOf(std::string_view verb);
// The documentation page about the verb, e.g. "docs/training.md".
std::string_view PageOf(std::string_view verb);

// The last part of octavo --help and of octavo VERB --help.
std::string HelpFooter();
std::string HelpFooterOf(std::string_view verb);

}  // namespace octavo
