// Updates of rows by gradients that are products (tables/contributions.h): the gradients of negatives, which are made
// here, row by row, and summed while they are in the second-level cache. As rows, those of a batch of small chunks and
// many negatives are larger than all caches and go from the cores to memory and back; their factors are not.
//
// Threads take ranges of rows, ascending by node. For each range the sums lie in one piece; the contributions are added
// to them as they came, those of one product together, by a product of its slopes for these rows with its other factor.
// So each row has its sum from one thread, in the order of the contributions: the bits are those of the gradients made
// first and added then, whatever the threads and ranges.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "oneapi/tbb/enumerable_thread_specific.h"
#include "tables/contributions.h"
#include "tables/mmap_manager.h"

namespace octavo {

// One caller; parallel inside.
class FactoredUpdates {
 public:
  // The sums of a range: half of a second-level cache of 1 MiB, the other half being for the factors. The more rows to
  // a range the fewer times the factors are read. Each thread has so much memory.
  static constexpr std::size_t kSumBytes = std::size_t{512} << 10;

  explicit FactoredUpdates(std::size_t dim);

  // Does what by_node.UpdateAllRows does. Rows of products are FactorStride(dim) floats wide (model/chunk_kernel.h).
  absl::Status UpdateAllRows(ContributionsByNode& by_node, RowUpdate update, MmapManager& embeddings,
                             MmapManager& state, const std::optional<RowRounding>& rounding);

 private:
  void SumRows(ContributionsByNode& by_node, std::size_t first, std::size_t last, std::vector<float>& sums) const;

  const std::size_t dim_;
  const std::size_t stride_;  // of sums
  tbb::enumerable_thread_specific<std::vector<float>> sums_;
};

}  // namespace octavo
