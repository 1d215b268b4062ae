#include "checkpoint/state_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

// A limit far above the partitions that an import makes; a larger file is not a STATE.
constexpr std::uint64_t kMaxStateBytes = std::uint64_t{1} << 30;

// Marks the manifests that a new file has: if one slot is empty beside the other, that is damage. Files from before
// this are not marked; their other slot is empty until the second commit.
std::vector<std::byte> EncodeMarked(Manifest manifest) {
  manifest.header.validation.reserved = 1;
  return EncodeManifest(manifest);
}

absl::StatusOr<std::uint64_t> SlotBytesOf(const File& file) {
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  if (size == 0 || size % (2 * ManifestSlotBytes(0, 0)) != 0 || size > kMaxStateBytes) {
    return CorruptError(fmt::format("{}: {} bytes; expected two slots of a multiple of {} bytes each",
                                    file.path().string(), size, ManifestSlotBytes(0, 0)));
  }
  return size / 2;
}

// Decodes a slot. One that is not valid is empty (all zeros), foreign (of another version, or in the wrong slot) or
// torn.
ManifestSlot DecodeSlot(std::span<const std::byte> bytes, std::uint64_t slot, const std::string& file_name) {
  using State = ManifestSlot::State;
  absl::StatusOr<Manifest> manifest = DecodeManifest(bytes, fmt::format("{}: slot {}", file_name, slot));
  if (!manifest.ok()) {
    // The slot is invalid: its first bytes only serve to tell why.
    const ManifestHeader blank;
    ManifestHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    const bool empty = std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
    const bool foreign = header.magic == blank.magic && !IsReadableManifest(header.version);
    return {empty ? State::kEmpty : foreign ? State::kForeign : State::kTorn, {}, manifest.status()};
  }
  if (manifest->header.generation % 2 != slot) {
    return {State::kForeign,
            {},
            CorruptError(fmt::format("{}: slot {} has generation {}; expected one of its parity", file_name, slot,
                                     manifest->header.generation))};
  }
  return {State::kValid, *std::move(manifest), absl::OkStatus()};
}

absl::StatusOr<std::array<ManifestSlot, 2>> ReadSlots(const File& file) {
  ASSIGN_OR_RETURN(const std::uint64_t slot_bytes, SlotBytesOf(file));
  std::vector<std::byte> bytes(slot_bytes);
  std::array<ManifestSlot, 2> slots;
  for (std::uint64_t slot = 0; slot < slots.size(); ++slot) {
    RETURN_IF_ERROR(file.ReadAt(slot * slot_bytes, bytes));
    slots[slot] = DecodeSlot(bytes, slot, file.path().string());
  }
  return slots;
}

// A manifest of an older version may be written in more bytes than it was read from.
bool Fits(const Manifest& manifest, std::uint64_t slot_bytes) {
  return ManifestSlotBytes(manifest.partitions.size(), manifest.lanes.size()) <= slot_bytes;
}

absl::StatusOr<Manifest> ReadNewest(const File& file) {
  ASSIGN_OR_RETURN(auto slots, ReadSlots(file));
  if (!slots[0].status.ok() && !slots[1].status.ok()) {
    return CorruptError(
        fmt::format("{}; {}; no commit can be read", MessageOf(slots[0].status), MessageOf(slots[1].status)));
  }
  // One slot is invalid, e.g. after an interrupted commit: the other one is the newest.
  if (!slots[0].status.ok()) return std::move(slots[1].manifest);
  if (!slots[1].status.ok()) return std::move(slots[0].manifest);
  const bool second = slots[1].manifest.header.generation > slots[0].manifest.header.generation;
  return std::move(slots[second ? 1 : 0].manifest);
}

}  // namespace

absl::StatusOr<std::array<ManifestSlot, 2>> ReadManifestSlots(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  return ReadSlots(file);
}

