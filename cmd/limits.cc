#include "cmd/limits.h"

#include "oneapi/tbb/info.h"
#include "plan/memory_budget.h"

namespace octavo {

std::uint64_t MemoryLimit(const Program& program) {
  return program.options.memory > 0 ? program.options.memory : DefaultMemoryLimit();
}

int ThreadCount(const Program& program) {
  return program.options.threads > 0 ? program.options.threads : tbb::info::default_concurrency();
}

}  // namespace octavo
