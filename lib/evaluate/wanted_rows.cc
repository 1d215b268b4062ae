#include "evaluate/wanted_rows.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/row_stream.h"
#include "oneapi/tbb/parallel_sort.h"

namespace octavo {
namespace {

constexpr std::size_t kShare = 512;  // rows that one task reads: a fraction of a millisecond, in one or a few reads

}  // namespace

absl::Status ForEachWantedRow(const EmbeddedGraph& embedded, std::vector<WantedRow>& wanted, std::uint64_t max_bytes,
                              absl::FunctionRef<void(std::size_t, std::span<const float>)> use) {
  tbb::parallel_sort(wanted.begin(), wanted.end());
  std::vector<std::uint64_t> nodes(wanted.size());
  std::transform(wanted.begin(), wanted.end(), nodes.begin(), [](const WantedRow& row) { return row.node; });
  const std::size_t shares = (wanted.size() + kShare - 1) / kShare;
  const std::size_t at_once = std::clamp<std::size_t>(shares, 1, static_cast<std::size_t>(MaxConcurrency()));
  const std::uint64_t bytes = max_bytes / at_once;
  std::mutex mutex;
  std::size_t failed = shares;  // guarded by mutex: the first share that failed
  absl::Status status;          // and its error
  ParallelEach(0, shares, [&](std::size_t share) {
    if (const std::lock_guard<std::mutex> lock(mutex); failed < share) return;
    const std::span<const WantedRow> rows =
        std::span<const WantedRow>(wanted).subspan(share * kShare, std::min(kShare, wanted.size() - share * kShare));
    const auto visit = [&](std::size_t begin, std::size_t end, const RowBlock& block) -> absl::Status {
      for (std::size_t i = begin; i < end; ++i) {
        const std::span<const float> row = block.Row(rows[i].node);
        if (i == begin || rows[i].node != rows[i - 1].node) RETURN_IF_ERROR(CheckFinite(embedded, rows[i].node, row));
        use(rows[i].index, row);
      }
      return absl::OkStatus();
    };
    absl::Status visited =
        VisitRows(embedded.embeddings, std::span(nodes).subspan(share * kShare, rows.size()), bytes, visit);
    const std::lock_guard<std::mutex> lock(mutex);
    if (visited.ok() || failed < share) return;
    failed = share;
    status = std::move(visited);
  });
  return status;
}

}  // namespace octavo
