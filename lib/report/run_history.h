// Reads the events of metrics.jsonl (run/telemetry.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "absl/status/statusor.h"
#include "run/telemetry.h"

namespace octavo {

struct RunHistory {
  std::vector<EpochEvent> epochs;            // in file order
  std::vector<ValidationEvent> validations;  // in file order
};

// Reads at most the first `committed_bytes` of the file: what a running training writes after them is not committed
// yet. Returns no events if there is no file. Ignores other kinds of events and unknown keys. A value that an older
// event lacks is 0; null is NaN. An invalid line, or one with a wrong checksum, is a corrupt-file error "file:line:
// found, expected". Holds the bytes and the events.
absl::StatusOr<RunHistory> ReadRunHistory(const std::filesystem::path& path, std::uint64_t committed_bytes);

}  // namespace octavo
