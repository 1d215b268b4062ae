// Gives the kept names their final ids: a node's id is the rank of its name's hash, a relation's id the rank of its
// name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/edge_record.h"
#include "import/name_marks.h"
#include "import/name_table.h"
#include "io/checksum.h"

namespace octavo {

struct NameRanking {
  std::vector<std::uint32_t> rank;     // by NameTable id; only valid for kept names
  std::vector<std::uint32_t> by_rank;  // NameTable ids
  std::vector<std::uint64_t> hashes;   // by rank, strictly ascending; nodes only
  std::uint64_t seed = 0;              // of the hashes; nodes only
};

using NameHash = std::uint64_t (*)(std::string_view name, std::uint64_t seed);

// Whether the NameTable already has these hashes of its names.
inline bool HasHash(NameHash hash, std::uint64_t seed) { return hash == HashName && seed == 0; }

// The hash of the name `id`.
inline std::uint64_t HashOf(const NameTable& names, std::uint32_t id, NameHash hash, std::uint64_t seed) {
  return HasHash(hash, seed) ? names.Hash(id) : hash(names.Text(id), seed);
}

// With 2^32 names, every second 64-bit hash has a collision, so a few seeds are enough for any input.
inline constexpr std::uint64_t kMaxHashSeeds = 64;

// Ranks the seen nodes (with `only_train`, those in a training edge) by the `hash` of their names. Uses the first seed
// from 0 without a collision among all seen names. Parallel; the result depends only on the names.
absl::StatusOr<NameRanking> RankNodes(const NameTable& names, const NameMarks& marks, bool only_train, NameHash hash);

// The same with one seed; empty if two of the seen names have the same hash.
std::optional<NameRanking> RankNodesWithSeed(const NameTable& names, const NameMarks& marks, bool only_train,
                                             NameHash hash, std::uint64_t seed);

// The error if every seed has a collision.
absl::Status NoHashSeedError();

// Ranks the seen relations (with `only_train`, those in a training edge) by the bytes of their names.
NameRanking RankRelations(const NameTable& names, const NameMarks& marks, bool only_train);

// Replaces the NameTable ids in `chunks` by ranks; dropped records are unchanged. Parallel.
void EncodeIds(EdgeChunks& chunks, const NameRanking& nodes, const NameRanking& relations);

}  // namespace octavo
