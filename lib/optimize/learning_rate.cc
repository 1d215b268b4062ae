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

constexpr std::array<Name, 3> kNames = {{{"constant", LearningRateSchedule::kConstant},
                                         {"linear", LearningRateSchedule::kLinear},
                                         {"cosine", LearningRateSchedule::kCosine}}};

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
  return UsageError(
      fmt::format("\"{}\" is not a learning-rate schedule; expected constant, linear or cosine", Escape(name)));
}

float LearningRateAt(LearningRateSchedule schedule, float base, std::uint64_t batch, std::uint64_t total_batches) {
  const double done = static_cast<double>(batch) / static_cast<double>(total_batches);
  double factor = 1;
  if (schedule == LearningRateSchedule::kLinear) factor = 1 - done;
  if (schedule == LearningRateSchedule::kCosine) factor = (1 + std::cos(std::numbers::pi * done)) / 2;
  return static_cast<float>(base * factor);
}

}  // namespace octavo
