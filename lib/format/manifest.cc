#include "format/manifest.h"

#include <xxhash.h>

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
static_assert(sizeof(ManifestHeader) == 16 + 8 * 13 + 8 * 10 + 8 * 4 + 8 * 4, "no padding: every byte is checksummed");

constexpr std::size_t kChecksumBytes = 16;
constexpr std::uint64_t kSlotQuantum = 4096;

XXH128_canonical_t ChecksumOf(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

std::uint64_t PayloadBytes(std::uint64_t partition_count) {
  return sizeof(ManifestHeader) + partition_count * sizeof(PartitionRecord);
}

}  // namespace

std::uint64_t ManifestBytes(std::uint64_t partition_count) { return PayloadBytes(partition_count) + kChecksumBytes; }

std::uint64_t ManifestSlotBytes(std::uint64_t partition_count) {
  return RoundUp(ManifestBytes(partition_count), kSlotQuantum);
}

std::vector<std::byte> EncodeManifest(const Manifest& manifest) {
  ManifestHeader header = manifest.header;
  header.partition_count = static_cast<std::uint32_t>(manifest.partitions.size());
  std::vector<std::byte> slot(ManifestSlotBytes(manifest.partitions.size()));
  std::memcpy(slot.data(), &header, sizeof(header));
  if (!manifest.partitions.empty()) {
    std::memcpy(slot.data() + sizeof(header), manifest.partitions.data(),
                manifest.partitions.size() * sizeof(PartitionRecord));
  }
  const std::uint64_t payload = PayloadBytes(manifest.partitions.size());
  const XXH128_canonical_t checksum = ChecksumOf(std::span(slot).first(payload));
  std::memcpy(slot.data() + payload, checksum.digest, kChecksumBytes);
  return slot;
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
  if (header.version != ManifestHeader().version) {
    const bool newer = header.version > ManifestHeader().version;
    return fail(
        fmt::format("manifest version {}", header.version),
        fmt::format("version {}; {} octavo wrote it", ManifestHeader().version, newer ? "a newer" : "an older"));
  }
  const std::uint64_t payload = PayloadBytes(header.partition_count);
  if (payload > slot.size() - kChecksumBytes) {
    return fail(fmt::format("{} partitions", header.partition_count),
                fmt::format("as many as fit {} bytes", slot.size()));
  }
  const XXH128_canonical_t checksum = ChecksumOf(slot.first(payload));
  if (std::memcmp(checksum.digest, slot.data() + payload, kChecksumBytes) != 0) {
    return fail(fmt::format("a torn manifest of generation {}", header.generation), "a matching checksum");
  }
  manifest.partitions.resize(header.partition_count);
  if (!manifest.partitions.empty()) {
    std::memcpy(manifest.partitions.data(), slot.data() + sizeof(header),
                manifest.partitions.size() * sizeof(PartitionRecord));
  }
  bool slots_valid = header.relation_slot <= 1;
  for (const PartitionRecord& record : manifest.partitions) slots_valid = slots_valid && record.slot <= 1;
  if (!slots_valid) return fail("a slot number above 1", "0 or 1");
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
