// The part of VerifyGraph that checks nodes.hash, nodes.offsets and nodes.names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "format/array_header.h"
#include "format/paths.h"
#include "graph/check_options.h"
#include "io/check_report.h"

namespace octavo {

struct CheckedNodes {
  // Headers that are valid; the data after them may not be.
  std::optional<ArrayHeader> hashes;
  std::optional<ArrayHeader> offsets;
};

// REQUIRES: as VerifyGraph
CheckedNodes VerifyNodes(const GraphPaths& paths, const GraphCheckOptions& options, CheckReport& report);

}  // namespace octavo
