// What help and manual pages say beside the flags: of every verb its examples and its page, and what holds for all of
// them, exit codes and the environment.
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

// Command lines of a verb, or with an empty name of the program; none of what is no verb. The graph, run and files that
// they name are the reader's.
std::vector<std::string_view> ExamplesOf(std::string_view verb);
// The page of the documentation that tells of the verb, "docs/training.md".
std::string_view PageOf(std::string_view verb);

// The ends of octavo --help and of octavo VERB --help.
std::string HelpFooter();
std::string HelpFooterOf(std::string_view verb);

}  // namespace octavo
