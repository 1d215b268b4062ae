#include "tune/trial_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <variant>

#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "run/option_rules.h"

namespace octavo {
namespace {

// Draws per trial. If one point in a hundred is valid, all but one search in 20,000 find one.
constexpr int kMostDraws = 1000;

// In [0, 1), with 53 random bits.
double NextUnit(RandomStream& stream) { return static_cast<double>(stream.Next64() >> 11) * 0x1.0p-53; }

// Returns x with density proportional to 1 / x in [least, most].
double LogUniform(double least, double most, RandomStream& stream) {
  const double drawn = std::exp(std::log(least) + NextUnit(stream) * (std::log(most) - std::log(least)));
  return std::clamp(drawn, least, most);  // the two functions round
}

std::string Draw(const ValueChoice& choice, RandomStream& stream) { return choice[stream.Below(choice.size())]; }

std::string Draw(const WholeRange& range, RandomStream& stream) {
  const std::uint64_t steps = (range.most - range.least) / range.step;
  std::uint64_t drawn = 0;
  if (range.log) {
    // The whole number n represents the reals up to n + 1.
    const auto least = static_cast<double>(range.least);
    const auto step = static_cast<double>(range.step);
    const double real = LogUniform(least, static_cast<double>(range.most) + step, stream);
    drawn = std::min(steps, static_cast<std::uint64_t>(std::max(0.0, (real - least) / step)));
  } else {
    // A range of all 64-bit numbers has 2^64 values, one more than fits.
    drawn = steps == ~std::uint64_t{0} ? stream.Next64() : stream.Below(steps + 1);
  }
  return std::to_string(range.least + drawn * range.step);
}

// Rounds to a thousandth of the possible range or less, for readable presets.
std::string Draw(const RealRange& range, RandomStream& stream) {
  const double width = range.most - range.least;
  const double real = range.log ? LogUniform(range.least, range.most, stream) : range.least + width * NextUnit(stream);
  if (width <= 0) return fmt::format("{}", range.least);
  const double scale = range.log ? std::min(real, width) : width;
  const int digits = std::max(0, 2 - static_cast<int>(std::floor(std::log10(scale))));
  const std::string rounded = fmt::format("{:.{}f}", real, digits);
  const double value = ParseRealNumber(rounded).value_or(range.least);
  if (value < range.least || value > range.most) {
    return fmt::format("{}", std::clamp(value, range.least, range.most));
  }
  return rounded;
}

}  // namespace

std::string DrawValue(const SpaceValues& values, RandomStream& stream) {
  return std::visit([&](const auto& some) { return Draw(some, stream); }, values);
}

absl::Status CheckTrialOptions(const TrainOptions& options) {
  RETURN_IF_ERROR(ValidateTrainOptions(options));
  if (options.reciprocal && options.model_spec().RelationWidth() == 0) {
    return UsageError("reciprocal has no meaning for a model without relation parameters");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TrialDraw>> DrawTrials(const SearchSpace& space, const TrainOptions& base,
                                                  std::uint64_t seed, std::uint64_t count) {
  std::vector<TrialDraw> trials;
  absl::Status refused;
  for (std::uint64_t t = 0; t < count; ++t) {
    std::vector<RandomStream> streams;
    for (const SpaceOption& option : space.options) {
      const std::uint64_t key = Checksum64(std::as_bytes(std::span(option.field->name)));
      streams.emplace_back(seed, RandomPurpose::kTrials, static_cast<std::uint32_t>(t), key);
    }
    for (int attempt = 0; attempt < kMostDraws; ++attempt) {
      TrialDraw trial{.options = base, .values = {}};
      for (std::size_t i = 0; i < space.options.size(); ++i) {
        const SpaceOption& option = space.options[i];
        const std::string value = DrawValue(option.values, streams[i]);
        const std::string where = fmt::format("{}: {}", space.path.string(), option.field->name);
        RETURN_IF_ERROR(SetTrainOption(trial.options, *option.field, value, where));
        trial.values.push_back(option.field->format(trial.options));
      }
      if (absl::Status status = CheckTrialOptions(trial.options); !status.ok()) {
        refused = std::move(status);
        continue;
      }
      if (std::find(trials.begin(), trials.end(), trial) != trials.end()) continue;
      trials.push_back(std::move(trial));
      break;
    }
    if (trials.size() <= t) break;
  }
  if (!trials.empty()) return trials;
  return UsageError(fmt::format("{}: none of {} points of the space can be trained; the last one: {}",
                                space.path.string(), kMostDraws, MessageOf(refused)));
}

}  // namespace octavo
