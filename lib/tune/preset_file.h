// The result of a search, as a preset for octavo train --config.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "run/options.h"
#include "tune/search_space.h"

namespace octavo {

// Returns a TOML file that begins with `comment` (one or more lines) and contains the options named in the space,
// except those of the work, the epochs and the seed. With the plateau schedule it contains the validation options too,
// as the bits depend on them. A training with the preset gives the bits of the trial. The last line is a comment with
// the checksum of the text before it, XXH3-64.
std::string PresetText(const SearchSpace& space, const TrainOptions& options, std::string_view comment);

// Returns an error if the file is no preset, or does not match its checksum. With `sealed` it must have one; without,
// it may be from before there were checksums.
absl::Status CheckPreset(const std::filesystem::path& path, bool sealed);

}  // namespace octavo
