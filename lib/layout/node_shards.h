// Divides nodes into shards of similar rows, small enough that an index of a shard fits into memory. A node is in two
// shards, those whose centres are most similar to it, so that most of its neighbours share a shard with it (as in
// DiskANN: Subramanya et al., NeurIPS 2019).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"
#include "layout/scratch_table.h"

namespace octavo {

struct NodeShards {
  std::uint64_t copies = 1;            // shards of a node: 1 if there is only one, else 2
  std::vector<std::uint32_t> of_node;  // [nodes, copies]
  std::vector<std::uint64_t> sizes;    // [shards]
};

// The most nodes of a shard. A function of the dimension alone, because the neighbours that are found depend on it.
std::uint64_t ShardCapacity(std::uint64_t dim);

// The number of shards of up to `capacity` nodes: they are three quarters full on average.
std::uint64_t ShardCount(std::uint64_t nodes, std::uint64_t capacity);

// Upper bound for the memory of ShardNodes, apart from `rows` and the blocks that it reads.
std::uint64_t ShardingBytes(std::uint64_t nodes, std::uint64_t dim, std::uint64_t capacity);

// Writes the row of each node into `rows` for each of its shards: [id, then the row's `dim` floats], from row
// shard * capacity on, by id. rows: [ShardCount * capacity, 1 + dim]. Centres are found by k-means with cosines on a
// sample; a node whose shards are full goes to the next best. A function of the embeddings and `capacity`: the same for
// any threads and memory. A NaN or infinite value is an error that names its place. Runs on TBB. `progress` is called
// with the share done, from the calling thread.
absl::StatusOr<NodeShards> ShardNodes(const EmbeddedGraph& embedded, std::uint64_t capacity, std::uint64_t block_bytes,
                                      ScratchTable& rows, const std::function<void(double)>& progress);

}  // namespace octavo
