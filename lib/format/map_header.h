// The 128-byte file FILE.octavo beside FILE, a map of a run's nodes: a NumPy array of float32 [nodes, 2]. It says which
// run and commit FILE belongs to, how it was made and what FILE must contain. All integers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

// The numbers are in files.
enum class MapKind : std::uint32_t { kPrincipal = 0, kNeighbors = 1 };

// "pca" or "neighbors".
constexpr std::string_view MapKindName(MapKind kind) { return kind == MapKind::kPrincipal ? "pca" : "neighbors"; }

struct MapHeader {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'N', 'M', 'A', 'P'};
  std::uint32_t version = 1;
  MapKind kind = MapKind::kPrincipal;
  std::array<std::uint64_t, 2> run_id{};  // of the run's manifest
  std::uint64_t generation = 0;           // the commit whose vectors it shows
  std::uint64_t nodes = 0;
  std::uint64_t seed = 0;       // this and the next two: of kNeighbors, else 0
  std::uint32_t epochs = 0;     // steps of each node
  std::uint32_t neighbors = 0;  // of each node
  // Shares of the vectors' variance along the axes; of kPrincipal, else 0.
  std::array<double, 2> variance_shares{};
  std::uint64_t file_bytes = 0;
  std::uint64_t file_checksum = 0;  // XXH3-64 of FILE
  std::array<std::uint64_t, 3> reserved{};
  std::uint64_t header_checksum = 0;  // XXH3-64 of the bytes before this field
};
static_assert(sizeof(MapHeader) == 128);

// Returns the path of the header that belongs to the map at `path`.
std::filesystem::path MapHeaderPath(const std::filesystem::path& path);

std::array<std::byte, sizeof(MapHeader)> EncodeMapHeader(MapHeader header);

// Checks size, magic, version, checksum, kind, that there are nodes, and that the shares are from 0 to 1.
absl::StatusOr<MapHeader> DecodeMapHeader(std::span<const std::byte> bytes, std::string_view file_name);

}  // namespace octavo
