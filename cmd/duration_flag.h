// A flag for a time.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

// Adds an option for a time such as 90s, 30m, 2h or 1.5d; `seconds` receives it.
CLI::Option* AddDuration(CLI::App& app, const std::string& flag, double& seconds, const std::string& help);

}  // namespace octavo
