// Finds the vectors of a source that belong to nodes of a graph, by merging on the hashes of the names. Neither side
// has to fit the memory.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "graph/node_names.h"
#include "vectors/sorted_vectors.h"

namespace octavo {

// One owner; not for concurrent use.
class VectorsByNode {
 public:
  // `vectors` are sorted by the hash seed of `nodes`, which must outlive this object.
  VectorsByNode(std::unique_ptr<SortedVectors> vectors, const NodeNames& nodes)
      : vectors_(std::move(vectors)), nodes_(nodes) {}

  // For nodes [first, first + rows.size() / columns()): copies the vectors that the source has into `rows` [n,
  // columns], leaves the other rows unchanged, and calls `found` with each node that has a vector. Drops the names it
  // read from the cache (Forget). REQUIRES: `first` is where the last call ended
  absl::Status Copy(std::uint64_t first, std::span<float> rows, const std::function<void(NodeId)>& found);

  // Reads the rest of the source, to find any error in it.
  absl::Status Finish();

  std::size_t columns() const { return vectors_->columns(); }
  // The number of vectors in the source. REQUIRES: Finish was called
  std::uint64_t count() const { return vectors_->count(); }

 private:
  absl::Status Advance();

  const std::unique_ptr<SortedVectors> vectors_;
  const NodeNames& nodes_;
  std::optional<HashedVector> at_hand_;
  bool begun_ = false;
};

}  // namespace octavo
