// Limits of a choice of training options.
#pragma once

#include <cstdint>

namespace octavo {

// What a training of a knowledge graph may cost in floating-point operations if no time is given: on two cores of 2024
// about five minutes of matrix products.
inline constexpr double kUsualFlops = 70e12;

// For how many threads' memory a choice leaves room, so that it does not depend on their number.
inline constexpr int kThreadsOfChoice = 8;

// The fewest negatives of a training for which a time is given.
inline constexpr std::uint64_t kLeastTimedNegatives = 100;

}  // namespace octavo
