// How the verbs that read a run respect --memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "query/reading_memory.h"
#include "run/trained_run.h"

namespace octavo {

// Divides --memory, or the available memory (query/reading_memory.h).
absl::StatusOr<ReadingMemory> ShareReadingMemory(const Program& program, std::string_view verb, TrainedRun& run,
                                                 std::uint64_t least_bytes);

// Threads that may work at once.
int ReadingThreads(const Program& program);

}  // namespace octavo
