// The node names of an import that does not fit its memory: sorted runs in a spill file, merged into one sequence.
//
// A run has the names of one generation in ascending order of their hashes, each as: u64 hash, u32 length in the low 24
// bits and marks in the high 8, the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/run_reduction.h"
#include "cells/spill_file.h"
#include "import/name_marks.h"
#include "import/name_table.h"

namespace octavo {

struct SpilledName {
  std::uint64_t hash = 0;
  std::uint8_t marks = 0;  // NameMarks, of all runs together
  std::string_view text;   // valid during the call that has it
};

// Appends the names that have a mark as one run. `hashes` is by NameTable id. The sorting is parallel.
absl::StatusOr<SpillExtent> SpillNames(const NameTable& names, const NameMarks& marks,
                                       std::span<const std::uint64_t> hashes, SpillFile& file);

// Told the bytes that were read since the last call, now and then; its error ends the merge. May be empty.
using MergeTick = std::function<absl::Status(std::uint64_t bytes)>;

// Calls `visit` for each different name of `runs`, in ascending order of the hashes, and returns true; false as soon as
// two names have the same hash. `buffer_bytes` are shared by the runs' buffers, which have at least kMinNameBuffer
// bytes each.
absl::StatusOr<bool> MergeNames(const SpillFile& file, std::span<const SpillExtent> runs, std::uint64_t buffer_bytes,
                                const std::function<absl::Status(const SpilledName&)>& visit,
                                const MergeTick& tick = nullptr);

// The same, but the names become a run at the end of `file`, which is returned; empty if two have the same hash.
absl::StatusOr<std::optional<SpillExtent>> MergeNamesToRun(SpillFile& file, std::span<const SpillExtent> runs,
                                                           std::uint64_t buffer_bytes, const MergeTick& tick = nullptr);

// Room for a name of the largest size.
inline constexpr std::size_t kMinNameBuffer = std::size_t{80} << 10;

// How many runs can be merged at once within `buffer_bytes`.
RunLimits NameRunLimits(std::uint64_t buffer_bytes);

}  // namespace octavo
