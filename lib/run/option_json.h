// An option's value as written in run.json and in TOML, which have the same syntax for numbers, switches and strings.
#pragma once

#include <string>

#include "run/options.h"

namespace octavo {

// Returns an option's value as JSON text: numbers and switches as such, anything else as a string.
std::string OptionJson(const OptionField& field, const TrainOptions& options);

}  // namespace octavo
