// What a training has done since a client looked: the new lines of metrics.jsonl and new commits, as server-sent events
// (HTML Living Standard, 9.2).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

namespace octavo {

// How far a client has read.
struct EventPlace {
  std::uint64_t bytes = 0;       // of metrics.jsonl
  std::uint64_t generation = 0;  // of the commit
  std::uint64_t run = 0;         // a part of the run's id; 0: any run
};

// The place as the id of an event, "BYTES-GENERATION-RUN", and back; any other text is the beginning.
std::string FormatEventPlace(const EventPlace& place);
EventPlace ParseEventPlace(const std::string& text);

// Bytes of metrics.jsonl up to its last whole line; 0 if there is none.
absl::StatusOr<std::uint64_t> WholeLines(const std::filesystem::path& metrics);

// Returns the events after `place`, which is moved: "event: epoch" and "event: validation" with the objects of
// metrics.jsonl, "event: commit" with {"generation": ..., "epochs_done": ..., "batches_done": ...}, and "event: reset"
// if the run was replaced or taken back, so that the client has to start anew. Empty if nothing is new.
absl::StatusOr<std::string> EventsAfter(const std::filesystem::path& run, EventPlace& place);

}  // namespace octavo
