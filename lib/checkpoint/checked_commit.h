// How what a run has committed is checked, and what was found.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "format/manifest.h"
#include "io/piece_reader.h"

namespace octavo {

struct CommitCheckOptions {
  PieceOptions reading;  // each worker holds one piece
  // Receives the number of bytes checked since the last call. Any thread. May be empty.
  std::function<void(std::uint64_t bytes)> progress;
};

struct CheckedCommit {
  std::optional<Manifest> manifest;  // the newest valid one, if any
  std::array<std::string, 2> slots;  // a description of each slot of STATE, for people
  std::uint64_t commits_meanwhile = 0;
  // The slot that should have a manifest but has none, if its place is certain and STATE has no other damage.
  std::optional<int> torn_slot;
};

}  // namespace octavo
