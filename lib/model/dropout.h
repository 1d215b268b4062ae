// Dropout of the rows that a query is made of (Srivastava et al., JMLR 2014): each float is 0 with a chance and else
// divided by what is left of 1, so that its expectation stays. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

namespace octavo {

struct DropoutSpec {
  float nodes = 0.0F;      // chance for a float of a known node's row, in [0, 1)
  float relations = 0.0F;  // likewise of a relation's row

  bool any() const { return nodes > 0 || relations > 0; }
};

// Writes the factors of a mask: 0 with the chance `rate`, else 1 / (1 - rate). Drawn from the stream in order.
// REQUIRES: 0 < rate < 1
void DrawDropoutMask(RandomStream& stream, float rate, std::span<float> mask);

}  // namespace octavo
