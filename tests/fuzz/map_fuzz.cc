// Maps. After an 'h' come the bytes of a header; after an 'm' the number of nodes, one byte, and the bytes of a file,
// whose size and checksum are set correctly: an attacker can do that.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "format/map_header.h"
#include "io/checksum.h"
#include "layout/map_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/file_bytes.h"

namespace octavo {
namespace {

void RunHeader(std::string_view bytes) {
  const auto header = DecodeMapHeader(BytesOf(bytes), "map.octavo");
  if (!header.ok()) return CheckError(header.status(), {ErrorKind::kCorrupt});
  const auto again = EncodeMapHeader(*header);
  MUST(std::equal(again.begin(), again.end(), BytesOf(bytes).begin()));
}

// An accepted map has a finite point for every node.
void RunMap(FuzzInput input) {
  MapHeader header;
  header.nodes = 1 + input.Value<std::uint8_t>() % 64U;
  const std::string_view bytes = input.Take(std::size_t{1} << 20);
  header.file_bytes = bytes.size();
  header.file_checksum = Checksum64(BytesOf(bytes));
  const std::filesystem::path path = ScratchFolder() / "map.npy";
  const auto encoded = EncodeMapHeader(header);
  WriteFileBytes(path, std::string(bytes));
  WriteFileBytes(MapHeaderPath(path), std::string(reinterpret_cast<const char*>(encoded.data()), encoded.size()));
  const auto map = MapFile::Open(path);
  if (!map.ok()) return CheckError(map.status(), {ErrorKind::kCorrupt});
  MUST(map->points().size() == header.nodes);
  for (const MapPoint& point : map->points()) MUST(std::isfinite(point[0]) && std::isfinite(point[1]));
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 'h') octavo::RunHeader(input.Take(size));
  if (kind == 'm') octavo::RunMap(input);
  return 0;
}
