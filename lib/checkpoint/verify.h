// Checks what a run has committed: STATE, and every table that its newest manifest names.
//
// A training may go on meanwhile. A slot that the newest manifest names is never written, so rows that do not match are
// damage if, after they were read, the newest manifest still has the same record of them; if not, they are read again
// as the newer one says.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/run_lock.h"
#include "format/manifest.h"
#include "format/paths.h"
#include "io/check_report.h"
#include "io/piece_reader.h"

namespace octavo {

struct CommitCheckOptions {
  PieceOptions reading;  // each worker holds one piece
  // Gets the bytes that were checked since the last call; any thread. May be empty.
  std::function<void(std::uint64_t bytes)> progress;
};

struct CheckedCommit {
  std::optional<Manifest> manifest;  // the newest one that is valid, if there is one
  std::array<std::string, 2> slots;  // what each slot of STATE holds, for people
  std::uint64_t commits_meanwhile = 0;
  // The slot that has no manifest and should have one, if its place is in no doubt, and nothing else is wrong with
  // STATE.
  std::optional<int> torn_slot;
};

// Checks size and slots of STATE, header and size of each file that the newest manifest names, the checksum of each
// partition's rows and optimizer state, and the relations. What is wrong goes to `report`, all of it; an error says why
// the check could not be done: a run that was begun anew meanwhile. Runs on the calling arena's threads.
absl::StatusOr<CheckedCommit> VerifyCommit(const RunPaths& paths, const CommitCheckOptions& options,
                                           CheckReport& report);

// Puts a manifest into the torn slot again: that of `commit`, with the next generation. It names the same rows, all of
// them whole, so whoever resumes finds the same run as before; and what the torn slot held could be read no more.
// REQUIRES: commit.torn_slot, nothing else was found wrong with the run, and `lock` is its lock, held since before
absl::Status RewriteTornSlot(const RunPaths& paths, const CheckedCommit& commit, const RunLock& lock);

}  // namespace octavo
