// Checks a run as a whole: its configuration, its last commit, its events, and that its graph is the one it was trained
// on.
#pragma once

#include <filesystem>

#include "absl/status/statusor.h"
#include "checkpoint/verify.h"
#include "io/check_report.h"

namespace octavo {

// VerifyCommit and, beside it: run.json and its hash in the manifest, the shapes that follow from it, metrics.jsonl (as
// long as the commit says, each line a JSON object), and graph.json of the graph, if it is where run.json says. The
// graph's other files are VerifyGraph's. May run beside a training. What run.json says of epochs, durability and the
// graph's place is in no checksum, and neither are the numbers in metrics.jsonl.
absl::StatusOr<CheckedCommit> VerifyRun(const std::filesystem::path& folder, const CommitCheckOptions& options,
                                        CheckReport& report);

}  // namespace octavo
