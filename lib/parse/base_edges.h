// The edges of a graph that an import adds to, as chunks like those of other inputs. Their records need no parsing.
//
// A record: u32 head, relation and tail (the bytes of each name), then float weight, then the three names. The relation
// is empty if the graph has none.
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
#include "parse/input_format.h"
#include "parse/parsed_chunk.h"

namespace octavo {

// Reads the edges of a split in the order of the cells. One reader; not for concurrent use. Holds the names of two
// partitions at a time.
class BaseEdges {
 public:
  // `graph` must outlive this object.
  BaseEdges(const Graph& graph, Split split) : graph_(graph), cells_(graph.Edges(split)) {}

  // head,tail or head,relation,tail; and a weight if the graph has weights.
  static LineLayout LayoutOf(const GraphDescription& graph);

  // Returns the next records: at most kChunkBytes, plus what the last record exceeds. Empty at the end. A damaged block
  // or name is a corrupt-file error.
  absl::StatusOr<std::optional<std::string>> Next();

  // Bytes of the cells read so far.
  std::uint64_t bytes_read() const { return bytes_read_; }

  static constexpr std::size_t kChunkBytes = std::size_t{512} << 10;  // the same as LineChunker's

 private:
  absl::Status ReadBlock();
  absl::StatusOr<std::string_view> NameOf(NodeId node) const;
  // Requests the names of the block's partitions and releases those of the previous block.
  void TurnTo(const BlockRecord& block);

  const Graph& graph_;
  const CellReader& cells_;
  std::size_t block_ = 0;  // next block
  std::uint64_t bytes_read_ = 0;
  std::optional<BlockRecord> last_;
  std::vector<Edge> edges_;  // of the current block
  std::size_t edge_ = 0;     // next edge of the block
  std::vector<std::byte> scratch_;
};

// Adds the edges of such a chunk to `out`. No record is malformed.
void ParseBaseEdges(std::string_view records, ParsedChunk& out);

}  // namespace octavo
