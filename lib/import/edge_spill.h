// The edges of an import that does not fit its memory, in temporary files.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cells/edge_record.h"
#include "cells/spill_file.h"

namespace octavo {

// Appends the edges of `chunks` that are not dropped, in any order. Their ids become the names' places in the extent
// that is spilled with them: `places` is indexed by NameTable id. Leaves the chunks empty, but with their memory.
// Parallel.
absl::Status SpillEdges(EdgeChunks& chunks, std::span<const std::uint32_t> places, SpillFile& file);

}  // namespace octavo
