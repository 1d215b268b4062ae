// The clock of the races, and how long each of them runs.
#pragma once

#include <chrono>

namespace octavo {

using Clock = std::chrono::steady_clock;
inline constexpr std::chrono::milliseconds kRaceDuration(700);

}  // namespace octavo
