// The 64-byte header of the arrays of 64-bit integers in a graph folder.
//
//   nodes.hash            u64[node_count]      hashes of the names, strictly ascending: id is the position
//   nodes.offsets         u64[node_count + 1]  where line i of nodes.names begins; the last entry is the file's size
//   nodes.labels.hash     u64[node_count]      the hash of line i of nodes.labels, which is empty for a node without a
//                                              label (HashName with seed 0)
//   nodes.labels.offsets  u64[node_count + 1]  where line i of nodes.labels begins, as above
//   nodes.labels.order    u64[labelled nodes]  the nodes with a label, by the hash of the label, then by id
// The array follows the header directly. All integers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

enum class ArrayKind : std::uint32_t {
  kNodeHashes = 1,
  kNodeOffsets = 2,
  kLabelHashes = 3,
  kLabelOffsets = 4,
  kLabelOrder = 5
};

struct ArrayHeader {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'A', 'R', 'R', 'Y'};
  std::uint32_t version = 1;
  ArrayKind kind = ArrayKind::kNodeHashes;
  std::uint64_t count = 0;      // number of elements
  std::uint64_t hash_seed = 0;  // kNodeHashes: the seed without collisions; otherwise 0
  std::uint64_t data_checksum = 0;
  std::array<std::uint64_t, 2> reserved{};
  std::uint64_t header_checksum = 0;  // XXH3-64 of the bytes before this field
};
static_assert(sizeof(ArrayHeader) == 64);

std::array<std::byte, sizeof(ArrayHeader)> EncodeArrayHeader(ArrayHeader header);

// Checks magic, version, kind, checksum, and that the file has exactly the size that `count` requires.
absl::StatusOr<ArrayHeader> DecodeArrayHeader(std::span<const std::byte> bytes, ArrayKind kind,
                                              std::uint64_t file_bytes, std::string_view file_name);

}  // namespace octavo
