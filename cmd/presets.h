// Presets that were installed with the program: PREFIX/share/octavo/configs beside PREFIX/bin/octavo; configs/walk for
// octavo walk, and configs/tune, the search spaces, for octavo tune. In a build tree they are the configs/ of the
// sources.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

// The verbs that have presets, and their flag that takes one: "--config" or "--space"; empty for other verbs.
std::span<const std::string_view> VerbsWithPresets();
std::string_view FlagOfPresets(std::string_view verb);

// The presets of a verb: their names without .toml, sorted.
std::vector<std::string> InstalledPresets(std::string_view verb);

// Returns the file of the verb's installed preset with that name, with or without .toml; empty if there is none.
std::filesystem::path InstalledPreset(const std::string& name, std::string_view verb);

// Returns the file that --config or --space refers to: the path itself or, if there is no such file and it is a bare
// name, the installed preset with that name for the verb. A bare name that is neither is a usage error that names
// similar presets, or the verb whose preset it is. `flag` is the one that was given, for the message.
absl::StatusOr<std::filesystem::path> FindPreset(const std::string& config, std::string_view verb,
                                                 std::string_view flag);

// Returns that error. Without a verb, similar presets of all verbs are suggested, and no flag is named.
absl::Status UnknownPreset(const std::string& name, std::string_view verb, std::string_view flag);

// Returns an error that names the folder that has no presets: the program is not where it was installed.
absl::Status NoPresets();

}  // namespace octavo
