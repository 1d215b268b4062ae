// The 128-byte file FILE.octavo beside FILE, the index of a run's vectors. It says which run and commit FILE belongs to
// and what FILE must contain. FILE itself is in hnswlib's own format (index/cosine_index.h), which has no room for
// this. All integers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

struct IndexHeader {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'H', 'N', 'S', 'W'};
  std::uint32_t version = 1;
  std::uint32_t m = 0;                    // links of a node per level; twice as many at the lowest level
  std::array<std::uint64_t, 2> run_id{};  // of the run's manifest
  std::uint64_t generation = 0;           // the commit that was indexed
  std::uint64_t nodes = 0;
  std::uint64_t dim = 0;
  std::uint64_t ef_construction = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t file_checksum = 0;  // XXH3-64 of FILE
  std::array<std::uint64_t, 5> reserved{};
  std::uint64_t header_checksum = 0;  // XXH3-64 of the bytes before this field
};
static_assert(sizeof(IndexHeader) == 128);

inline constexpr std::uint32_t kMinIndexM = 2;
inline constexpr std::uint32_t kMaxIndexM = 1024;
inline constexpr std::uint64_t kMaxIndexNodes = 2'147'483'647;  // hnswlib stores some ids as int

// Returns the path of the header that belongs to the index at `path`.
std::filesystem::path IndexHeaderPath(const std::filesystem::path& path);

std::array<std::byte, sizeof(IndexHeader)> EncodeIndexHeader(IndexHeader header);

// Checks size, magic, version, checksum and the limits above.
absl::StatusOr<IndexHeader> DecodeIndexHeader(std::span<const std::byte> bytes, std::string_view file_name);

}  // namespace octavo
