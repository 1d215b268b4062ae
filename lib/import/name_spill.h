// The node names of an import that does not fit its memory: sorted extents in a spill file, merged into one sequence.
//
// An extent has the names that were in memory at the same time, in ascending order of their hashes, each as: u64 hash;
// u32 with the length in the low 24 bits and the marks in the high 8; the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/extent_reduction.h"
#include "cells/spill_file.h"
#include "import/id_map.h"
#include "import/name_marks.h"
#include "import/name_ranking.h"
#include "import/name_table.h"

namespace octavo {

struct SpilledName {
  std::uint64_t hash = 0;
  std::uint8_t marks = 0;  // NameMarks, combined from all extents
  std::string_view text;   // valid during the call that receives it
};

// Appends the names of `ranking` as one extent.
absl::StatusOr<SpillExtent> SpillNames(const NameTable& names, const NameMarks& marks, const NameRanking& ranking,
                                       SpillFile& file);

// Called regularly with the bytes read since the last call. An error ends the merge. May be empty.
using MergeTick = std::function<absl::Status(std::uint64_t bytes)>;

// Takes a name and returns its id, kNoId for none. An error ends the merge.
using NameVisit = std::function<absl::StatusOr<std::uint32_t>(const SpilledName&)>;

// Calls `visit` for each distinct name of `extents`, in ascending order of the hashes, writes to `ids` for each extent
// which ids its names got, and returns these maps; returns empty as soon as two names have the same hash. The extents'
// buffers share `buffer_bytes` and have at least kMinNameBuffer bytes each.
absl::StatusOr<std::optional<std::vector<StoredIdMap>>> MergeNames(const SpillFile& file,
                                                                   std::span<const SpillExtent> extents, SpillFile& ids,
                                                                   std::uint64_t buffer_bytes, const NameVisit& visit,
                                                                   const MergeTick& tick = nullptr);

struct MergedNames {
  SpillExtent extent;
  std::vector<StoredIdMap> maps;  // of each extent that was merged: the places of its names in the new one
};
// The same, but writes the names as an extent at the end of `file`.
absl::StatusOr<std::optional<MergedNames>> MergeNamesToExtent(SpillFile& file, std::span<const SpillExtent> extents,
                                                              SpillFile& ids, std::uint64_t buffer_bytes,
                                                              const MergeTick& tick = nullptr);

// Of one extent: room for a name of maximum size and a block of its map.
inline constexpr std::size_t kMinNameBuffer = std::size_t{96} << 10;

// The error if names have more ids than there are.
absl::Status TooManyNames();

// How many extents can be merged at once within `buffer_bytes`.
MergeLimits NameMergeLimits(std::uint64_t buffer_bytes);

}  // namespace octavo
