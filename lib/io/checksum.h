// XXH3 checksums (xxHash 0.8): 64 bits for blocks and partitions, 128 for manifests, and the 64-bit hash of names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace octavo {

std::uint64_t Checksum64(std::span<const std::byte> bytes);
// In the canonical (big-endian) byte order of xxHash.
std::array<std::byte, 16> Checksum128(std::span<const std::byte> bytes);

// The hash that orders nodes: a node's id is the rank of its name's hash. Part of the graph format
// (XXH3_64bits_withSeed).
std::uint64_t HashName(std::string_view name, std::uint64_t seed);

// Checksum64 of a sequence of pieces; with a seed, HashName.
class StreamingChecksum64 {
 public:
  explicit StreamingChecksum64(std::uint64_t seed = 0);
  ~StreamingChecksum64();
  StreamingChecksum64(const StreamingChecksum64&) = delete;
  StreamingChecksum64& operator=(const StreamingChecksum64&) = delete;

  void Update(std::span<const std::byte> bytes);
  void Reset();
  std::uint64_t Digest() const;

 private:
  const std::uint64_t seed_;
  void* state_;  // XXH3_state_t, kept out of this header
};

}  // namespace octavo
