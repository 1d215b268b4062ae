// The precision of a new run's products: what `auto` is on this machine.
#pragma once

#include "run/options.h"

namespace octavo {

// Returns `options` with float32 or bf16 for auto: bf16 where scores are inner products and this machine has AMX, by
// which they are several times as fast. Otherwise bf16 costs time. A run keeps what was settled, on any machine.
TrainOptions WithSettledPrecision(TrainOptions options);

}  // namespace octavo
