#include "import/memory_plan.h"

#include <algorithm>

#include "base/byte_size.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// The program itself, its threads, and the page cache of the files being written.
constexpr std::uint64_t kProgramBytes = 24 * kMiB;
// A chunk of text that waits, is parsed and is delivered; what its names add to the tables; and a share of the one
// result that waits for a slower chunk. The maximum is for lines of four bytes, whose edges take 40 times the memory of
// their text.
constexpr std::uint64_t kWorkerBytes = 24 * kMiB;
// With less there would be too many extents.
constexpr std::uint64_t kMinCollectedBytes = 8 * kMiB;
// The window of a zstd frame: enough for levels up to 19; the default limit of zstd's own tools.
constexpr std::uint64_t kMinWindowBytes = 8 * kMiB;
constexpr std::uint64_t kMaxWindowBytes = 128 * kMiB;
constexpr std::uint64_t kSmallest = kProgramBytes + kWorkerBytes + kMinCollectedBytes + kMinWindowBytes;

}  // namespace

absl::StatusOr<MemoryPlan> PlanMemory(std::uint64_t memory_bytes, std::size_t threads) {
  if (memory_bytes == 0) {
    return MemoryPlan{.workers = threads,
                      .collected_bytes = UINT64_MAX,
                      .window_bytes = kMaxWindowBytes,
                      .max_cached_input_bytes = UINT64_MAX,
                      .encode_bytes = UINT64_MAX,
                      .merge_bytes = UINT64_MAX};
  }
  if (memory_bytes < kSmallest) {
    return UsageError(fmt::format("--memory {} is too little for an import; expected at least {}MiB",
                                  FormatByteSize(memory_bytes), kSmallest / kMiB));
  }
  MemoryPlan plan;
  const std::uint64_t room = memory_bytes - kProgramBytes;
  // The workers get at most half: the memory for names and edges determines the number of extents.
  plan.workers = std::clamp<std::uint64_t>(room / 2 / kWorkerBytes, 1, std::max<std::size_t>(1, threads));
  const std::uint64_t rest = room - plan.workers * kWorkerBytes;
  plan.window_bytes = std::clamp(rest / 8, kMinWindowBytes, kMaxWindowBytes);
  plan.collected_bytes = rest - plan.window_bytes;
  plan.max_cached_input_bytes = memory_bytes;
  plan.encode_bytes = room;
  plan.merge_bytes = room;
  return plan;
}

}  // namespace octavo
