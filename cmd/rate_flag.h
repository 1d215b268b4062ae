// A flag for the speed of a network.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

// Adds an option for a rate such as 2.5GB/s, 100MiB/s or 10Gbit/s; `bytes_per_second` receives it.
CLI::Option* AddByteRate(CLI::App& app, const std::string& flag, double& bytes_per_second, const std::string& help);

}  // namespace octavo
