#include "checkpoint/verify_state.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"
#include "io/file.h"

namespace octavo {
namespace {

using State = ManifestSlot::State;

constexpr int kSlotTries = 6;
constexpr std::chrono::milliseconds kSlotPause{1};  // the first pause; each one is twice the previous

// Whether no commit can have happened between reading the two slots: neither is torn, and one follows the other.
bool IsSettled(const std::array<ManifestSlot, 2>& slots) {
  if (slots[0].state == State::kTorn || slots[1].state == State::kTorn) return false;
  if (slots[0].state != State::kValid || slots[1].state != State::kValid) return true;
  const std::uint64_t a = slots[0].manifest.header.generation;
  const std::uint64_t b = slots[1].manifest.header.generation;
  return a + 1 == b || b + 1 == a;
}

// Whether `other` is empty because it was never written: in a file from before STATE was made with both slots, the
// second commit was the first to write the other one.
bool IsUnwritten(const ManifestSlot& other, const Manifest& newest) {
  const ManifestHeader& header = newest.header;
  return other.state == State::kEmpty && header.generation == 1 && header.validation.reserved == 0;
}

// Checks STATE: its slots, the bytes after their manifests, and whether one generation follows the other.
class StateCheck {
 public:
  StateCheck(const RunPaths& paths, const CommitCheckOptions& options, CheckReport& report)
      : path_(paths.State()), options_(options), report_(report) {}

  CheckedCommit Run() {
    if (options_.reading.deep) DropFromCache();
    const absl::StatusOr<std::array<ManifestSlot, 2>> slots = ReadSettledSlots(path_);
    CheckedCommit commit;
    if (!slots.ok()) {
      report_.Fault(path_, "", slots.status());
      return commit;
    }
    std::optional<int> newest;
    for (const int slot : {0, 1}) {
      const ManifestSlot& found = (*slots)[static_cast<std::size_t>(slot)];
      commit.slots[static_cast<std::size_t>(slot)] = Describe(found);
      if (found.state != State::kValid) continue;
      if (!newest || found.manifest.header.generation > At(*slots, *newest).manifest.header.generation) newest = slot;
    }
    if (newest) commit.manifest = At(*slots, *newest).manifest;
    if (newest) {
      CheckOther(*slots, *newest, commit);
      CheckBytes(*commit.manifest, *slots);
    } else {
      for (const int slot : {0, 1}) report_.Fault(path_, "", At(*slots, slot).status);
    }
    // The slot may be rewritten only if nothing else is wrong with STATE.
    if (report_.FindingsOf(path_.string()) > 1) commit.torn_slot.reset();
    report_.Checked(path_, bytes_, fmt::format("slot 0: {}, slot 1: {}", commit.slots[0], commit.slots[1]));
    return commit;
  }

 private:
  static const ManifestSlot& At(const std::array<ManifestSlot, 2>& slots, int slot) {
    return slots[static_cast<std::size_t>(slot)];
  }

  static std::string Describe(const ManifestSlot& slot) {
    switch (slot.state) {
      case State::kValid:
        return fmt::format("generation {}", slot.manifest.header.generation);
      case State::kEmpty:
        return "empty";
      case State::kTorn:
        return "torn";
      case State::kForeign:
        return "foreign";
    }
    return "";
  }

  void DropFromCache() const {
    if (const absl::StatusOr<File> file = File::OpenRead(path_); file.ok()) file->DropCache(0, 0);
  }

  // Checks the slot that does not hold the newest manifest.
  void CheckOther(const std::array<ManifestSlot, 2>& slots, int newest, CheckedCommit& commit) {
    const ManifestSlot& other = At(slots, 1 - newest);
    const std::uint64_t generation = commit.manifest->header.generation;
    const std::string place = fmt::format("slot {}", 1 - newest);
    if (IsUnwritten(other, *commit.manifest)) return;
    if (other.state == State::kEmpty || other.state == State::kTorn) {
      commit.torn_slot = 1 - newest;
      report_.Damage(path_, place,
                     other.state == State::kEmpty ? "no manifest" : "a torn manifest: an interrupted commit, or damage",
                     fmt::format("generation {} or {}; the run is at generation {}, and resume or --repair rewrites "
                                 "the slot",
                                 generation - 1, generation + 1, generation));
      return;
    }
    if (other.state == State::kForeign) {
      report_.Fault(path_, "", other.status);  // the status names the slot
    } else if (!IsSameRun(other.manifest.header, commit.manifest->header)) {
      report_.Damage(path_, place, "a manifest of another run", fmt::format("that of slot {}", newest));
    } else if (other.manifest.header.generation + 1 != generation) {
      report_.Damage(path_, place, fmt::format("generation {}", other.manifest.header.generation),
                     fmt::format("{}", generation - 1));
    }
  }

