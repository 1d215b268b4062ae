// The events of metrics.jsonl (train/telemetry.h), read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "absl/status/statusor.h"
#include "train/telemetry.h"

namespace octavo {

struct RunHistory {
  std::vector<EpochEvent> epochs;            // in the order of the file
  std::vector<ValidationEvent> validations;  // the same
};

// Reads the first `committed_bytes` of the file, as many as there are, or nothing where there is no file: what a
// training is writing behind them is not committed yet. Events of other kinds, and keys that are not known, are passed
// over; what an older event lacks is 0, and a number that is null is NaN. A line that is no such event is a
// corrupt-file error "file:line: found, expected". Holds the bytes and the events.
absl::StatusOr<RunHistory> ReadRunHistory(const std::filesystem::path& path, std::uint64_t committed_bytes);

}  // namespace octavo
