// Shared by all configuration files: TOML whose top-level keys are the names of TrainOptionFields().
#pragma once

#include <toml++/toml.h>
#include <filesystem>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "run/options.h"

namespace octavo {

// Parses the file, of at most 16 KiB. A usage error names file, line and column.
absl::StatusOr<toml::table> ReadTomlFile(const std::filesystem::path& path);

// Returns a usage error that names file and line if the value is a table, as after a line [train] or [[train]].
absl::Status RefuseTable(const toml::key& key, const toml::node& node, const std::filesystem::path& path);

// Returns the key's field. A usage error names file, line, and the most similar key. `node` is the key's value.
absl::StatusOr<const OptionField*> FieldOfTomlKey(const toml::key& key, const toml::node& node,
                                                  const std::filesystem::path& path);

// Returns the value as text for the field's parser, or empty if its type is wrong. Whole numbers from 2^63, which TOML
// does not have, are written as strings.
std::optional<std::string> TomlText(const OptionField& field, const toml::node& node);

// Returns "NAME = VALUE" and a line end; reading it gives the same value.
std::string TomlLine(const OptionField& field, const TrainOptions& options);

// Returns the value as TOML.
std::string TomlSource(const toml::node& node);

}  // namespace octavo
