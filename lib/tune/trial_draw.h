// The trials of a search: random points of its space (Bergstra and Bengio, "Random search for hyper-parameter
// optimization", JMLR 2012), each number drawn by its counter: a function of seed, trial and key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "train/options.h"
#include "tune/search_space.h"

namespace octavo {

struct TrialDraw {
  TrainOptions options;
  std::vector<std::string> values;  // of SearchSpace::options, in its order

  friend bool operator==(const TrialDraw& a, const TrialDraw& b) { return a.values == b.values; }
};

// Returns `count` trials, no two alike, each `base` with the values of a point of the space over it; fewer where a
// trial's thousandth point is still one that was there before. Points whose options do not fit each other
// (ValidateTrainOptions) are drawn anew; where no other is found, that is a usage error with the reason. Real numbers
// have three digits of their range.
absl::StatusOr<std::vector<TrialDraw>> DrawTrials(const SearchSpace& space, const TrainOptions& base,
                                                  std::uint64_t seed, std::uint64_t count);

}  // namespace octavo
