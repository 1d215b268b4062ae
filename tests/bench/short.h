// How long the tests of the benches measure.
#pragma once

namespace octavo {

inline constexpr double kShortSeconds = 0.01;  // speed is measured, not asserted

}  // namespace octavo
