#include "cmd/reading_memory.h"

#include "cmd/limits.h"
#include "oneapi/tbb/info.h"

namespace octavo {

absl::StatusOr<ReadingMemory> ShareReadingMemory(const Program& program, std::string_view verb, TrainedRun& run,
                                                 std::uint64_t least_bytes) {
  return ShareReadingMemory(MemoryLimit(program), verb, run, least_bytes);
}

int ReadingThreads(const Program& program) {
  return program.options.threads > 0 ? program.options.threads : tbb::info::default_concurrency();
}

}  // namespace octavo
