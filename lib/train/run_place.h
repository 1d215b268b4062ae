// Whether a folder, and its disk, have room for a run.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "train/options.h"

namespace octavo {

// A folder that is there must be free for a run.
absl::Status CheckFolder(const RunPaths& paths);

// A folder with a run, or with files of a run's names that no training left there, is not taken without --overwrite. A
// training that was stopped before its first commit leaves run.json and no STATE, and no metrics.jsonl, which comes
// behind the commit, or of a warm start one that is marked: with it, the vectors may be all that is left of a run.
absl::Status CheckUnused(const RunPaths& paths);

// A disk that has not what the run will need on top of what its files hold.
absl::Status CheckDiskSpace(const RunPaths& paths, std::uint64_t needed);

// The space of the tables is set aside at once, that of the copies is not: what they will need is compared with what
// there is.
absl::Status CheckRoomForBest(const TrainOptions& options, const GraphDescription& graph, const RunPaths& paths);

}  // namespace octavo
