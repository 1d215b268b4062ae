// Gives the names that stay their final ids: a node's id is the rank of its name's hash, a relation's the rank of its
// name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/edge_record.h"
#include "import/name_marks.h"
#include "import/name_table.h"
#include "io/checksum.h"

namespace octavo {

struct NameRanking {
  std::vector<std::uint32_t> rank;     // by NameTable id; only those of names that stay mean anything
  std::vector<std::uint32_t> by_rank;  // NameTable ids
  std::vector<std::uint64_t> hashes;   // by rank, strictly ascending; nodes only
  std::uint64_t seed = 0;              // of the hashes; nodes only
};

using NameHash = std::uint64_t (*)(std::string_view name, std::uint64_t seed);

// Whether a NameTable has these hashes of its names already.
inline bool HasHash(NameHash hash, std::uint64_t seed) { return hash == HashName && seed == 0; }

// The hash of the name `id`.
inline std::uint64_t HashOf(const NameTable& names, std::uint32_t id, NameHash hash, std::uint64_t seed) {
  return HasHash(hash, seed) ? names.Hash(id) : hash(names.Text(id), seed);
}

// Among 2^32 names a 64-bit hash has a collision every other time, so a few seeds are enough for any input.
inline constexpr std::uint64_t kMaxHashSeeds = 64;

// Ranks the nodes that were seen, with `only_train` in a training edge, by `hash` of their names, with the first seed
// from 0 that gives no two of all that were seen the same hash. Parallel; the result depends on the names alone.
absl::StatusOr<NameRanking> RankNodes(const NameTable& names, const NameMarks& marks, bool only_train, NameHash hash);

// The error of an import for which no seed will do.
absl::Status NoHashSeedError();

// Ranks the relations that were seen, with `only_train` in a training edge, by the bytes of their names.
NameRanking RankRelations(const NameTable& names, const NameMarks& marks, bool only_train);

// Replaces the NameTable ids in `runs` by ranks; a record that is dropped keeps what it has. Parallel.
void EncodeIds(EdgeRuns& runs, const NameRanking& nodes, const NameRanking& relations);

}  // namespace octavo
