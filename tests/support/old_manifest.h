// A manifest as version 3 had it, from its description: LaneRecord without sums.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "format/manifest.h"

namespace octavo {

// The bytes of a slot of version 3; what lanes have in sums is left out.
inline std::vector<std::byte> EncodeManifestOfVersion3(const Manifest& manifest) {
  std::vector<std::byte> bytes;
  const auto put = [&](const auto& value) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
  };
  ManifestHeader header = manifest.header;
  header.version = 3;
  header.partition_count = static_cast<std::uint32_t>(manifest.partitions.size());
  put(header);
  for (const PartitionRecord& record : manifest.partitions) {
    put(std::uint64_t{record.slot});
    put(record.generation);
    put(record.embedding_checksum);
    put(record.state_checksum);
  }
  put(std::uint64_t{manifest.lanes.size()});
  put(std::uint64_t{manifest.round.open});
  put(manifest.round.round);
  for (const LaneRecord& lane : manifest.lanes) {
    put(lane.batches);
    put(lane.relation_checksum);
    put(lane.relation_state_checksum);
  }
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(bytes.data(), bytes.size()));
  put(checksum);
  bytes.resize((bytes.size() + 4095) / 4096 * 4096);
  return bytes;
}

}  // namespace octavo
