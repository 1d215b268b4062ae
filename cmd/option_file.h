// Configuration files for verbs whose options are not those of a training: TOML whose keys are the flags of one group
// of options, without dashes. The flags' own parsers read the values.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

// Sets the options given in the file, except those on the command line, as if they had been given there. Call it after
// parsing. A usage error names file and line, what was found and what is allowed.
absl::Status ReadOptionFile(CLI::App& verb, std::string_view group, const std::filesystem::path& path);

// Returns the options of the group for which `belongs` is true as such a file: one `key = value` per line.
std::string OptionFileText(const CLI::App& verb, std::string_view group,
                           const std::function<bool(const CLI::Option*)>& belongs);

}  // namespace octavo
