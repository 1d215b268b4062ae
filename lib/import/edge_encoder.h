// Gives the edges of an import that does not fit its memory their final ids, batch by batch, and spills them by cell.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/statusor.h"
#include "cells/cell_spill.h"
#include "cells/spill_file.h"
#include "import/id_map.h"
#include "import/name_marks.h"
#include "import/name_ranking.h"

namespace octavo {

struct EncoderInput {
  const SpillFile& edges;                 // consecutive EdgeRecords
  std::span<const SpillExtent> portions;  // of the edges: those that were spilled together
  // Reads the map of a portion, by its number.
  std::function<absl::StatusOr<IdMap>(std::size_t portion)> ids;
  std::uint64_t most_id_bytes = 0;  // of one map
  const NameMarks& relation_marks;  // by NameTable id; empty without relations
  const NameRanking& relations;
  bool drop_unseen = false;
};

struct EncoderOptions {
  std::uint64_t memory_bytes = 0;                               // for a map and a batch together
  std::function<bool()> stop = nullptr;                         // may be empty; checked between steps of a batch
  std::function<void(std::uint64_t edges)> progress = nullptr;  // may be empty
};

// Arrays are indexed by EdgeSplit.
struct EncodedEdges {
  std::array<std::uint64_t, 3> unseen{};
  std::array<std::uint64_t, 3> kept{};
};

// Reads `input`.edges once and appends each batch to `out`. Parallel.
absl::StatusOr<EncodedEdges> EncodeEdges(const EncoderInput& input, const EncoderOptions& options, CellSpill& out);

}  // namespace octavo
