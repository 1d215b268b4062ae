// The gradients of a batch or chunk, brought together by node: each row's are summed in one place and in the order in
// which they were handed over, so the sums are the same bits however the work is split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "tables/mmap_manager.h"

namespace octavo {

// Gradients of rows as a product: a row's is sum_l slopes[l] * rows[l], for l < terms and with slopes of its own.
struct GradientProduct {
  std::size_t terms = 0;
  const float* rows = nullptr;  // [terms, dim or more]
};

// A gradient of one row: [dim] floats that stay where they are as long as what they were handed to uses them; or, with
// a product, the [terms] slopes of it, which train/factored_updates.h alone takes.
struct Contribution {
  NodeId node{};
  const float* gradient = nullptr;
  const GradientProduct* product = nullptr;
};

// Updates one row: gradient, the row, its optimizer state. All are floats, whatever the rows are stored as.
using RowUpdate = absl::FunctionRef<void(std::span<const float>, std::span<float>, std::span<float>)>;

// Contributions ordered by node. Keeps its memory between calls. One thread; UpdateRows reads only.
class ContributionsByNode {
 public:
  // Where the contributions to one node lie in the order.
  struct Segment {
    NodeId node{};
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  // Orders `contributions`, which must stay until the next call; those to one node as they came.
  // REQUIRES: fewer than 2^32
  void Order(std::span<const Contribution> contributions);

  // One for each node, ascending.
  std::span<const Segment> segments() const { return segments_; }
  // The gradient at place `at` of the order.
  const float* gradient(std::uint32_t at) const { return contributions_[order_[at]].gradient; }

  // The contributions to segments [first, last) as they came: each is its place among all, shifted left by 32 bits, and
  // its segment, counted from `first`. Valid until the next call for one of these segments. Threads may ask for
  // different segments at once.
  std::span<const std::uint64_t> Arrivals(std::size_t first, std::size_t last);
  const Contribution& contribution(std::uint64_t place) const { return contributions_[place]; }

  // An error where a node has no resident row in both tables.
  absl::Status CheckRows(const MmapManager& embeddings, const MmapManager& state) const;

  // Calls `update` for the rows of segments [first, last) with the sum of their gradients of `dim` floats, each under
  // the row's exclusive lock in `embeddings`. `state` has the same rows. REQUIRES: CheckRows of both is ok,
  // embeddings.CheckRounding(rounding), and no contribution has a product
  void UpdateRows(std::size_t first, std::size_t last, std::size_t dim, RowUpdate update, MmapManager& embeddings,
                  MmapManager& state, const std::optional<RowRounding>& rounding = std::nullopt) const;
  // The same with the sums told: that of segment first + i is [i * stride, i * stride + dim) of `sums`.
  void UpdateRowsBy(const float* sums, std::size_t stride, std::size_t first, std::size_t last, std::size_t dim,
                    RowUpdate update, MmapManager& embeddings, MmapManager& state,
                    const std::optional<RowRounding>& rounding = std::nullopt) const;
  // Does so for all segments, on all threads. An error where a row is not resident, or rows of bf16 have no rounding;
  // then nothing is updated.
  absl::Status UpdateAllRows(std::size_t dim, RowUpdate update, MmapManager& embeddings, MmapManager& state,
                             const std::optional<RowRounding>& rounding = std::nullopt) const;

 private:
  void AddToSegments(std::uint32_t at, NodeId node);
  void SortTogether(unsigned index_bits);
  void SortApart();
  template <typename Sum>
  void UpdateEach(std::size_t first, std::size_t last, const Sum& sum, std::size_t dim, RowUpdate update,
                  MmapManager& embeddings, MmapManager& state, const std::optional<RowRounding>& rounding) const;

  std::span<const Contribution> contributions_;
  std::vector<std::uint64_t> keys_;   // a node and, in the low bits, its contribution's place; then arrivals
  std::vector<std::uint32_t> order_;  // places in contributions_
  std::vector<Segment> segments_;
};

}  // namespace octavo
