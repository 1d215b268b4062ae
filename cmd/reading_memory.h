// How the verbs that read a run keep to --memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "train/trained_run.h"

namespace octavo {

struct ReadingMemory {
  std::uint64_t bytes = 0;    // for the work itself
  bool drops_behind = false;  // what is read and written leaves the page cache again
};

// Shares out --memory, or what there is, for a work that needs at least `least_bytes` beside the opened run. Where the
// files of run and graph fit into half of the rest, they stay in the page cache and the next command finds them there;
// otherwise they are told to leave it. Too little memory is a usage error that names the least that would do.
absl::StatusOr<ReadingMemory> ShareReadingMemory(const Program& program, std::string_view verb, TrainedRun& run,
                                                 std::uint64_t least_bytes);

// What stays in memory as long as the run is open, and what its readers may read: bytes of files.
std::uint64_t OpenBytes(const TrainedRun& run);
std::uint64_t StreamedBytes(const TrainedRun& run);

// Threads that work at once.
int ReadingThreads(const Program& program);

}  // namespace octavo