  // Checks that each slot holds its manifest and then zeros, and that the file consists of both slots.
  void CheckBytes(const Manifest& manifest, const std::array<ManifestSlot, 2>& slots) {
    const std::uint64_t slot_bytes = ManifestSlotBytes(manifest.partitions.size(), manifest.lanes.size());
    const auto check = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const File file, File::OpenRead(path_));
      ASSIGN_OR_RETURN(bytes_, file.Size());
      if (bytes_ != 2 * slot_bytes) {
        return CorruptError(
            fmt::format("{} bytes; expected {} for {} partitions", bytes_, 2 * slot_bytes, manifest.partitions.size()));
      }
      for (const int slot : {0, 1}) {
        if (At(slots, slot).state != State::kValid) continue;
        std::vector<std::byte> found(slot_bytes);
        RETURN_IF_ERROR(file.ReadAt(static_cast<std::uint64_t>(slot) * slot_bytes, found));
        // A newer manifest may have been written by now; the bytes after it are still zeros.
        const std::size_t payload = ManifestBytes(manifest.partitions.size(), manifest.lanes.size());
        const auto differs = std::ranges::find_if(found.begin() + static_cast<std::ptrdiff_t>(payload), found.end(),
                                                  [](std::byte b) { return b != std::byte{0}; });
        if (differs != found.end()) {
          report_.Damage(path_, fmt::format("slot {}, byte {}", slot, differs - found.begin()),
                         "a byte that is not 0 after the manifest", fmt::format("zeros up to byte {}", slot_bytes));
        }
      }
      return absl::OkStatus();
    };
    if (const absl::Status status = check(); !status.ok()) report_.Fault(path_, "", status);
  }

  const std::filesystem::path path_;
  const CommitCheckOptions& options_;
  CheckReport& report_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

bool IsSameRun(const ManifestHeader& a, const ManifestHeader& b) {
  return a.run_id == b.run_id && a.configuration_hash == b.configuration_hash &&
         a.graph_fingerprint == b.graph_fingerprint && a.rows == b.rows && a.dim == b.dim &&
         a.state_width == b.state_width && a.relation_rows == b.relation_rows && a.relation_width == b.relation_width &&
         a.relation_state_width == b.relation_state_width && a.partition_rows == b.partition_rows && a.seed == b.seed &&
         a.embedding_element == b.embedding_element;
}

absl::StatusOr<std::array<ManifestSlot, 2>> ReadSettledSlots(const std::filesystem::path& path) {
  for (int tries = 1;; ++tries) {
    absl::StatusOr<std::array<ManifestSlot, 2>> slots = ReadManifestSlots(path);
    if (!slots.ok() || IsSettled(*slots) || tries == kSlotTries) return slots;
    std::this_thread::sleep_for(kSlotPause * (1 << (tries - 1)));
  }
}

std::string DescribeFallback(const std::filesystem::path& path) {
  const absl::StatusOr<std::array<ManifestSlot, 2>> slots = ReadSettledSlots(path);
  if (!slots.ok()) return "";
  for (const std::size_t slot : {0U, 1U}) {
    const ManifestSlot& invalid = (*slots)[slot];
    const ManifestSlot& used = (*slots)[1 - slot];
    if (invalid.state == State::kValid || used.state != State::kValid || IsUnwritten(invalid, used.manifest)) continue;
    return fmt::format("{}; generation {}, in the other slot, is used, which may be the commit before the last",
                       MessageOf(invalid.status), used.manifest.header.generation);
  }
  return "";
}

CheckedCommit VerifyState(const RunPaths& paths, const CommitCheckOptions& options, CheckReport& report) {
  return StateCheck(paths, options, report).Run();
}

}  // namespace octavo
