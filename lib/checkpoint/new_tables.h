// The files of a new run's tables: reserves their space and fills their first slot.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/commit_peers.h"
#include "checkpoint/run_shape.h"
#include "format/npy_header.h"
#include "format/paths.h"

namespace octavo {

// The rows of a new run; bf16 embeddings are rounded to the nearest. Called for rows in any order, from several
// threads.
using RowInitializer = std::function<void(std::uint64_t row, std::span<float> values)>;

// Replaces values of a new table's rows [first, first + values.size() / columns), which hold the initializer's values.
// Called once for each row, in ascending order, by one thread. An error ends the creation.
using RowOverlay = std::function<absl::Status(std::uint64_t first, std::span<float> values)>;

// A new table is filled and written in steps of about this size, in floats; bf16 tables take half as much in addition.
inline constexpr std::uint64_t kFillStepBytes = std::uint64_t{8} << 20;

// Makes the files of all tables, both slots, and reserves their space. With `sparse` the tables of nodes are holes.
absl::Status AllocateTables(const RunPaths& paths, const RunShape& shape, bool sparse);

// Fills slot 0 of a table with rows from `initializer`, or zeros, and `overlay`. Returns the checksum of each
// partition. With `peers` only the partitions that begin in this folder; the others' checksums are 0.
absl::StatusOr<std::vector<std::uint64_t>> FillTable(const RunPaths& paths, TableName table, const NpyShape& shape,
                                                     std::uint64_t partition_rows, const RowInitializer& initializer,
                                                     const RowOverlay& overlay, bool sync, CommitPeers* peers);

}  // namespace octavo
