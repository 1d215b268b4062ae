#include "format/manifest.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

static_assert(std::endian::native == std::endian::little, "the structs are written in memory order");
static_assert(std::is_trivially_copyable_v<ManifestHeader> && std::is_trivially_copyable_v<PartitionRecord>);
static_assert(std::has_unique_object_representations_v<PartitionRecord>);
static_assert(std::has_unique_object_representations_v<LanesHeader>);
static_assert(std::is_trivially_copyable_v<LaneRecord> && sizeof(LaneRecord) == 6 * 8);
static_assert(sizeof(ManifestHeader) == 16 + 8 * 13 + 8 * 10 + 8 * 4 + 8 * 4, "no padding: every byte is checksummed");

constexpr std::size_t kChecksumBytes = 16;
constexpr std::uint64_t kSlotQuantum = 4096;
// The first fields, which version 3 has.
constexpr std::size_t kOldLaneRecordBytes = 3 * 8;

XXH128_canonical_t ChecksumOf(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

// `lanes` is 0 without lanes.
std::uint64_t PayloadBytes(std::uint64_t partition_count, std::uint64_t lanes,
                           std::size_t lane_bytes = sizeof(LaneRecord)) {
  return sizeof(ManifestHeader) + partition_count * sizeof(PartitionRecord) +
         (lanes == 0 ? 0 : sizeof(LanesHeader) + lanes * lane_bytes);
}

// Copies an object or an array of `bytes` bytes and moves on.
void Put(const void* from, std::size_t bytes, std::byte*& to) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  to += bytes;
}
void Take(const std::byte*& from, std::size_t bytes, void* to) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  from += bytes;
}

// Whether the lanes of a manifest with a matching checksum are possible.
bool AreLanesValid(const Manifest& manifest) {
  const LanesHeader& round = manifest.round;
  return round.lanes > 1 && std::has_single_bit(round.lanes) && round.open <= 1 &&
         round.round < 2 * std::uint64_t{round.lanes} - 1 && (round.folder == 0 || round.folder < round.folders);
}

}  // namespace

std::uint64_t ManifestBytes(std::uint64_t partition_count, std::uint64_t lanes) {
  return PayloadBytes(partition_count, lanes) + kChecksumBytes;
}

std::uint64_t ManifestSlotBytes(std::uint64_t partition_count, std::uint64_t lanes) {
  return RoundUp(ManifestBytes(partition_count, lanes), kSlotQuantum);
}

std::vector<std::byte> EncodeManifest(const Manifest& manifest) {
  const std::size_t partitions = manifest.partitions.size();
  const std::size_t lanes = manifest.lanes.size();
  ManifestHeader header = manifest.header;
  header.version = lanes == 0 ? kManifestVersion : kLanesManifestVersion;
  header.partition_count = static_cast<std::uint32_t>(partitions);
  std::vector<std::byte> slot(ManifestSlotBytes(partitions, lanes));
  std::byte* next = slot.data();
  Put(&header, sizeof(header), next);
  Put(manifest.partitions.data(), partitions * sizeof(PartitionRecord), next);
  if (lanes > 0) {
    LanesHeader round = manifest.round;
    round.lanes = static_cast<std::uint32_t>(lanes);
    Put(&round, sizeof(round), next);
    Put(manifest.lanes.data(), lanes * sizeof(LaneRecord), next);
  }
  const XXH128_canonical_t checksum = ChecksumOf(std::span(slot).first(PayloadBytes(partitions, lanes)));
  Put(checksum.digest, kChecksumBytes, next);
  return slot;
}

absl::Status CheckWholeRun(const Manifest& manifest, std::string_view file_name) {
  const auto elsewhere = std::ranges::count_if(
      manifest.partitions, [&](const PartitionRecord& record) { return record.folder != manifest.round.folder; });
  if (elsewhere == 0) return absl::OkStatus();
  return UsageError(
      fmt::format("{}: {} of {} partitions are in other folders of this run, which is in {}; expected "
                  "octavo resume on all of its machines, or after that the folder of rank 0",
                  file_name, elsewhere, manifest.partitions.size(), manifest.round.folders));
}

