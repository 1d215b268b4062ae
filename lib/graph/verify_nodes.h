// The part of VerifyGraph that is about nodes.hash, nodes.offsets and nodes.names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "format/array_header.h"
#include "format/paths.h"
#include "graph/verify.h"
#include "io/check_report.h"

namespace octavo {

struct CheckedNodes {
  // Of the arrays whose header is right; the data may not be.
  std::optional<ArrayHeader> hashes;
  std::optional<ArrayHeader> offsets;
};

// REQUIRES: as VerifyGraph
CheckedNodes VerifyNodes(const GraphPaths& paths, const GraphCheckOptions& options, CheckReport& report);

}  // namespace octavo
