#include "io/checksum.h"

#include <xxhash.h>

#include <cstring>

namespace octavo {

std::uint64_t Checksum64(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::array<std::byte, 16> Checksum128(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  std::array<std::byte, 16> digest{};
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

std::uint64_t HashName(std::string_view name, std::uint64_t seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

StreamingChecksum64::StreamingChecksum64(std::uint64_t seed) : seed_(seed), state_(XXH3_createState()) { Reset(); }

StreamingChecksum64::~StreamingChecksum64() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void StreamingChecksum64::Reset() { XXH3_64bits_reset_withSeed(static_cast<XXH3_state_t*>(state_), seed_); }

void StreamingChecksum64::Update(std::span<const std::byte> bytes) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
}

std::uint64_t StreamingChecksum64::Digest() const {
  return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_));
}

}  // namespace octavo
