// Learning rate over the course of a run: constant, linear to zero, or half a cosine to zero.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class LearningRateSchedule { kConstant, kLinear, kCosine };

// "constant", "linear", "cosine". The error of the parser lists them.
std::string_view LearningRateScheduleName(LearningRateSchedule schedule);
absl::StatusOr<LearningRateSchedule> ParseLearningRateSchedule(std::string_view name);

// Returns the rate for batch `batch` (from 0) of `total_batches` over all epochs: `base` at the first; the decaying
// schedules fall towards zero, which batch `total_batches` would have. REQUIRES: batch < total_batches
float LearningRateAt(LearningRateSchedule schedule, float base, std::uint64_t batch, std::uint64_t total_batches);

}  // namespace octavo
