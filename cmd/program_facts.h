// What holds for every verb, as help and manual pages say it: exit codes and the environment.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace octavo {

struct Fact {
  std::string_view name;
  std::string_view text;
};

std::span<const Fact> ExitCodes();
std::span<const Fact> EnvironmentVariables();

// Both as the end of octavo --help.
std::string HelpFooter();

}  // namespace octavo
