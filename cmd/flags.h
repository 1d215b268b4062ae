// Typed flags. The command-line library reads -1 as 2^64 - 1 and accepts NaN as a number in a range; so values are read
// as text and parsed here. An error names the flag, what was found and what is allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace octavo {

// Adds an option for a whole number in [least, most]; `value` holds its default and receives the result.
CLI::Option* AddWholeNumber(CLI::App& app, const std::string& flag, std::uint64_t& value, std::uint64_t least,
                            std::uint64_t most, const std::string& help);
// The same for a finite number in [least, most].
CLI::Option* AddRealNumber(CLI::App& app, const std::string& flag, double& value, double least, double most,
                           const std::string& help);
// The same for a size with a unit (base/byte_size.h) of at least `least` bytes.
CLI::Option* AddByteSize(CLI::App& app, const std::string& flag, std::uint64_t& value, std::uint64_t least,
                         const std::string& help);

// Rejects an empty path. For options and positionals that name a file or a folder; returns the option.
CLI::Option* RefuseEmpty(CLI::Option* option);

}  // namespace octavo
