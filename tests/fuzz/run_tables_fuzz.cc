// The binary files of a run. After an 's' come the bytes of STATE; after an 'm' a recipe for one: two manifests, and
// bytes to change in it; after an 'n' the head of a .npy file, after a 'd' only its dictionary.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/state_file.h"
#include "checkpoint/verify_state.h"
#include "format/manifest.h"
#include "format/npy_header.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/file_bytes.h"

namespace octavo {
namespace {

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Manifest TakeManifest(FuzzInput& input) {
  Manifest manifest;
  ManifestHeader& header = manifest.header;
  const auto take = [&](auto&... fields) { ((fields = input.Value<std::uint16_t>()), ...); };
  header.run_id[0] = input.Value<std::uint8_t>();
  header.generation = input.Value<std::uint64_t>();
  take(header.configuration_hash, header.rows, header.dim, header.partition_rows, header.progress.epoch);
  header.relation_slot = input.Value<std::uint8_t>();
  manifest.partitions.resize(input.Value<std::uint8_t>());
  for (PartitionRecord& record : manifest.partitions) record.slot = input.Value<std::uint8_t>() % 3;
  return manifest;
}

std::string StateOfRecipe(FuzzInput input) {
  struct Change {
    std::uint16_t place;
    std::uint8_t value;
  };
  std::vector<Change> changes(input.Value<std::uint8_t>() % 8);
  for (Change& change : changes) change = {input.Value<std::uint16_t>(), input.Value<std::uint8_t>()};
  const Manifest first = TakeManifest(input);
  const Manifest second = TakeManifest(input);
  std::string bytes = TextOf(EncodeManifest(first)) + TextOf(EncodeManifest(second));
  for (const Change& change : changes) bytes[change.place % bytes.size()] = static_cast<char>(change.value);
  return bytes;
}

// Both slots decoded by DecodeManifest.
void CheckSlots(std::string_view bytes, const std::array<ManifestSlot, 2>& slots) {
  using State = ManifestSlot::State;
  const std::size_t half = bytes.size() / 2;
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const std::string_view own = bytes.substr(slot * half, half);
    const absl::StatusOr<Manifest> manifest = DecodeManifest(BytesOf(own), "STATE");
    const ManifestSlot& found = slots[slot];
    MUST((found.state == State::kValid) == found.status.ok());
    if (!found.status.ok()) CheckError(found.status, {ErrorKind::kCorrupt});
    if (found.state == State::kEmpty) MUST(own.find_first_not_of('\0') == std::string_view::npos);
    if (!manifest.ok()) {
      CheckError(manifest.status(), {ErrorKind::kCorrupt});
      MUST(found.state != State::kValid);
      continue;
    }
    MUST(found.state == (manifest->header.generation % 2 == slot ? State::kValid : State::kForeign));
    // Decoded manifests encode to the same bytes.
    const std::string again = TextOf(EncodeManifest(*manifest));
    const std::size_t payload = ManifestBytes(manifest->partitions.size(), manifest->lanes.size());
    MUST(again.substr(0, payload) == own.substr(0, payload));
  }
}

// The newest valid manifest, by the slots.
std::optional<std::uint64_t> NewestGeneration(const std::array<ManifestSlot, 2>& slots) {
  std::optional<std::uint64_t> newest;
  for (const ManifestSlot& slot : slots) {
    if (slot.status.ok()) newest = std::max(newest.value_or(0), slot.manifest.header.generation);
  }
  return newest;
}

// REQUIRES: no slot is torn, as VerifyState would wait for it
void CheckVerify(const RunPaths& paths, const std::array<ManifestSlot, 2>& slots) {
  CheckReport report;
  const CheckedCommit commit = VerifyState(paths, {}, report);
  for (const Finding& finding : report.findings()) CheckMessage(DescribeFinding(finding));
  for (const std::string& slot : commit.slots) MUST(IsPrintable(slot));
  const std::optional<std::uint64_t> newest = NewestGeneration(slots);
  MUST(commit.manifest.has_value() == newest.has_value());
  if (newest) MUST(commit.manifest->header.generation == *newest);
  if (!newest) MUST(report.damage_count() > 0);
}

void CheckState(const std::string& bytes) {
  const RunPaths paths(ScratchFolder());
  WriteFileBytes(paths.State(), bytes);
  const absl::StatusOr<std::array<ManifestSlot, 2>> slots = ReadManifestSlots(paths.State());
  const absl::StatusOr<Manifest> newest = ReadNewestManifest(paths.State());
  if (!newest.ok()) CheckError(newest.status(), {ErrorKind::kCorrupt});
  if (!slots.ok()) {
    CheckError(slots.status(), {ErrorKind::kCorrupt});
    MUST(!newest.ok());
    return;
  }
  CheckSlots(bytes, *slots);
  const std::optional<std::uint64_t> generation = NewestGeneration(*slots);
  MUST(newest.ok() == generation.has_value());
  if (newest.ok()) MUST(newest->header.generation == *generation);

  using State = ManifestSlot::State;
  const bool torn = (*slots)[0].state == State::kTorn || (*slots)[1].state == State::kTorn;
  const bool both = (*slots)[0].status.ok() && (*slots)[1].status.ok();
  const std::uint64_t a = (*slots)[0].manifest.header.generation;
  const std::uint64_t b = (*slots)[1].manifest.header.generation;
  if (!torn && (!both || a + 1 == b || b + 1 == a)) CheckVerify(paths, *slots);

  // Opening it for writing changes no byte of a manifest.
  Manifest opened;
  const absl::StatusOr<StateFile> file = StateFile::Open(paths.State(), /*sync=*/false, opened);
  MUST(file.ok() == newest.ok());
  if (!file.ok()) return CheckError(file.status(), {ErrorKind::kCorrupt});
  const absl::StatusOr<Manifest> after = ReadNewestManifest(paths.State());
  MUST(after.ok() && EncodeManifest(*after) == EncodeManifest(*newest) &&
       EncodeManifest(opened) == EncodeManifest(*newest));
}

void CheckNpy(std::string_view bytes) {
  const absl::StatusOr<NpyShape> shape = DecodeNpyHeader(BytesOf(bytes), "embeddings.npy");
  if (!shape.ok()) return CheckError(shape.status(), {ErrorKind::kCorrupt});
  const absl::StatusOr<std::uint64_t> size = NpyFileBytes(*shape);
  MUST(size.ok() &&
       *size - kNpyHeaderBytes == shape->rows * shape->columns * (bytes.find("'<u2'") != bytes.npos ? 2 : 4));
  const auto written = EncodeNpyHeader(*shape);
  const absl::StatusOr<NpyShape> again = DecodeNpyHeader(written, "embeddings.npy");
  MUST(again.ok() && *again == *shape);
}

void CheckNpyDictionary(std::string_view dictionary) {
  std::string bytes("\x93NUMPY\x01\x00\xF6\x0F", 10);
  bytes += dictionary;
  bytes.resize(kNpyHeaderBytes, ' ');
  CheckNpy(bytes);
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 's') octavo::CheckState(std::string(input.rest()));
  if (kind == 'm') octavo::CheckState(octavo::StateOfRecipe(input));
  if (kind == 'n') octavo::CheckNpy(input.rest());
  if (kind == 'd') octavo::CheckNpyDictionary(input.rest());
  return 0;
}
