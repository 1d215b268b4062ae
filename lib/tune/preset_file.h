// The result of a search, as a preset for octavo train --config.
#pragma once

#include <string>
#include <string_view>

#include "run/options.h"
#include "tune/search_space.h"

namespace octavo {

// Returns a TOML file that begins with `comment` (one or more lines) and contains the options named in the space,
// except those of the work, the epochs and the seed. With the plateau schedule it contains the validation options too,
// as the bits depend on them. A training with the preset gives the bits of the trial.
std::string PresetText(const SearchSpace& space, const TrainOptions& options, std::string_view comment);

}  // namespace octavo
