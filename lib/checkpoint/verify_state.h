// The part of VerifyCommit that checks STATE.
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "checkpoint/checked_commit.h"
#include "checkpoint/state_file.h"
#include "format/manifest.h"
#include "format/paths.h"
#include "io/check_report.h"

namespace octavo {

// Checks the file's size, both manifests against each other, and the bytes after them.
CheckedCommit VerifyState(const RunPaths& paths, const CommitCheckOptions& options, CheckReport& report);

// Reads both slots. If one looks torn, a commit may be writing it: reads again for a short time.
absl::StatusOr<std::array<ManifestSlot, 2>> ReadSettledSlots(const std::filesystem::path& path);

// Returns a message if a slot of STATE is damaged, torn or unexpectedly empty, so that readers use the other one, which
// may be the commit before the last. Empty if both are valid, or none is.
std::string DescribeFallback(const std::filesystem::path& path);

// Whether both manifests belong to the same run.
bool IsSameRun(const ManifestHeader& a, const ManifestHeader& b);

}  // namespace octavo
