// The vectors that a source has of the nodes of a graph: a merge by the hashes of the names, of which neither side's
// need to fit the memory.
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
  // `vectors` by the hash seed of `nodes`, which must outlive this.
  VectorsByNode(std::unique_ptr<SortedVectors> vectors, const NodeNames& nodes)
      : vectors_(std::move(vectors)), nodes_(nodes) {}

  // Copies the vectors of nodes [first, first + rows.size() / columns()) that the source has to `rows` [n, columns],
  // leaves the others as they are, and calls `found` with each node that has one. What was looked at of the names is
  // given to Forget. REQUIRES: `first` is where the last call ended
  absl::Status Copy(std::uint64_t first, std::span<float> rows, const std::function<void(NodeId)>& found);

  // Reads what is left, so that whatever is wrong with it is found.
  absl::Status Finish();

  std::size_t columns() const { return vectors_->columns(); }
  // Vectors of the source. REQUIRES: Finish was called
  std::uint64_t count() const { return vectors_->count(); }

 private:
  absl::Status Advance();

  const std::unique_ptr<SortedVectors> vectors_;
  const NodeNames& nodes_;
  std::optional<HashedVector> at_hand_;
  bool begun_ = false;
};

}  // namespace octavo
