// Groups the gradients of a batch or chunk by node. The gradients of a row are summed by one task, in the order in
// which they were listed, so the sums have the same bits however the work is split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "tables/mmap_manager.h"

namespace octavo {

// Gradients of rows as a product: the gradient of a row is sum_l slopes[l] * rows[l], l < terms; each row has its own
// slopes.
struct GradientProduct {
  std::size_t terms = 0;
  const float* rows = nullptr;  // [terms, ProductStride(dim)] (tables/product_sums.h)
};

// A gradient of one row: [dim] floats, or, with a product, the [terms] slopes.
struct RowGradient {
  NodeId node{};
  const float* values = nullptr;
  const GradientProduct* product = nullptr;
};

// Lists the addresses of gradients; they must be written before they are read. Keeps its memory. One thread at a time,
// except in Arrivals.
class GradientsByNode {
 public:
  // Where the gradients of one node are in the order.
  struct Segment {
    NodeId node{};
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  void Clear() {
    listed_.clear();
    has_products_ = false;
  }
  // REQUIRES: fewer than 2^32 gradients in total
  void Add(const RowGradient& gradient) {
    listed_.push_back(gradient);
    has_products_ = has_products_ || gradient.product != nullptr;
  }
  std::span<const RowGradient> listed() const { return listed_; }
  bool has_products() const { return has_products_; }
  // Orders the gradients listed since Clear by node, those of one node as listed. The gradients may be written
  // meanwhile.
  void Order();

  // ---- After Order.
  // One segment per node, in ascending order of nodes.
  std::span<const Segment> segments() const { return segments_; }
  // The floats of the gradient at place `at` of the order.
  const float* gradient(std::uint32_t at) const { return listed_[order_[at]].values; }
  // The gradients of segments [first, last) as listed. Each entry has the gradient's place in the list, shifted left by
  // 32 bits, and its segment, counted from `first`. Valid until the next call for one of these segments. Threads may
  // call it concurrently for different segments.
  std::span<const std::uint64_t> Arrivals(std::size_t first, std::size_t last);

  // Returns an error if a node lacks a resident row in either table.
  absl::Status CheckRows(const MmapManager& embeddings, const MmapManager& state) const;

 private:
  void AddToSegments(std::uint32_t at, NodeId node);
  void SortTogether(unsigned index_bits);
  void SortApart();

  std::vector<RowGradient> listed_;
  bool has_products_ = false;
  std::vector<std::uint64_t> keys_;   // a node and, in the low bits, its gradient's place; then arrivals
  std::vector<std::uint32_t> order_;  // places in listed_
  std::vector<Segment> segments_;
};

}  // namespace octavo
