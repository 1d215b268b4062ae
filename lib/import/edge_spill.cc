#include "import/edge_spill.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"

namespace octavo {

absl::Status SpillEdges(EdgeChunks& chunks, std::span<const std::uint32_t> places, SpillFile& file) {
  Mutex mutex;
  absl::Status status;  // the first error; under mutex
  ParallelEach(0, chunks.size(), [&](std::size_t i) {
    std::vector<EdgeRecord>& chunk = chunks[i];
    std::size_t kept = 0;
    for (const EdgeRecord& record : chunk) {
      if (record.split() == EdgeSplit::kDropped) continue;
      chunk[kept++] = {places[record.head], places[record.tail], record.relation_and_split, record.weight};
    }
    absl::Status appended = file.Append(std::as_bytes(std::span<const EdgeRecord>(chunk).first(kept)));
    chunk.clear();
    const MutexLock lock(mutex);
    if (status.ok()) status = std::move(appended);
  });
  return status;
}

}  // namespace octavo
