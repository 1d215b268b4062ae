// Configuration on disk: TOML presets that people write, and run.json, what a run was started with.
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "train/initial_source.h"
#include "train/options.h"

namespace octavo {

// Sets in `options` what the TOML file, of at most 16 KiB, says. Keys are the names of TrainOptionFields(), at the top
// level. A usage error names file, line, key, value and what is allowed: also for unknown and duplicate keys and wrong
// types.
absl::Status LoadTomlConfiguration(const std::filesystem::path& path, TrainOptions& options);

struct RunConfiguration {
  TrainOptions options;
  std::filesystem::path graph;  // absolute
  InitialSource init = {};      // as it was given, with absolute paths; kept for people, no training goes by it again
};

// Returns an option's value as JSON text: a number or a switch as such, anything else as a string.
std::string OptionJson(const OptionField& field, const TrainOptions& options);

// Returns the text of run.json. A graph folder, or a source, whose path is not UTF-8 is a usage error.
absl::StatusOr<std::string> EncodeRunConfiguration(const RunConfiguration& configuration);

// Writes it, whole or not at all.
absl::Status WriteRunConfiguration(const std::filesystem::path& path, const RunConfiguration& configuration);

// Reads it back: missing, misspelt or disallowed entries are corrupt-file errors. Options that older runs have not
// (OptionField::recent) may be missing.
absl::StatusOr<RunConfiguration> ReadRunConfiguration(const std::filesystem::path& path);

}  // namespace octavo
