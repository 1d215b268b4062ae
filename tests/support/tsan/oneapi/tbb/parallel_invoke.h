// tbb::parallel_invoke on plain threads, for builds with the thread sanitizer: parallel_for.h here explains why.
#pragma once

#include "oneapi/tbb/parallel_for.h"

namespace tbb {

template <typename First, typename Second>
void parallel_invoke(const First& first, const Second& second) {
  plain_threads::RunPieces(2, [&](std::size_t piece) {
    if (piece == 0) {
      first();
    } else {
      second();
    }
  });
}

}  // namespace tbb
