// The part of VerifyGraph that checks one edge file.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "format/cells.h"
#include "graph/check_options.h"
#include "io/check_report.h"

namespace octavo {

// Checks header, index and every block. Adds the edges of each relation to `relation_edges`, ignoring relation ids
// beyond its size. Returns the header if it is valid. Returns an error if memory is too small for the index.
// REQUIRES: as VerifyGraph
absl::StatusOr<std::optional<CellsHeader>> VerifyCells(const std::filesystem::path& path,
                                                       const GraphCheckOptions& options,
                                                       std::span<std::atomic<std::uint64_t>> relation_edges,
                                                       CheckReport& report);

}  // namespace octavo
