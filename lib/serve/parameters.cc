#include "serve/parameters.h"

#include <algorithm>

#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace octavo {
namespace {

absl::Status Expected(const ParameterSpec& spec, std::string_view found, std::string_view expected) {
  return InputError(fmt::format("{}: found \"{}\"; expected {}", spec.name, Escape(found), expected));
}

absl::Status CheckValue(const ParameterSpec& spec, std::string_view value) {
  switch (spec.kind) {
    case ParameterSpec::Kind::kText:
      if (value.empty()) return Expected(spec, value, "a text");
      return absl::OkStatus();
    case ParameterSpec::Kind::kWhole: {
      const std::optional<std::uint64_t> number = ParseWholeNumber(value);
      if (number && *number >= spec.least && *number <= spec.most) return absl::OkStatus();
      return Expected(spec, value, fmt::format("a whole number from {} to {}", spec.least, spec.most));
    }
    case ParameterSpec::Kind::kFlag:
      if (value == "true" || value == "false") return absl::OkStatus();
      return Expected(spec, value, "true or false");
    case ParameterSpec::Kind::kChoice:
      if (std::ranges::find(spec.choices, value) != spec.choices.end()) return absl::OkStatus();
      return Expected(spec, value, fmt::format("{}", fmt::join(spec.choices, " or ")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Parameters> Parameters::Check(const std::vector<ParameterSpec>& specs, const Target& target) {
  Parameters checked;
  for (const auto& [name, value] : target.values) {
    const auto spec = std::ranges::find(specs, name, &ParameterSpec::name);
    if (spec == specs.end()) {
      std::vector<std::string_view> names;
      for (const ParameterSpec& each : specs) names.push_back(each.name);
      return InputError(fmt::format("found \"{}\"; expected {}", Escape(name),
                                    names.empty() ? "no values" : fmt::format("{}", fmt::join(names, ", "))));
    }
    RETURN_IF_ERROR(CheckValue(*spec, value));
    std::vector<std::string>& values = checked.texts_[name];
    if (!values.empty() && !spec->repeated) return Expected(*spec, value, "it once");
    values.push_back(value);
  }
  for (const ParameterSpec& spec : specs) {
    const auto found = checked.texts_.find(spec.name);
    if (found == checked.texts_.end() && spec.required) {
      return InputError(fmt::format("{}: found nothing; expected a value", spec.name));
    }
    if (spec.kind == ParameterSpec::Kind::kWhole) {
      checked.wholes_[std::string(spec.name)] =
          found == checked.texts_.end() ? spec.fallback : *ParseWholeNumber(found->second[0]);
    }
    if (spec.kind == ParameterSpec::Kind::kChoice && found == checked.texts_.end()) {
      checked.texts_[std::string(spec.name)] = {std::string(spec.choices[0])};
    }
  }
  return checked;
}

std::string Parameters::Text(std::string_view name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::string() : found->second[0];
}

std::vector<std::string> Parameters::Texts(std::string_view name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::vector<std::string>() : found->second;
}

bool Parameters::Flag(std::string_view name) const { return Text(name) == "true"; }

}  // namespace octavo
