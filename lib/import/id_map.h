// New numbers for the names of one extent, in the order of the extent: their places in a merged extent, or their ids.
//
// Each edge is spilled with the places of its names in the extent that was spilled with it. The merge of the extents
// writes a map for each of them, and an edge gets its ids by two reads from the map of its extent, which is small,
// however many nodes the graph has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/spill_file.h"

namespace octavo {

// In place of the id of a name that has none: a name that is in no training edge and dropped.
inline constexpr std::uint32_t kNoId = 0xFFFFFFFF;

// A part of a map, as it is in a file.
struct IdMapBlock {
  static constexpr std::size_t kNames = 3968;
  std::array<std::uint32_t, kNames> ids{};
  std::array<std::uint64_t, kNames / 64> in_train{};  // bits
  std::array<std::uint64_t, 2> padding{};
};
static_assert(sizeof(IdMapBlock) == 16384);  // four pages, so that no two blocks share one

// Where a map is.
struct StoredIdMap {
  std::uint64_t names = 0;
  std::vector<std::uint64_t> blocks;  // their offsets in the file
};

// Writes one map, name by name. Several may write to one file. One thread. `file` must outlive it.
class IdMapWriter {
 public:
  explicit IdMapWriter(SpillFile& file) : file_(file), block_(std::make_unique<IdMapBlock>()) {}

  // REQUIRES: the ids ascend, except kNoId
  absl::Status Append(std::uint32_t id, bool in_train) {
    const std::size_t place = map_.names++ % IdMapBlock::kNames;
    block_->ids[place] = id;
    block_->in_train[place / 64] |= std::uint64_t{in_train} << (place % 64);
    return place + 1 == IdMapBlock::kNames ? Flush() : absl::OkStatus();
  }
  // Call it once, last.
  absl::StatusOr<StoredIdMap> Finish();

 private:
  absl::Status Flush();

  SpillFile& file_;
  std::unique_ptr<IdMapBlock> block_;
  StoredIdMap map_;
};

// A map in memory. Constant after Then; any thread.
class IdMap {
 public:
  static absl::StatusOr<IdMap> Read(const SpillFile& file, const StoredIdMap& stored);
  // Replaces each number by what `next`, the map of the merged extent, has in that place.
  absl::Status Then(const SpillFile& file, const StoredIdMap& next);

  std::uint32_t Id(std::uint32_t place) const { return ids_[place]; }
  bool InTrain(std::uint32_t place) const { return (in_train_[place / 64] >> (place % 64) & 1) != 0; }

  static constexpr std::uint64_t BytesOf(std::uint64_t names) {
    return (names / IdMapBlock::kNames + 1) * sizeof(IdMapBlock);
  }

 private:
  std::vector<std::uint32_t> ids_;
  std::vector<std::uint64_t> in_train_;  // bits
};

}  // namespace octavo
