// Presets that were installed with the program: PREFIX/share/octavo/configs beside PREFIX/bin/octavo. The build tree
// has configs/ of the sources there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace octavo {

// Their names, without .toml, in order.
std::vector<std::string> InstalledPresets();

// Returns the file that --config means: the path as it is, or, where there is none and it is a bare name, the
// installed preset of that name.
std::filesystem::path PresetPath(const std::string& config);

}  // namespace octavo
