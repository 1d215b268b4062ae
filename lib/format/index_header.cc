#include "format/index_header.h"

#include <xxhash.h>

#include <cstring>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

std::uint64_t HeaderChecksum(const IndexHeader& header) {
  return XXH3_64bits(&header, offsetof(IndexHeader, header_checksum));
}

}  // namespace

std::filesystem::path IndexHeaderPath(const std::filesystem::path& path) { return path.string() + ".octavo"; }

std::array<std::byte, sizeof(IndexHeader)> EncodeIndexHeader(IndexHeader header) {
  header.header_checksum = HeaderChecksum(header);
  std::array<std::byte, sizeof(IndexHeader)> bytes{};
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

absl::StatusOr<IndexHeader> DecodeIndexHeader(std::span<const std::byte> bytes, std::string_view file_name) {
  const auto refuse = [&](std::string_view found, std::string_view expected) {
    return CorruptError(fmt::format("{}: {}; expected {}, or build the index again", file_name, found, expected));
  };
  IndexHeader header;
  const IndexHeader blank;
  if (bytes.size() != sizeof(header)) {
    return refuse(fmt::format("{} bytes", bytes.size()), fmt::format("{}", sizeof(header)));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != blank.magic) {
    return refuse(fmt::format("first bytes \"{}\"", Escape({header.magic.data(), header.magic.size()})),
                  "the header of an index, which begins with \"OCTVHNSW\"");
  }
  if (header.version != blank.version) {
    return refuse(fmt::format("version {}", header.version), fmt::format("version {}", blank.version));
  }
  if (header.header_checksum != HeaderChecksum(header)) {
    return refuse("a header whose checksum does not match", "an undamaged one");
  }
  if (header.m < kMinIndexM || header.m > kMaxIndexM || header.nodes == 0 || header.nodes > kMaxIndexNodes) {
    return refuse(fmt::format("m {} and {} nodes", header.m, header.nodes),
                  fmt::format("m from {} to {} and 1 to {} nodes", kMinIndexM, kMaxIndexM, kMaxIndexNodes));
  }
  return header;
}

}  // namespace octavo
