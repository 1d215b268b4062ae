// The regularizer's penalties of a chunk. Internal to model/.
#pragma once

#include "model/chunk.h"
#include "model/model_spec.h"
#include "model/regularizer.h"

namespace octavo {

// Adds the gradients of the penalties to those of heads, tails and relations; returns their sum. Each side of an edge
// penalises the three rows that it is scored with, as often as its weight says, so nodes count twice where both sides
// are corrupted.
double AddPenalties(const RegularizerSpec& spec, const ModelSpec& model, const ChunkInput& in,
                    const ChunkGradients& out);

}  // namespace octavo
