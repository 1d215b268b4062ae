#include "generate/zipf.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

// Draws, and compares the frequency of each rank with its exact probability, in standard deviations. Rare ranks are
// combined.
void ExpectZipf(std::uint64_t count, int draws) {
  const Zipf zipf(count);
  RandomStream random(1, RandomPurpose::kGenerate, 0, count);
  std::vector<int> found(count);
  for (int i = 0; i < draws; ++i) ++found.at(zipf.Draw(random));
  double harmonic = 0;
  for (std::uint64_t i = count; i > 0; --i) harmonic += 1.0 / static_cast<double>(i);
  double expected = 0;
  double came = 0;
  for (std::uint64_t rank = 0; rank < count; ++rank) {
    expected += draws / (static_cast<double>(rank + 1) * harmonic);
    came += found[rank];
    if (expected < 200 && rank + 1 < count) continue;
    EXPECT_NEAR(came, expected, 6 * std::sqrt(expected) + 1) << "up to rank " << rank << " of " << count;
    expected = came = 0;
  }
}

TEST(Zipf, FollowsTheLaw) {
  for (const std::uint64_t count : {1, 2, 3, 4, 10, 1000, 1024, 5000}) ExpectZipf(count, 300'000);
}

TEST(Zipf, OctavesOfALargeCountAreAlike) {
  constexpr std::uint64_t kCount = (std::uint64_t{1} << 40) - 1;
  const Zipf zipf(kCount);
  RandomStream random(1, RandomPurpose::kGenerate, 0, 0);
  std::vector<int> octaves(40);
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) ++octaves.at(static_cast<std::size_t>(std::log2(zipf.Draw(random) + 1)));
  // H(2^40) = 28.3; octave k has ln 2 of it, except the first few.
  for (std::size_t k = 12; k < 40; ++k) EXPECT_NEAR(octaves[k], kDraws * 0.6931 / 28.303, 6 * std::sqrt(5000.0)) << k;
  EXPECT_NEAR(octaves[0], kDraws / 28.303, 6 * std::sqrt(7000.0));
}

}  // namespace
}  // namespace octavo
