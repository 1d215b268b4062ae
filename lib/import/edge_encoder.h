// Gives the edges of an import that does not fit its memory their final ids, batch by batch, and spills them by cell.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/statusor.h"
#include "cells/cell_spill.h"
#include "cells/spill_file.h"
#include "import/name_marks.h"
#include "import/name_ranking.h"

namespace octavo {

struct EncoderInput {
  const SpillFile& edges;        // consecutive SpilledEdge
  std::filesystem::path hashes;  // nodes.hash, complete
  std::uint64_t node_count = 0;
  // Bit i % 64 of word i / 64: node i is in a training edge. Null if all are.
  const SpillFile* in_train = nullptr;
  const NameMarks& relation_marks;  // by NameTable id; empty without relations
  const NameRanking& relations;
  bool drop_unseen = false;
};

struct EncoderOptions {
  std::uint64_t memory_bytes = 0;                               // for the array of hashes and a batch together
  std::function<bool()> stop = nullptr;                         // may be empty; checked between steps of a batch
  std::function<void(std::uint64_t edges)> progress = nullptr;  // may be empty
};

// Arrays are indexed by EdgeSplit.
struct EncodedEdges {
  std::array<std::uint64_t, 3> unseen{};
  std::array<std::uint64_t, 3> kept{};
};

// Reads `input`.edges once and appends each batch to `out`. If the array of hashes needs more than half of the memory,
// it is read in slices, all of them for every batch. Parallel.
absl::StatusOr<EncodedEdges> EncodeEdges(const EncoderInput& input, const EncoderOptions& options, CellSpill& out);

}  // namespace octavo
