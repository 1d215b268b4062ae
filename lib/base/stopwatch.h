// Seconds on the steady clock.
#pragma once

#include <chrono>

namespace octavo {

inline double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace octavo
