#include "cells/sorted_spill.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"

namespace octavo {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{4} << 20;

}  // namespace

absl::StatusOr<SpillExtent> SpillSorted(EdgeChunks chunks, const PartitionLayout& partitions,
                                        const std::function<bool()>& stop, SpillFile& file) {
  SortedEdges sorted(std::move(chunks), partitions);
  ParallelEach(0, sorted.cell_count(),
               [&](std::size_t cell) { OrderCell(sorted.Cell(static_cast<std::uint32_t>(cell))); });
  SpillExtent extent{.begin = file.size(), .end = 0};
  for (auto rest = std::as_bytes(sorted.All()); !rest.empty();) {
    if (stop && stop()) return absl::CancelledError("interrupted");
    const auto some = rest.first(std::min(rest.size(), kWriteBytes));
    RETURN_IF_ERROR(file.Append(some));
    rest = rest.subspan(some.size());
  }
  extent.end = file.size();
  return extent;
}

}  // namespace octavo
