// What configuration files have in common: TOML whose keys are the names of TrainOptionFields(), at the top level.
#pragma once

#include <toml++/toml.h>
#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "train/options.h"

namespace octavo {

// Parses the file, of at most 16 KiB. A usage error names file, line and column.
absl::StatusOr<toml::table> ReadTomlFile(const std::filesystem::path& path);

// Returns the key's field; a usage error names file and line, and the key that is most like it.
absl::StatusOr<const OptionField*> FieldOfTomlKey(const toml::key& key, const std::filesystem::path& path);

// Returns the value as the text that the field's parser takes, or empty where its type is not the field's. Whole
// numbers that TOML has not, from 2^63 on, are strings.
std::optional<std::string> TomlText(const OptionField& field, const toml::node& node);

// Returns "NAME = VALUE" and a line end, which reads back as the same value.
std::string TomlLine(const OptionField& field, const TrainOptions& options);

// Returns the value as TOML.
std::string TomlSource(const toml::node& node);

}  // namespace octavo
