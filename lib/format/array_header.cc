#include "format/array_header.h"

#include <xxhash.h>

#include <cstring>

#include "base/checked_math.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

std::uint64_t HeaderChecksum(const ArrayHeader& header) {
  return XXH3_64bits(&header, offsetof(ArrayHeader, header_checksum));
}

}  // namespace

std::array<std::byte, sizeof(ArrayHeader)> EncodeArrayHeader(ArrayHeader header) {
  header.header_checksum = HeaderChecksum(header);
  std::array<std::byte, sizeof(ArrayHeader)> bytes{};
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

absl::StatusOr<ArrayHeader> DecodeArrayHeader(std::span<const std::byte> bytes, ArrayKind kind,
                                              std::uint64_t file_bytes, std::string_view file_name) {
  const auto refuse = [&](std::string_view found, std::string_view expected) {
    return CorruptError(fmt::format("{}: {}; expected {}", file_name, found, expected));
  };
  if (bytes.size() < sizeof(ArrayHeader)) {
    return refuse(fmt::format("{} bytes", bytes.size()),
                  fmt::format("at least the {} bytes of a header", sizeof(ArrayHeader)));
  }
  ArrayHeader header;
  const ArrayHeader blank;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != blank.magic) {
    return refuse(fmt::format("first bytes \"{}\"", Escape({header.magic.data(), header.magic.size()})),
                  "an array, which begins with \"OCTVARRY\"");
  }
  if (header.version != blank.version) {
    return refuse(fmt::format("version {}", header.version),
                  fmt::format("version {}; import the graph again", blank.version));
  }
  if (header.header_checksum != HeaderChecksum(header)) {
    return refuse("a header whose checksum does not match", "an undamaged one; import the graph again");
  }
  if (header.kind != kind) {
    return refuse(fmt::format("an array of kind {}", static_cast<std::uint32_t>(header.kind)),
                  fmt::format("kind {}", static_cast<std::uint32_t>(kind)));
  }
  const auto data = CheckedMultiply(header.count, sizeof(std::uint64_t));
  const auto total = data ? CheckedAdd(*data, sizeof(ArrayHeader)) : std::nullopt;
  if (!total || *total != file_bytes) {
    return refuse(fmt::format("{} bytes", file_bytes),
                  fmt::format("the bytes of {} numbers; was it cut?", header.count));
  }
  return header;
}

}  // namespace octavo
