// The node names of an import that does not fit its memory: sorted extents in a spill file, merged into one sequence.
//
// A extent has the names that were in memory at the same time, in ascending order of their hashes, each as: u64 hash;
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
#include "import/name_marks.h"
#include "import/name_table.h"

namespace octavo {

struct SpilledName {
  std::uint64_t hash = 0;
  std::uint8_t marks = 0;  // NameMarks, combined from all extents
  std::string_view text;   // valid during the call that receives it
};

// Appends the names that have a mark as one extent. `hashes` is indexed by NameTable id. The sorting is parallel.
absl::StatusOr<SpillExtent> SpillNames(const NameTable& names, const NameMarks& marks,
                                       std::span<const std::uint64_t> hashes, SpillFile& file);

// Called regularly with the bytes read since the last call. An error ends the merge. May be empty.
using MergeTick = std::function<absl::Status(std::uint64_t bytes)>;

// Calls `visit` for each distinct name of `extents`, in ascending order of the hashes, and returns true; returns false
// as soon as two names have the same hash. The extents' buffers share `buffer_bytes` and have at least kMinNameBuffer
// bytes each.
absl::StatusOr<bool> MergeNames(const SpillFile& file, std::span<const SpillExtent> extents, std::uint64_t buffer_bytes,
                                const std::function<absl::Status(const SpilledName&)>& visit,
                                const MergeTick& tick = nullptr);

// The same, but writes the names as a extent at the end of `file` and returns it; empty if two have the same hash.
absl::StatusOr<std::optional<SpillExtent>> MergeNamesToExtent(SpillFile& file, std::span<const SpillExtent> extents,
                                                              std::uint64_t buffer_bytes,
                                                              const MergeTick& tick = nullptr);

// Room for a name of maximum size.
inline constexpr std::size_t kMinNameBuffer = std::size_t{80} << 10;

// How many extents can be merged at once within `buffer_bytes`.
MergeLimits NameMergeLimits(std::uint64_t buffer_bytes);

}  // namespace octavo
