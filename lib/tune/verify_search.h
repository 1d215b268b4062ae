// Checks the folder of a search: its log, the preset of its best trial, and the runs of its trials.
#pragma once

#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "checkpoint/checked_commit.h"
#include "format/paths.h"
#include "io/check_report.h"

namespace octavo {

// Returns the runs of the trials that have a folder, in order, and that of the best trial on all edges.
std::vector<RunPaths> RunsOf(const SearchPaths& paths);

// Checks each line of tune.jsonl, best.toml if there is one, and each trial's run as VerifyRun does. Adds all damage to
// `report`. Can run during a search.
absl::Status VerifySearch(const SearchPaths& paths, const CommitCheckOptions& options, CheckReport& report);

}  // namespace octavo
