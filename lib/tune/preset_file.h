// What a search has found, as a preset that octavo train --config takes.
#pragma once

#include <string>
#include <string_view>

#include "train/options.h"
#include "tune/search_space.h"

namespace octavo {

// Returns a TOML file with `comment`, of one line or more, at its head and the options that the space names, but for
// those of the work, the epochs and the seed; with the plateau schedule, whose bits depend on them, the validations as
// well. A training with it gives the bits of the trial.
std::string PresetText(const SearchSpace& space, const TrainOptions& options, std::string_view comment);

}  // namespace octavo
