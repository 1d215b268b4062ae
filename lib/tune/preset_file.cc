#include "tune/preset_file.h"

#include <algorithm>

#include "fmt/format.h"
#include "run/option_toml.h"

namespace octavo {

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
  return text;
}

}  // namespace octavo
