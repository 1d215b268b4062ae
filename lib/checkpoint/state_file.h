// RUN/STATE: two manifest slots (format/manifest.h). Generation g goes to slot g % 2, so that a torn write never
// damages the previous manifest.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/manifest.h"
#include "io/file.h"

namespace octavo {

// The contents of one of the two slots.
struct ManifestSlot {
  enum class State {
    kValid,
    kEmpty,    // zeros: never written
    kTorn,     // neither valid nor empty: an interrupted commit, or damage
    kForeign,  // of another version, or a valid manifest in the wrong slot
  };
  State state = State::kEmpty;
  Manifest manifest;    // if valid
  absl::Status status;  // the error, if any; names the file and the slot
};

// Returns both slots. A file with the wrong size is a corrupt-file error.
absl::StatusOr<std::array<ManifestSlot, 2>> ReadManifestSlots(const std::filesystem::path& path);

// Returns the newest valid manifest of the file. A missing file is a usage error (there is no run). If no slot is
// valid, the corrupt-file error describes both.
absl::StatusOr<Manifest> ReadNewestManifest(const std::filesystem::path& path);

// Takes back the newest manifest of the file, of generation `generation` + 1, so that the one before it is the newest
// again, also after a power cut. Nothing if the newest is of `generation`. A corrupt-file error if that is missing.
absl::Status RollBack(const std::filesystem::path& path, std::uint64_t generation);

// Writes the manifests of a run. One owner.
class StateFile {
 public:
  // Makes the file with the manifest in its slot, synced, first under a temporary name: if STATE exists, there is a run
  // that can be opened.
  static absl::StatusOr<StateFile> Create(const std::filesystem::path& path, const Manifest& first);

  // Opens the file, reads the newest valid manifest into `newest`, writes the same bytes into its slot again and syncs.
  // After a failed sync, a manifest may be only in the page cache; it must be on the disk before anything builds on it
  // (restart step R5).
  static absl::StatusOr<StateFile> Open(const std::filesystem::path& path, bool sync, Manifest& newest);

  // Writes the manifest into slot generation % 2. With `sync`, success is the commit point. After an error nothing more
  // may be written.
  absl::Status Write(const Manifest& manifest, bool sync);

 private:
  StateFile(File file, std::uint64_t slot_bytes) : file_(std::move(file)), slot_bytes_(slot_bytes) {}

  File file_;
  std::uint64_t slot_bytes_;
};

}  // namespace octavo
