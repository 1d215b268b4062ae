#include "tune/preset_file.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "io/file.h"
#include "run/option_toml.h"
#include "run/run_configuration.h"

namespace octavo {

namespace {

// Far above any preset.
constexpr std::uint64_t kMostPresetBytes = std::uint64_t{1} << 20;

std::string SealOf(std::string_view text) {
  return fmt::format("# checksum {:016x}\n", Checksum64(std::as_bytes(std::span<const char>(text))));
}

}  // namespace

std::string PresetText(const SearchSpace& space, const TrainOptions& options, std::string_view comment) {
  const auto belongs = [&](const OptionField& field) {
    if (field.section == "work") return false;  // does not change any bit, and depends on the machine
    if (field.name == "epochs" || field.name == "seed") return true;
    const bool validates = field.name == "validate-every" || field.name == "validation-sample";
    if (validates && options.learning_rate_schedule == LearningRateSchedule::kPlateau) return true;
    return std::any_of(space.options.begin(), space.options.end(),
                       [&](const SpaceOption& option) { return option.field == &field; });
  };
  std::string text;
  while (!comment.empty()) {
    const std::string_view line = comment.substr(0, comment.find('\n'));
    text += fmt::format("# {}\n", line);
    comment.remove_prefix(std::min(comment.size(), line.size() + 1));
  }
  for (const OptionField& field : TrainOptionFields()) {
    if (belongs(field)) text += TomlLine(field, options);
  }
  return text + SealOf(text);
}

absl::Status CheckPreset(const std::filesystem::path& path, bool sealed) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, kMostPresetBytes));
  TrainOptions options;
  RETURN_IF_ERROR(LoadTomlConfiguration(path, options));
  const std::size_t last = text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;
  const bool has_seal = last < text.size() && text[last] == '#';
  if (!has_seal && !sealed) return absl::OkStatus();
  const std::string expected = SealOf(text.substr(0, last));
  if (text.substr(last) == expected) return absl::OkStatus();
  return CorruptError(fmt::format("{}: last line: \"{}\"; expected \"{}\": the file is damaged, or was changed by hand",
                                  path.string(), Escape(text.substr(last)), Escape(expected)));
}

}  // namespace octavo
