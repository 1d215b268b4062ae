// Memory that scoring a block of pairs reuses between calls.
#pragma once

#include <vector>

namespace octavo {

// Memory that block kernels reuse, for Euclidean distances only; one owner.
struct ScoreScratch {
  std::vector<float> query_norms;  // squared
  std::vector<float> candidate_norms;
  std::vector<float> query_sums;  // of the gradients; training only
  std::vector<float> candidate_sums;
};

}  // namespace octavo
