#include "model/dropout.h"

namespace octavo {

void DrawDropoutMask(RandomStream& stream, float rate, std::span<float> mask) {
  const float kept = 1.0F / (1.0F - rate);
  for (float& factor : mask) factor = stream.NextFloat() < rate ? 0.0F : kept;
}

}  // namespace octavo
