// Numbers to compute with. Their values do not matter, except that they are not denormal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace octavo {

// Uniform in [-scale / 2, scale / 2).
inline std::vector<float> RandomFloats(std::size_t count, std::uint64_t seed, float scale = 1.0F) {
  RandomStream random(seed, RandomPurpose::kGenerate, 0, 0);
  std::vector<float> values(count);
  for (float& value : values) value = scale * (random.NextFloat() - 0.5F);
  return values;
}

}  // namespace octavo
