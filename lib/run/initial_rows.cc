#include "run/initial_rows.h"

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace octavo {
namespace {

void Fill(const TrainOptions& options, RandomStream stream, double scale, std::span<float> values) {
  const bool uniform =
      options.initializer == Initializer::kUniform || options.initializer == Initializer::kXavierUniform;
  const auto width = static_cast<float>(scale * std::numbers::sqrt3);
  for (float& value : values) {
    value = uniform ? width * (2 * stream.NextFloat() - 1) : static_cast<float>(scale) * stream.NextNormal();
  }
}

}  // namespace

double InitialScale(const TrainOptions& options, std::uint64_t rows) {
  if (options.initializer == Initializer::kXavierNormal || options.initializer == Initializer::kXavierUniform) {
    return std::sqrt(2 / static_cast<double>(rows + options.dim));
  }
  if (options.initial_scale > 0) return options.initial_scale;
  if (options.model != ModelKind::kTransE && options.model != ModelKind::kRotatE) return 1e-3;
  constexpr double kMargin = 9;
  return (kMargin + 2) / (static_cast<double>(options.dim) * std::numbers::sqrt3);
}

void InitialEmbedding(const TrainOptions& options, double scale, std::uint64_t row, std::span<float> values) {
  Fill(options, RandomStream(options.seed, RandomPurpose::kInitialEmbeddings, 0, row), scale, values);
}

void InitialRelation(const TrainOptions& options, double scale, std::uint64_t row, std::span<float> values) {
  RandomStream stream(options.seed, RandomPurpose::kInitialRelations, 0, row);
  if (options.model != ModelKind::kRotatE) return Fill(options, stream, scale, values);
  for (float& value : values) value = (2 * stream.NextFloat() - 1) * std::numbers::pi_v<float>;
}

}  // namespace octavo
