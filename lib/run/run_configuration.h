// Configuration on disk: TOML presets written by people, and run.json, the configuration that a run was started with.
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "run/initial_source.h"
#include "run/options.h"

namespace octavo {

// Sets the options given in the TOML file, of at most 16 KiB. Top-level keys are the names of TrainOptionFields(). A
// usage error names file, line, key, value and what is allowed; unknown and duplicate keys and wrong types are errors
// too.
absl::Status LoadTomlConfiguration(const std::filesystem::path& path, TrainOptions& options);

struct RunConfiguration {
  TrainOptions options;
  std::filesystem::path graph;  // absolute
  InitialSource init = {};      // as given, with absolute paths; only for people, not used again
};

// Returns the text of run.json. A graph folder or source whose path is not UTF-8 is a usage error.
absl::StatusOr<std::string> EncodeRunConfiguration(const RunConfiguration& configuration);

// Writes it atomically.
absl::Status WriteRunConfiguration(const std::filesystem::path& path, const RunConfiguration& configuration);

// Reads it. Missing, misspelt or invalid entries are corrupt-file errors. Options that older runs do not have
// (OptionField::recent) may be missing.
absl::StatusOr<RunConfiguration> ReadRunConfiguration(const std::filesystem::path& path);

}  // namespace octavo
