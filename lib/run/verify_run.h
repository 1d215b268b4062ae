// Checks a whole run: its configuration, its last commit, its events, and that its graph is the one it was trained on.
#pragma once

#include <filesystem>

#include "absl/status/statusor.h"
#include "checkpoint/verify.h"
#include "io/check_report.h"

namespace octavo {

// In addition to VerifyCommit, checks: run.json and its hash in the manifest, the shapes that follow from it,
// metrics.jsonl (its length by the commit, the checksum of each line), the header of gradients.map, and graph.json of
// the graph, if it is where run.json says. VerifyGraph checks the graph's other files. Can run during training.
absl::StatusOr<CheckedCommit> VerifyRun(const std::filesystem::path& folder, const CommitCheckOptions& options,
                                        CheckReport& report);

}  // namespace octavo
