// The edges of a graph that an import adds to, as chunks like those of any other input, but of records that need no
// parsing: what a graph has is taken as it is.
//
// A record: u32 head, relation and tail, the bytes of each name, then float weight, then the three names. The relation
// is empty where the graph has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "graph/graph.h"
#include "import/input_format.h"
#include "import/record_parser.h"

namespace octavo {

// The edges of a split in the order of the cells. One reader; not for concurrent use. Of the names those of two
// partitions are read at a time.
class BaseEdges {
 public:
  // `graph` must outlive it.
  BaseEdges(const Graph& graph, Split split) : graph_(graph), cells_(graph.Edges(split)) {}

  // head,tail or head,relation,tail, and a weight where the graph has such.
  static LineLayout LayoutOf(const GraphDescription& graph);

  // Returns the next records, no more than the last of which goes beyond kChunkBytes; empty at the end. A damaged block
  // or name is a corrupt-file error.
  absl::StatusOr<std::optional<std::string>> Next();

  // Of the cells, so far.
  std::uint64_t bytes_read() const { return bytes_read_; }

  static constexpr std::size_t kChunkBytes = std::size_t{512} << 10;  // as LineChunker's

 private:
  absl::Status ReadBlock();
  absl::StatusOr<std::string_view> NameOf(NodeId node) const;
  // Asks for the names of the block's partitions, and lets go of those before.
  void TurnTo(const BlockRecord& block);

  const Graph& graph_;
  const CellReader& cells_;
  std::size_t block_ = 0;  // the next
  std::uint64_t bytes_read_ = 0;
  std::optional<BlockRecord> last_;
  std::vector<Edge> edges_;  // of the block
  std::size_t edge_ = 0;     // the next of them
  std::vector<std::byte> scratch_;
};

// Adds the edges of such a chunk to `out`; none is malformed.
void ParseBaseEdges(std::string_view records, ParsedChunk& out);

}  // namespace octavo
