// Random rows for tests of kernels: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace octavo {

inline std::vector<float> RandomRows(std::size_t size, std::uint64_t seed, float scale = 1.0F) {
  RandomStream stream(seed, RandomPurpose::kInitialEmbeddings, 0, 0);
  std::vector<float> values(size);
  for (float& value : values) value = scale * stream.NextNormal();
  return values;
}

}  // namespace octavo
