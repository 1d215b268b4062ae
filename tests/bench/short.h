// How long the tests of the benches measure.

#ifndef OCTAVO_TESTS_BENCH_SHORT_H_
#define OCTAVO_TESTS_BENCH_SHORT_H_

namespace octavo {

inline constexpr double kShort = 0.01;  // seconds: speed is measured, not asserted

}  // namespace octavo

#endif  // OCTAVO_TESTS_BENCH_SHORT_H_
