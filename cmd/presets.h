// Presets that were installed with the program: PREFIX/share/octavo/configs beside PREFIX/bin/octavo, of it
// configs/walk for octavo walk and configs/tune, the search spaces, for octavo tune. The build tree has configs/ of the
// sources there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// Those of a verb: their names, without .toml, in order.
std::vector<std::string> InstalledPresets(std::string_view verb);

// Returns the file that --config or --space means: the path as it is, or, where there is no such file and it is a bare
// name, the installed preset of that name for the verb.
std::filesystem::path PresetPath(const std::string& config, std::string_view verb);

}  // namespace octavo
