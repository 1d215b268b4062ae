#include "optimize/learning_rate.h"

#include <array>
#include <cmath>
#include <numbers>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

struct Name {
  std::string_view name;
  LearningRateSchedule schedule;
};

constexpr std::array<Name, 4> kNames = {{{"constant", LearningRateSchedule::kConstant},
                                         {"linear", LearningRateSchedule::kLinear},
                                         {"cosine", LearningRateSchedule::kCosine},
                                         {"plateau", LearningRateSchedule::kPlateau}}};

}  // namespace

std::string_view LearningRateScheduleName(LearningRateSchedule schedule) {
  for (const Name& entry : kNames) {
    if (entry.schedule == schedule) return entry.name;
  }
  return "unknown";
}

absl::StatusOr<LearningRateSchedule> ParseLearningRateSchedule(std::string_view name) {
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.schedule;
  }
  return UsageError(fmt::format("\"{}\" is not a learning-rate schedule; expected constant, linear, cosine or plateau",
                                Escape(name)));
}

float LearningRateAt(LearningRateSchedule schedule, float base, const LearningRatePlace& place) {
  const auto batch = static_cast<double>(place.batch);
  const double done = batch / static_cast<double>(place.total_batches);
  double factor = 1;
  if (schedule == LearningRateSchedule::kLinear) factor = 1 - done;
  if (schedule == LearningRateSchedule::kCosine) factor = (1 + std::cos(std::numbers::pi * done)) / 2;
  if (schedule == LearningRateSchedule::kPlateau) factor = place.plateau_factor;
  if (batch < place.warmup_batches) factor *= (batch + 1) / (place.warmup_batches + 1);
  return static_cast<float>(base * factor);
}

}  // namespace octavo
