// Which row of a file belongs to which node, where rows are handed out in the order in which nodes come first. Nodes
// come in batches, sorted. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"

namespace octavo {

class NodeRows {
 public:
  struct Place {
    std::uint32_t row = 0;
    bool fresh = true;  // the row is the node's from Keep on
  };

  // Finds the row of each of `nodes`, which ascend; a node without one would get the next. Valid until the next call.
  std::span<const Place> Find(std::vector<NodeId> nodes);
  // The rows in use with those of the last Find. REQUIRES: fewer than 2^32, where Keep follows
  std::uint64_t rows_found() const { return rows_found_; }
  // Gives the fresh nodes of the last Find their rows. Without it nothing has changed.
  void Keep();

  // The nodes that have a row, ascending, and the row of nodes()[i].
  std::span<const NodeId> nodes() const { return nodes_; }
  std::uint32_t row(std::size_t i) const { return rows_[i]; }
  void Clear();

 private:
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> rows_;
  // Of the last Find.
  std::vector<NodeId> found_;
  std::vector<Place> places_;
  std::uint64_t rows_found_ = 0;
};

}  // namespace octavo
