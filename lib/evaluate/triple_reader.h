// Reads the triples of a split in order, batch by batch: all of them, or a random sample.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "graph/cell_reader.h"
#include "graph/graph.h"

namespace octavo {

// One reader; not for concurrent use.
class TripleReader {
 public:
  // Draws `sample` distinct triples, a pure function of the arguments. Takes all if `sample` is 0 or more than there
  // are. `cells` must outlive the reader.
  TripleReader(const CellReader& cells, std::uint64_t sample, std::uint64_t seed);

  // The total number of triples, read or not.
  std::uint64_t size() const { return sampled_ ? sample_.size() : cells_.edge_count(); }
  // Returns the next `count` triples in file order, fewer at the end. REQUIRES: count > 0
  absl::StatusOr<std::vector<Edge>> Next(std::uint64_t count);

 private:
  absl::Status ReadNextBlock();

  const CellReader& cells_;
  bool sampled_;
  std::vector<std::uint64_t> sample_;  // ascending positions in the file
  std::uint64_t taken_ = 0;            // triples returned so far

  // The block that holds the next triple, if edges_ is not empty.
  std::vector<Edge> edges_;
  std::vector<std::byte> scratch_;
  std::uint64_t first_edge_ = 0;  // position of edges_[0]
  std::size_t next_block_ = 0;
};

// Returns the usage error for a split without edges, with the next step.
absl::Status EmptySplitError(const Graph& graph, Split split);

}  // namespace octavo
