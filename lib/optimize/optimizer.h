// Optimizers for single rows. Pure: the caller's tables hold the state.
//
//   sgd          x -= lr * g                                                             no state
//   adagrad      s += g^2; x -= lr * g / (sqrt(s) + eps)                                 [width], Duchi et al. 2011
//   row-adagrad  s += mean(g^2); x -= lr * g / (sqrt(s) + eps)                           [1]
//   adam         lazy: m, v change only when the row has a gradient; bias is corrected by the global step
//                                                                                        [2 * width]: m then v
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class OptimizerKind { kSgd, kAdagrad, kRowAdagrad, kAdam };

struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::kRowAdagrad;
  float epsilon = 1e-10F;
  float beta1 = 0.9F;    // Adam only
  float beta2 = 0.999F;  // Adam only
};

// "sgd", "adagrad", "row-adagrad", "adam". The error of the parser lists them.
std::string_view OptimizerName(OptimizerKind kind);
absl::StatusOr<OptimizerKind> ParseOptimizer(std::string_view name);

// Floats of state for a row of `width` floats. The initial state is all zeros.
std::size_t StateWidth(OptimizerKind kind, std::size_t width);

// Applies one gradient to one row; returns false if the row then has a NaN or an infinite number. `step` counts the
// updates of the whole model from 1 (for Adam's bias correction).
// REQUIRES: gradient.size() == row.size() and state.size() == StateWidth(spec.kind, row.size())
bool UpdateRow(const OptimizerSpec& spec, float learning_rate, std::uint64_t step, std::span<const float> gradient,
               std::span<float> row, std::span<float> state);

}  // namespace octavo
