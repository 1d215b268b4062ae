// Integer ids. Each kind has its own type, so that a node cannot be passed where a relation is expected.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo {

// A node of the graph: its row in the embedding table, and the rank of its name's hash. 0 <= id < Graph::node_count().
enum class NodeId : std::uint64_t {};

// A relation: its row in the relation table. With reciprocal relations row `r + relation_count` is the inverse of `r`.
enum class RelationId : std::uint32_t {};

// A range of consecutive node ids: partition p holds ids [p * partition_rows, (p + 1) * partition_rows).
enum class PartitionId : std::uint32_t {};

constexpr std::uint64_t Value(NodeId id) { return static_cast<std::uint64_t>(id); }
constexpr std::uint32_t Value(RelationId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t Value(PartitionId id) { return static_cast<std::uint32_t>(id); }

// Partitions have a multiple of this many rows. With 4-byte elements a partition then begins and ends on a boundary of
// a 4,096-byte page, whatever the row's width.
inline constexpr std::uint64_t kPartitionRowQuantum = 1024;

}  // namespace octavo
