// How much memory what reads a run may hold.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "run/trained_run.h"

namespace octavo {

struct ReadingMemory {
  std::uint64_t bytes = 0;    // for the work itself
  bool drops_behind = false;  // drop what was read and written from the page cache
};

// Divides `limit` bytes for work that needs at least `least_bytes` in addition to the opened run. If the files of run
// and graph fit half of the rest, the table is mapped and all files stay in the page cache for the next command;
// otherwise they are dropped after reading. Too little memory is a usage error that names the smallest sufficient
// amount. `verb` is the command, for the message.
absl::StatusOr<ReadingMemory> ShareReadingMemory(std::uint64_t limit, std::string_view verb, TrainedRun& run,
                                                 std::uint64_t least_bytes);

// Memory held while the run is open, and the bytes of files that its readers may read.
std::uint64_t OpenBytes(const TrainedRun& run);
std::uint64_t StreamedBytes(const TrainedRun& run);

}  // namespace octavo
