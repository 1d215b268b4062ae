#include "format/map_header.h"

#include <xxhash.h>

#include <cstring>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

std::uint64_t HeaderChecksum(const MapHeader& header) {
  return XXH3_64bits(&header, offsetof(MapHeader, header_checksum));
}

bool IsShare(double share) { return share >= 0 && share <= 1; }

}  // namespace

std::filesystem::path MapHeaderPath(const std::filesystem::path& path) { return path.string() + ".octavo"; }

std::array<std::byte, sizeof(MapHeader)> EncodeMapHeader(MapHeader header) {
  header.header_checksum = HeaderChecksum(header);
  std::array<std::byte, sizeof(MapHeader)> bytes{};
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

absl::StatusOr<MapHeader> DecodeMapHeader(std::span<const std::byte> bytes, std::string_view file_name) {
  const auto refuse = [&](std::string_view found, std::string_view expected) {
    return CorruptError(fmt::format("{}: {}; expected {}, or make the map again", file_name, found, expected));
  };
  MapHeader header;
  const MapHeader blank;
  if (bytes.size() != sizeof(header)) {
    return refuse(fmt::format("{} bytes", bytes.size()), fmt::format("{}", sizeof(header)));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != blank.magic) {
    return refuse(fmt::format("first bytes \"{}\"", Escape({header.magic.data(), header.magic.size()})),
                  "the header of a map, which begins with \"OCTVNMAP\"");
  }
  if (header.version != blank.version) {
    return refuse(fmt::format("version {}", header.version), fmt::format("version {}", blank.version));
  }
  if (header.header_checksum != HeaderChecksum(header)) {
    return refuse("a header whose checksum does not match", "an undamaged one");
  }
  if (header.kind != MapKind::kPrincipal && header.kind != MapKind::kNeighbors) {
    return refuse(fmt::format("kind {}", static_cast<std::uint32_t>(header.kind)), "0 or 1");
  }
  if (header.nodes == 0) return refuse("0 nodes", "at least 1");
  if (!IsShare(header.variance_shares[0]) || !IsShare(header.variance_shares[1])) {
    return refuse(fmt::format("shares {} and {} of the variance", header.variance_shares[0], header.variance_shares[1]),
                  "numbers from 0 to 1");
  }
  return header;
}

}  // namespace octavo
