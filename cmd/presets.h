// Presets that were installed with the program: PREFIX/share/octavo/configs beside PREFIX/bin/octavo; configs/walk for
// octavo walk, and configs/tune, the search spaces, for octavo tune. In a build tree they are the configs/ of the
// sources.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// The presets of a verb: their names without .toml, sorted.
std::vector<std::string> InstalledPresets(std::string_view verb);

// Returns the file that --config or --space refers to: the path itself or, if there is no such file and it is a bare
// name, the installed preset with that name for the verb.
std::filesystem::path PresetPath(const std::string& config, std::string_view verb);

}  // namespace octavo
