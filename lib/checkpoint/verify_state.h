// The part of VerifyCommit that is about STATE.
#pragma once

#include <array>
#include <filesystem>

#include "absl/status/statusor.h"
#include "checkpoint/state_file.h"
#include "checkpoint/verify.h"
#include "format/manifest.h"
#include "format/paths.h"
#include "io/check_report.h"

namespace octavo {

// Checks the file's size, both manifests against each other, and what stands behind them.
CheckedCommit VerifyState(const RunPaths& paths, const CommitCheckOptions& options, CheckReport& report);

// Reads both slots, again for a moment as long as one looks torn: a commit may be writing it.
absl::StatusOr<std::array<ManifestSlot, 2>> ReadSettledSlots(const std::filesystem::path& path);

// Whether both are of one run, as it was started.
bool IsSameRun(const ManifestHeader& a, const ManifestHeader& b);

}  // namespace octavo
