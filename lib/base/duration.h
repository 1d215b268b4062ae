// Times as people read them.
#pragma once

#include <string>

namespace octavo {

// "12.3 s", from 100 seconds on "5:46 min", from 100 minutes on "2:05 h"; "-" for what is not finite.
// REQUIRES: seconds >= 0, or not finite
std::string DurationText(double seconds);

}  // namespace octavo
