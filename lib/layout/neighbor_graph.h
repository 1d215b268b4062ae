// The nearest neighbours of all nodes by cosine, found by the index (index/cosine_index.h), within a memory limit.
//
// Nodes are divided into shards (node_shards.h). An index of each shard is built by one thread, so that its bits depend
// on nothing else, while other threads build those of other shards; a node's neighbours are the best that it has in its
// shards. The lists are then completed by the nodes to which a node is near.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"
#include "layout/scratch_table.h"

namespace octavo {

struct NeighborOptions {
  std::uint32_t neighbors = 15;
  std::uint64_t shard_capacity = 0;  // 0: ShardCapacity
  int threads = 1;
  std::uint64_t memory_bytes = 0;  // with which LeastNeighborBytes is met, else more is taken
  std::uint64_t list_bytes = 0;    // the most that the lists may hold in memory; otherwise they are in a file
  std::filesystem::path scratch_folder = {};  // for what does not fit into memory
  // Called with what is being done, the share of it that is done, and the number of nodes done, from the calling
  // thread.
  std::function<void(std::string_view, double, std::uint64_t)> progress = {};
};

// The smallest memory with which FindNeighbors works, for one thread.
std::uint64_t LeastNeighborBytes(std::uint64_t nodes, std::uint64_t dim, const NeighborOptions& options);

// Returns for each node a list [2 * neighbors]: its nearest other nodes, best first, then up to `neighbors` nodes that
// have it among theirs, those with the best ranks; a node may be in both halves. Unused words of each half are kNoNode.
// A function of the embeddings and the options but threads and memory. A NaN or infinite value is an error. Runs on
// TBB. REQUIRES: 0 < neighbors <= 256; the graph has at most kMaxIndexNodes nodes
absl::StatusOr<ScratchTable> FindNeighbors(const EmbeddedGraph& embedded, const NeighborOptions& options);

}  // namespace octavo
