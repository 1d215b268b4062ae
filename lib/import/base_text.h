// The edges of a graph that an import adds to, as the text of one more input: so they take the way of any other edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "graph/graph.h"
#include "import/input_format.h"

namespace octavo {

// CSV with every name quoted, since a name may hold any delimiter; a line an edge, in the order of the cells. One
// reader; not for concurrent use. Of the names those of two partitions are read at a time.
class BaseText {
 public:
  // `graph` must outlive it.
  BaseText(const Graph& graph, Split split) : graph_(graph), cells_(graph.Edges(split)) {}

  // head,tail or head,relation,tail, and a weight where the graph has such.
  static LineLayout LayoutOf(const GraphDescription& graph);

  // Returns the text of the next block, empty at the end. A damaged block or name is a corrupt-file error.
  absl::StatusOr<std::optional<std::string>> Next();

  // Of the cells, so far.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  absl::Status AppendName(NodeId node, std::string& out) const;
  // Asks for the names of the block's partitions, and lets go of those before.
  void TurnTo(const BlockRecord& block);

  const Graph& graph_;
  const CellReader& cells_;
  std::size_t block_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::optional<BlockRecord> last_;
  std::vector<Edge> edges_;
  std::vector<std::byte> scratch_;
};

}  // namespace octavo
