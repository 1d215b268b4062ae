#include "import/edge_spill.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"

namespace octavo {
namespace {

// Edges per write. Small, as every thread has its own buffer.
constexpr std::size_t kBufferEdges = std::size_t{8} << 10;

}  // namespace

absl::Status SpillEdges(EdgeChunks chunks, std::span<const std::uint64_t> hashes, SpillFile& file) {
  Mutex mutex;
  absl::Status status;  // the first error; under mutex
  ParallelEach(0, chunks.size(), [&](std::size_t i) {
    const std::vector<EdgeRecord> chunk = std::exchange(chunks[i], {});
    std::vector<SpilledEdge> edges;
    edges.reserve(std::min(chunk.size(), kBufferEdges));
    const auto append = [&] {
      absl::Status appended = file.Append(std::as_bytes(std::span<const SpilledEdge>(edges)));
      edges.clear();
      const MutexLock lock(mutex);
      if (status.ok()) status = std::move(appended);
    };
    for (const EdgeRecord& record : chunk) {
      if (record.split() == EdgeSplit::kDropped) continue;
      edges.push_back({hashes[record.head], hashes[record.tail], record.relation_and_split, record.weight});
      if (edges.size() == kBufferEdges) append();
    }
    append();
  });
  return status;
}

}  // namespace octavo
