// The edges of an import that does not fit its memory, in temporary files.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cells/edge_record.h"
#include "cells/spill_file.h"

namespace octavo {

// An edge whose final ids are not known yet: nodes are represented by the hashes of their names.
struct SpilledEdge {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  std::uint32_t relation_and_split = 0;  // as in EdgeRecord
  float weight = 1.0F;
};
static_assert(sizeof(SpilledEdge) == 24);

// Appends the edges of `chunks` that are not dropped, in any order, and frees each chunk after writing it. `hashes` is
// indexed by NameTable id. Parallel.
absl::Status SpillEdges(EdgeChunks chunks, std::span<const std::uint64_t> hashes, SpillFile& file);

}  // namespace octavo
