// The trials of a search: random points of its space (Bergstra and Bengio, "Random search for hyper-parameter
// optimization", JMLR 2012). Numbers are drawn by counter, as a function of seed, trial and key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "run/options.h"
#include "tune/search_space.h"

namespace octavo {

struct TrialDraw {
  TrainOptions options;
  std::vector<std::string> values;  // of SearchSpace::options, in their order

  friend bool operator==(const TrialDraw& a, const TrialDraw& b) { return a.values == b.values; }
};

// Returns one of the values. Real numbers have three digits relative to their range.
std::string DrawValue(const SpaceValues& values, RandomStream& stream);

// The checks of `train`, whose --config takes a search's result.
absl::Status CheckTrialOptions(const TrainOptions& options);

// Returns `count` distinct trials: `base` with the values of a point of the space. Returns fewer if the thousandth draw
// of a trial is still a repeated point. Points whose options are inconsistent (CheckTrialOptions) are drawn again;
// if there is no other, the result is a usage error with the reason.
absl::StatusOr<std::vector<TrialDraw>> DrawTrials(const SearchSpace& space, const TrainOptions& base,
                                                  std::uint64_t seed, std::uint64_t count);

}  // namespace octavo