absl::StatusOr<Manifest> DecodeManifest(std::span<const std::byte> slot, std::string_view file_name) {
  const auto fail = [&](std::string_view found, std::string_view expected) {
    return CorruptError(fmt::format("{}: {}; expected {}", file_name, found, expected));
  };
  Manifest manifest;
  if (slot.size() < sizeof(ManifestHeader) + kChecksumBytes) {
    return fail(fmt::format("a manifest slot of {} bytes", slot.size()), "more");
  }
  std::memcpy(&manifest.header, slot.data(), sizeof(ManifestHeader));
  const ManifestHeader& header = manifest.header;
  if (header.magic != ManifestHeader().magic) return fail("no manifest in the slot", "magic OCTVSTAT");
  if (!IsReadableManifest(header.version)) {
    const bool newer = header.version > kLanesManifestVersion;
    return fail(fmt::format("manifest version {}", header.version),
                fmt::format("version {} to {}; {} octavo wrote it", kManifestVersion, kLanesManifestVersion,
                            newer ? "a newer" : "an older"));
  }
  const std::size_t lane_bytes = header.version == kOldLanesManifestVersion ? kOldLaneRecordBytes : sizeof(LaneRecord);
  // Not so many that a product overflows.
  const auto fits = [&](std::uint64_t lanes) {
    return lanes <= slot.size() &&
           PayloadBytes(header.partition_count, lanes, lane_bytes) <= slot.size() - kChecksumBytes;
  };
  if (!fits(0)) {
    return fail(fmt::format("{} partitions", header.partition_count),
                fmt::format("as many as fit {} bytes", slot.size()));
  }
  if (header.version != kManifestVersion) {
    if (!fits(1)) return fail("no room for lanes", fmt::format("lanes within {} bytes", slot.size()));
    std::memcpy(&manifest.round, slot.data() + PayloadBytes(header.partition_count, 0), sizeof(LanesHeader));
    if (manifest.round.lanes == 0 || !fits(manifest.round.lanes)) {
      return fail(fmt::format("{} lanes", manifest.round.lanes), fmt::format("as many as fit {} bytes", slot.size()));
    }
  }
  const std::uint64_t payload = PayloadBytes(header.partition_count, manifest.round.lanes, lane_bytes);
  const XXH128_canonical_t checksum = ChecksumOf(slot.first(payload));
  if (std::memcmp(checksum.digest, slot.data() + payload, kChecksumBytes) != 0) {
    return fail(fmt::format("a torn manifest of generation {}", header.generation), "a matching checksum");
  }
  manifest.partitions.resize(header.partition_count);
  manifest.lanes.resize(manifest.round.lanes);
  const std::byte* next = slot.data() + sizeof(header);
  Take(next, manifest.partitions.size() * sizeof(PartitionRecord), manifest.partitions.data());
  if (!manifest.lanes.empty()) {
    next += sizeof(LanesHeader);
    for (LaneRecord& lane : manifest.lanes) Take(next, lane_bytes, &lane);
    if (!AreLanesValid(manifest)) {
      return fail(fmt::format("{} lanes in round {}", manifest.round.lanes, manifest.round.round + 1),
                  "a power of two, and a round of an epoch");
    }
  }
  bool slots_valid = header.relation_slot <= 1;
  bool folders_valid = true;
  for (const PartitionRecord& record : manifest.partitions) {
    slots_valid = slots_valid && record.slot <= 1;
    folders_valid = folders_valid && (record.folder == 0 || record.folder < manifest.round.folders);
  }
  if (!slots_valid) return fail("a slot number above 1", "0 or 1");
  if (!folders_valid) return fail("rows in a folder that the run lacks", "one of its folders");
  if (header.embedding_element > 1) {
    return fail(fmt::format("embeddings of type {}", header.embedding_element), "0, float32, or 1, bf16");
  }
  const std::uint64_t rows_per = header.partition_rows;
  if (rows_per == 0 || header.rows / rows_per + (header.rows % rows_per != 0 ? 1 : 0) != header.partition_count) {
    return fail(fmt::format("{} partitions of {} rows for {} rows", header.partition_count, rows_per, header.rows),
                "partitions that cover the rows");
  }
  return manifest;
}

}  // namespace octavo
