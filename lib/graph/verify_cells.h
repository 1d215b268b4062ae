// The part of VerifyGraph that is about one edge file.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "format/cells.h"
#include "graph/verify.h"
#include "io/check_report.h"

namespace octavo {

// Checks header, index and every block, and adds the edges of each relation to `relation_edges`, as far as that
// reaches. Returns the header if it is right. An error is too little memory for the index. REQUIRES: as VerifyGraph
absl::StatusOr<std::optional<CellsHeader>> VerifyCells(const std::filesystem::path& path,
                                                       const GraphCheckOptions& options,
                                                       std::span<std::atomic<std::uint64_t>> relation_edges,
                                                       CheckReport& report);

}  // namespace octavo