absl::StatusOr<Manifest> ReadNewestManifest(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const bool there, FileExists(path));
  if (!there) {
    const std::filesystem::path folder = path.parent_path();
    ASSIGN_OR_RETURN(const bool is_graph, FileExists(GraphPaths(folder).Description()));
    if (is_graph) {
      return UsageError(
          fmt::format("{}: is a graph, not a run; expected a run folder, as made by octavo train", folder.string()));
    }
    return UsageError(fmt::format("{}: no such file; expected a run folder, as made by octavo train", path.string()));
  }
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  return ReadNewest(file);
}

// The newer slot gets the manifest that stays, as of the generation before it: both slots of a file are valid.
absl::Status RollBack(const std::filesystem::path& path, std::uint64_t generation) {
  ASSIGN_OR_RETURN(File file, File::OpenReadWrite(path));
  ASSIGN_OR_RETURN(const std::uint64_t slot_bytes, SlotBytesOf(file));
  ASSIGN_OR_RETURN(auto slots, ReadSlots(file));
  const ManifestSlot& newer = slots[(generation + 1) % 2];
  const ManifestSlot& kept = slots[generation % 2];
  if (newer.state != ManifestSlot::State::kValid || newer.manifest.header.generation < generation) {
    return absl::OkStatus();
  }
  if (kept.state != ManifestSlot::State::kValid || kept.manifest.header.generation != generation) {
    return CorruptError(fmt::format("{}: generation {}; expected also generation {}, which the other machines have",
                                    path.string(), newer.manifest.header.generation, generation));
  }
  Manifest before = kept.manifest;
  --before.header.generation;
  RETURN_IF_ERROR(Failpoint("restart.roll_back"));
  if (!Fits(before, slot_bytes)) return StateFile::Create(path, kept.manifest).status();
  RETURN_IF_ERROR(file.WriteAt((generation + 1) % 2 * slot_bytes, EncodeManifest(before)));
  return file.Sync();
}

absl::StatusOr<StateFile> StateFile::Create(const std::filesystem::path& path, const Manifest& first) {
  const std::vector<std::byte> bytes = EncodeMarked(first);
  std::string contents(2 * bytes.size(), '\0');
  std::memcpy(contents.data() + first.header.generation % 2 * bytes.size(), bytes.data(), bytes.size());
  Manifest before = first;
  --before.header.generation;
  const std::vector<std::byte> other = EncodeMarked(before);
  std::memcpy(contents.data() + before.header.generation % 2 * bytes.size(), other.data(), other.size());
  RETURN_IF_ERROR(WriteWholeFileAtomically(path, contents));
  ASSIGN_OR_RETURN(File file, File::OpenReadWrite(path));
  return StateFile(std::move(file), bytes.size());
}

absl::StatusOr<StateFile> StateFile::Open(const std::filesystem::path& path, bool sync, Manifest& newest) {
  ASSIGN_OR_RETURN(File file, File::OpenReadWrite(path));
  ASSIGN_OR_RETURN(newest, ReadNewest(file));
  ASSIGN_OR_RETURN(const std::uint64_t slot_bytes, SlotBytesOf(file));
  if (!Fits(newest, slot_bytes)) return Create(path, newest);
  StateFile state(std::move(file), slot_bytes);
  RETURN_IF_ERROR(state.Write(newest, sync));
  return state;
}

absl::Status StateFile::Write(const Manifest& manifest, bool sync) {
  const std::vector<std::byte> bytes = EncodeManifest(manifest);
  if (bytes.size() > slot_bytes_) {
    return absl::InternalError(absl::string_view(
        fmt::format("{}: a manifest of {} bytes in a slot of {}", file_.path().string(), bytes.size(), slot_bytes_)));
  }
  RETURN_IF_ERROR(Failpoint("commit.C5"));
  RETURN_IF_ERROR(file_.WriteAt(manifest.header.generation % 2 * slot_bytes_, bytes));
  RETURN_IF_ERROR(Failpoint("commit.C6"));
  return sync ? file_.Sync() : absl::OkStatus();
}

}  // namespace octavo
