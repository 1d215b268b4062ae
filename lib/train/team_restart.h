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

// Finds the newest commit that every folder has, and takes newer ones back before anything builds on it: a newer one is
// of a commit that others had not ended. A usage error names a rank whose folder has no run, or another.
absl::Status AgreeOnCommit(Ranks& ranks, const RunPaths& paths, bool writes_folder);

}  // namespace octavo
