// Times as people read them.
#pragma once

#include <string>

namespace octavo {

// "12.3 s"; "5:46 min" from 100 seconds; "2:05 h" from 100 minutes; "-" if not finite.
// REQUIRES: seconds >= 0, or not finite
std::string DurationText(double seconds);

}  // namespace octavo
