// How long the threads of each test race.

#ifndef OCTAVO_TESTS_RACES_RACE_H_
#define OCTAVO_TESTS_RACES_RACE_H_

#include <chrono>

namespace octavo {

using Clock = std::chrono::steady_clock;
inline constexpr std::chrono::milliseconds kDuration(700);

}  // namespace octavo

#endif  // OCTAVO_TESTS_RACES_RACE_H_
