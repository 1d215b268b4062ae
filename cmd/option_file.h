// Configuration files of verbs whose options are not those of a training: TOML whose keys are the flags of one group of
// the verb's options, without their dashes. The flags' own parsers take the values.
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

// Sets what the file says, unless the command line has said it, as if it had. After the parsing. A usage error names
// file and line, what was found and what is allowed.
absl::Status ReadOptionFile(CLI::App& verb, std::string_view group, const std::filesystem::path& path);

// Returns the options of the group that `belongs` takes, as such a file: `key = value` a line.
std::string OptionFileText(const CLI::App& verb, std::string_view group,
                           const std::function<bool(const CLI::Option*)>& belongs);

}  // namespace octavo
