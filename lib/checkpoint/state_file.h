// RUN/STATE: two manifest slots (format/manifest.h). Generation g goes to slot g % 2, so that the one before survives a
// torn write.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/manifest.h"
#include "io/file.h"

namespace octavo {

// What stands in one of the two slots.
struct ManifestSlot {
  enum class State {
    kValid,
    kEmpty,    // zeros: nothing was committed to it yet
    kTorn,     // neither: a commit that was cut, or damage
    kForeign,  // of another version, or a valid manifest where it does not belong
  };
  State state = State::kEmpty;
  Manifest manifest;    // if valid
  absl::Status status;  // what is wrong, if anything: names the file and the slot
};

// Returns both slots; a corrupt-file error where the file has not the size of two.
absl::StatusOr<std::array<ManifestSlot, 2>> ReadManifestSlots(const std::filesystem::path& path);

// Returns the newest valid manifest of the file. No file is a usage error (no run here), no valid slot a corrupt-file
// error that says what is wrong with each.
absl::StatusOr<Manifest> ReadNewestManifest(const std::filesystem::path& path);

// The writer's side; one owner.
class StateFile {
 public:
  // Makes the file with the manifest in its slot, synced, under a temporary name first: where there is a STATE, there
  // is a run that can be opened.
  static absl::StatusOr<StateFile> Create(const std::filesystem::path& path, const Manifest& first);

  // Opens the file, takes the newest valid manifest into `newest`, and writes its identical bytes into its own slot
  // and syncs: after a failed sync a manifest can be in the page cache only, and nothing may build on it before it is
  // on the disk (restart step R5).
  static absl::StatusOr<StateFile> Open(const std::filesystem::path& path, bool sync, Manifest& newest);

  // Writes the manifest into slot generation % 2; with `sync` its return is the commit point. After an error nothing
  // may be written any more.
  absl::Status Write(const Manifest& manifest, bool sync);

 private:
  StateFile(File file, std::uint64_t slot_bytes) : file_(std::move(file)), slot_bytes_(slot_bytes) {}

  File file_;
  std::uint64_t slot_bytes_;
};

}  // namespace octavo
