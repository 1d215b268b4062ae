// What octavo inspect can show: one function for each kind of path.
#pragma once

#include <filesystem>

#include "absl/status/status.h"
#include "cmd/program.h"

namespace octavo {

// A folder with graph.json. Prints a table of its counts, or with `json` one object, on standard output.
absl::Status InspectGraph(const std::filesystem::path& folder, bool json, Program& program);

// A folder with run.json: its last commit and its configuration.
absl::Status InspectRun(const std::filesystem::path& folder, bool json);

// A .npy table or a .cells file.
absl::Status InspectFile(const std::filesystem::path& path, bool json);

}  // namespace octavo
