#include "tune/search_space.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"
#include "run/option_toml.h"

namespace octavo {
namespace {

// A key that the search determines itself or by its own flags.
struct OwnKey {
  std::string_view name;
  std::string_view instead;
};
constexpr OwnKey kOwnKeys[] = {
    {"epochs", "the flags --epochs-least and --epochs"},
    {"validation-sample", "the flag --validation-sample"},
    {"patience", "no such key: the search ends trials with worse results itself"},
    {"keep", "no such key: the search keeps the run of the best trial"},
};

std::string Place(const std::filesystem::path& path, const toml::source_region& source, const OptionField& field) {
  return fmt::format("{}:{}: {}", path.string(), source.begin.line, field.name);
}

// Returns the value as OptionField::format writes it.
absl::StatusOr<std::string> ReadValue(const OptionField& field, const toml::node& node, const std::string& where) {
  const std::optional<std::string> text = TomlText(field, node);
  if (!text) {
    return UsageError(fmt::format("{}: found {}; expected {}", where, Escape(TomlSource(node)), field.allowed));
  }
  TrainOptions scratch;
  RETURN_IF_ERROR(SetTrainOption(scratch, field, *text, where));
  return field.format(scratch);
}

absl::StatusOr<ValueChoice> ReadChoice(const OptionField& field, const toml::array& array,
                                       const std::filesystem::path& path, const std::string& where) {
  if (array.empty()) return UsageError(fmt::format("{}: found []; expected at least one value", where));
  ValueChoice choice;
  for (const toml::node& node : array) {
    const std::string place = Place(path, node.source(), field);
    ASSIGN_OR_RETURN(std::string value, ReadValue(field, node, place));
    if (std::find(choice.begin(), choice.end(), value) != choice.end()) {
      return UsageError(fmt::format("{}: found {} twice; expected each value once", place, Escape(value)));
    }
    choice.push_back(std::move(value));
  }
  return choice;
}

// The entries of a range's table, as text.
struct RangeEntries {
  std::optional<std::string> least;
  std::optional<std::string> most;
  bool log = false;
  std::optional<std::uint64_t> step;
};

absl::StatusOr<RangeEntries> ReadRangeEntries(const OptionField& field, const toml::table& table,
                                              const std::filesystem::path& path) {
  RangeEntries entries;
  for (const auto& [key, node] : table) {
    const std::string where = Place(path, key.source(), field);
    const auto refuse = [&, &value = node](std::string_view name, std::string_view expected) {
      return UsageError(fmt::format("{}: {}: found {}; expected {}", where, name, Escape(TomlSource(value)), expected));
    };
    if (key.str() == "min" || key.str() == "max") {
      ASSIGN_OR_RETURN((key.str() == "min" ? entries.least : entries.most),
                       ReadValue(field, node, fmt::format("{}: {}", where, key.str())));
    } else if (key.str() == "log") {
      if (!node.is_boolean()) return refuse("log", "true or false");
      entries.log = node.as_boolean()->get();
    } else if (key.str() == "step" && field.type != OptionField::Type::kRealNumber) {
      if (!node.is_integer() || node.as_integer()->get() < 1) return refuse("step", "a whole number from 1");
      entries.step = static_cast<std::uint64_t>(node.as_integer()->get());
    } else {
      return UsageError(fmt::format("{}: found \"{}\" in a range; expected min, max and log{}", where,
                                    Escape(key.str()),
                                    field.type == OptionField::Type::kRealNumber ? "" : ", or step"));
    }
  }
  return entries;
}

template <typename Number>
absl::Status CheckEnds(Number least, Number most, bool log, const std::string& where) {
  if (least > most) {
    return UsageError(
        fmt::format("{}: found min {} above max {}; expected min no larger than max", where, least, most));
  }
  if (log && least <= 0) {
    return UsageError(fmt::format("{}: found log with min {}; expected min above 0", where, least));
  }
  return absl::OkStatus();
}

absl::StatusOr<SpaceOption> ReadRange(const OptionField& field, const toml::table& table,
                                      const std::filesystem::path& path, const std::string& where,
                                      std::vector<std::string>& notes) {
  if (field.type == OptionField::Type::kText || field.type == OptionField::Type::kSwitch) {
    return UsageError(fmt::format("{}: found a range; expected {}, or an array of them", where, field.allowed));
  }
  ASSIGN_OR_RETURN(const RangeEntries entries, ReadRangeEntries(field, table, path));
  if (!entries.least || !entries.most) {
    return UsageError(
        fmt::format("{}: found a range without {}; expected min and max", where, entries.least ? "max" : "min"));
  }
  const auto no_number = [&](const std::string& text) {
    return UsageError(fmt::format("{}: found \"{}\" as an end of a range; expected numbers", where, text));
  };
  SpaceOption option{.field = &field, .values = {}};
  if (field.type == OptionField::Type::kRealNumber) {
    const std::optional<double> least = ParseRealNumber(*entries.least);
    const std::optional<double> most = ParseRealNumber(*entries.most);
    if (!least || !most) return no_number(least ? *entries.most : *entries.least);
    RETURN_IF_ERROR(CheckEnds(*least, *most, entries.log, where));
    option.values = RealRange{.least = *least, .most = *most, .log = entries.log};
    return option;
  }
  const std::optional<std::uint64_t> least = ParseWholeNumber(*entries.least);
  const std::optional<std::uint64_t> most = ParseWholeNumber(*entries.most);
  if (!least || !most) return no_number(least ? *entries.most : *entries.least);
  RETURN_IF_ERROR(CheckEnds(*least, *most, entries.log, where));
  const std::uint64_t step = entries.step.value_or(1);
  const WholeRange range{
      .least = *least, .most = *least + (*most - *least) / step * step, .step = step, .log = entries.log};
  if (range.most < *most) {
    notes.push_back(fmt::format("{}: max {} is not reached in steps of {} from {}: the largest value is {}", where,
                                *most, step, *least, range.most));
  }
  option.values = range;
  return option;
}

absl::StatusOr<SpaceOption> ReadOption(const OptionField& field, const toml::node& node,
                                       const std::filesystem::path& path, const std::string& where,
                                       std::vector<std::string>& notes) {
  if (const toml::table* table = node.as_table()) return ReadRange(field, *table, path, where, notes);
  SpaceOption option{.field = &field, .values = {}};
  if (const toml::array* array = node.as_array()) {
    ASSIGN_OR_RETURN(option.values, ReadChoice(field, *array, path, where));
  } else {
    ASSIGN_OR_RETURN(std::string value, ReadValue(field, node, where));
    option.values = ValueChoice{std::move(value)};
  }
  return option;
}

}  // namespace

bool SpaceOption::Varies() const {
  if (const auto* choice = std::get_if<ValueChoice>(&values)) return choice->size() > 1;
  if (const auto* range = std::get_if<WholeRange>(&values)) return range->least < range->most;
  const RealRange& range = std::get<RealRange>(values);
  return range.least < range.most;
}

absl::StatusOr<SearchSpace> LoadSearchSpace(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const toml::table table, ReadTomlFile(path));
  SearchSpace space{.path = path, .options = {}, .notes = {}};
  for (const auto& [key, node] : table) {
    ASSIGN_OR_RETURN(const OptionField* field, FieldOfTomlKey(key, node, path));
    const std::string where = Place(path, key.source(), *field);
    for (const OwnKey& own : kOwnKeys) {
      if (own.name == field->name) {
        return UsageError(fmt::format("{}: found in a search space; expected {}", where, own.instead));
      }
    }
    ASSIGN_OR_RETURN(SpaceOption option, ReadOption(*field, node, path, where, space.notes));
    if (field->name == "validate-every" && option.Varies()) {
      return UsageError(
          fmt::format("{}: found {}; expected one value, since all trials are compared at the same epochs", where,
                      Escape(Describe(option))));
    }
    space.options.push_back(std::move(option));
  }
  // The fields are elements of one array, so sorting by address gives their order.
  std::sort(space.options.begin(), space.options.end(),
            [](const SpaceOption& a, const SpaceOption& b) { return a.field < b.field; });
  if (std::none_of(space.options.begin(), space.options.end(), [](const SpaceOption& o) { return o.Varies(); })) {
    return UsageError(
        fmt::format("{}: nothing varies; expected an array or a range of values for one key or more", path.string()));
  }
  return space;
}

std::string Describe(const SpaceOption& option) {
  if (const auto* choice = std::get_if<ValueChoice>(&option.values)) {
    return choice->size() == 1 ? choice->front() : fmt::format("[{}]", fmt::join(*choice, ", "));
  }
  if (const auto* range = std::get_if<WholeRange>(&option.values)) {
    return fmt::format("{} to {}{}{}", range->least, range->most,
                       range->step == 1 ? std::string() : fmt::format(" by {}", range->step),
                       range->log ? ", log" : "");
  }
  const RealRange& range = std::get<RealRange>(option.values);
  return fmt::format("{} to {}{}", range.least, range.most, range.log ? ", log" : "");
}

}  // namespace octavo
