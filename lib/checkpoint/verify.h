// Checks what a run has committed: STATE, and every table that its newest manifest names.
//
// Can run during training. A slot that the newest manifest names is never written. So rows that do not match are damage
// if the newest manifest, read again afterwards, still has the same record of them. Otherwise they are read again as
// the newer manifest describes them.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/checked_commit.h"
#include "checkpoint/run_lock.h"
#include "format/paths.h"
#include "io/check_report.h"

namespace octavo {

// Checks size and slots of STATE, header and size of each file that the newest manifest names, the checksum of each
// partition's rows and optimizer state, and the relations. Adds all damage to `report`. Returns an error only if the
// check could not be done: a run that was started anew in the meantime. Runs on the threads of the caller's arena.
absl::StatusOr<CheckedCommit> VerifyCommit(const RunPaths& paths, const CommitCheckOptions& options,
                                           CheckReport& report);

// Writes a manifest into the torn slot: that of `commit` with the next generation. It names the same rows, all
// undamaged, so a resume finds the same run as before. What the torn slot held was unreadable.
// REQUIRES: commit.torn_slot, nothing else is damaged in the run, and `lock` is its lock, held since before the check
absl::Status RewriteTornSlot(const RunPaths& paths, const CheckedCommit& commit, const RunLock& lock);

}  // namespace octavo
