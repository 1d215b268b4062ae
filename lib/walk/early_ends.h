// Tells whether most walks of a graph ended long before they had to: at a node from which no edge leads away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "walk/walk_options.h"

namespace octavo {

// If `walks` walks, which follow edges from head to tail only, gave so few pairs that most of them must have ended
// early, returns a sentence that says so and names the flag that helps. `pairs` is counted in one direction.
std::optional<std::string> EarlyEnds(const WalkOptions& options, std::uint64_t walks, std::uint64_t pairs);

}  // namespace octavo
