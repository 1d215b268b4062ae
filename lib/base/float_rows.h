// Loops over rows of floats, by vectors. Any thread.
#pragma once

#include <cstddef>
#include <span>

namespace octavo {

// numbers[i] = value for i < count.
void FillFloats(std::size_t count, float value, float* numbers);

// sums[i] += addends[i] for i < count.
void AddFloats(std::size_t count, const float* addends, float* sums);
// sums[i] = first[i] + second[i]; sums may be one of them.
void AddFloats(std::size_t count, const float* first, const float* second, float* sums);

// False if a number is a NaN or infinite.
bool AllFinite(std::span<const float> row);

}  // namespace octavo
