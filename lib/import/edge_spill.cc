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

// Edges of one write: small, as every thread has a buffer of its own.
constexpr std::size_t kBufferEdges = std::size_t{8} << 10;

}  // namespace

absl::Status SpillEdges(EdgeRuns runs, std::span<const std::uint64_t> hashes, SpillFile& file) {
  Mutex mutex;
  absl::Status status;  // the first error; under mutex
  ParallelEach(0, runs.size(), [&](std::size_t i) {
    const std::vector<EdgeRecord> run = std::exchange(runs[i], {});
    std::vector<SpilledEdge> edges;
    edges.reserve(std::min(run.size(), kBufferEdges));
    const auto append = [&] {
      absl::Status appended = file.Append(std::as_bytes(std::span<const SpilledEdge>(edges)));
      edges.clear();
      const MutexLock lock(mutex);
      if (status.ok()) status = std::move(appended);
    };
    for (const EdgeRecord& record : run) {
      if (record.part() == Part::kDropped) continue;
      edges.push_back({hashes[record.head], hashes[record.tail], record.relation_and_part, record.weight});
      if (edges.size() == kBufferEdges) append();
    }
    append();
  });
  return status;
}

}  // namespace octavo
