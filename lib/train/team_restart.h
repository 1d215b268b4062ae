// How the ranks of a job begin together: on one graph, and at a commit that all of their folders have.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "run/options.h"
#include "train/team.h"

namespace octavo {

// The team of a run in `folder`; null without ranks. A usage error if there are more ranks than lanes.
absl::StatusOr<std::unique_ptr<Team>> MakeTeam(Ranks* ranks, const std::filesystem::path& folder, std::uint64_t lanes);

// A usage error if the ranks have different graphs or options.
absl::Status CheckAlike(Team& team, const GraphDescription& graph, const TrainOptions& options);

// Makes the run known in empty folders of other ranks, so that machines can join a run: what every folder has of its
// newest commit at rank 0, without rows of partitions, which move when a lane needs them. Nothing where all have a run.
absl::Status ShareRun(Ranks& ranks, const RunPaths& paths);

// Whether a folder has nothing of its run but the first commit, and rank 0 of the run had another folder. If that one
// has no run, the job ended while the folders were made: rank 0's is made last (checkpoint/run_tables.cc). False where
// there is no commit that can be read.
bool IsBeginning(const RunPaths& paths);

// Finds the newest commit that every folder has, and takes newer ones back before anything builds on it: a newer one is
// of a commit that others had not ended. A usage error names a rank whose folder has no run, or another.
absl::Status AgreeOnCommit(Ranks& ranks, const RunPaths& paths, bool writes_folder);

}  // namespace octavo
