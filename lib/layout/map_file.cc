#include "layout/map_file.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"
#include "format/npy_header.h"
#include "io/checksum.h"

namespace octavo {
namespace {

constexpr std::size_t kPiecePoints = 1 << 17;  // a mebibyte, read or written at a time

// Reads the header of the array and compares its shape with what a map must have.
absl::Status CheckShape(const File& file, const MapHeader& header, StreamingChecksum64& checksum) {
  const std::string name = file.path().string();
  ASSIGN_OR_RETURN(const std::uint64_t bytes, file.Size());
  if (bytes != header.file_bytes) {
    return CorruptError(
        fmt::format("{}: {} bytes; expected {} by its header; make the map again", name, bytes, header.file_bytes));
  }
  std::array<std::byte, kNpyHeaderBytes> head{};
  RETURN_IF_ERROR(file.ReadAt(0, std::span(head).first(std::min<std::uint64_t>(bytes, head.size()))));
  checksum.Update(head);
  ASSIGN_OR_RETURN(const NpyShape shape,
                   DecodeNpyHeader(std::span(head).first(std::min<std::uint64_t>(bytes, head.size())), name));
  const NpyShape expected = {.rows = header.nodes, .columns = 2};
  ASSIGN_OR_RETURN(const std::uint64_t expected_bytes, NpyFileBytes(shape));
  if (shape == expected && bytes == expected_bytes) return absl::OkStatus();
  return CorruptError(fmt::format("{}: {} bytes, {} [{}, {}]; expected float32 [{}, 2]; make the map again", name,
                                  bytes, ElementName(shape.element), shape.rows, shape.columns, header.nodes));
}

}  // namespace

absl::StatusOr<MapHeader> WriteMap(std::span<const MapPoint> points, MapHeader header, OutputFile& output) {
  const auto head = EncodeNpyHeader({.rows = points.size(), .columns = 2});
  StreamingChecksum64 checksum;
  checksum.Update(head);
  RETURN_IF_ERROR(output.Append(std::span<const std::byte>(head)));
  for (std::size_t first = 0; first < points.size(); first += kPiecePoints) {
    const auto bytes = std::as_bytes(points.subspan(first, std::min(kPiecePoints, points.size() - first)));
    checksum.Update(bytes);
    RETURN_IF_ERROR(output.Append(bytes));
  }
  header.nodes = points.size();
  header.file_bytes = head.size() + points.size_bytes();
  header.file_checksum = checksum.Digest();
  return header;
}

absl::StatusOr<MapFile> MapFile::Open(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(File file, File::OpenRead(path));
  const std::filesystem::path header_path = MapHeaderPath(path);
  ASSIGN_OR_RETURN(const std::string header_bytes, ReadWholeFile(header_path, sizeof(MapHeader)));
  ASSIGN_OR_RETURN(const MapHeader header,
                   DecodeMapHeader(std::as_bytes(std::span<const char>(header_bytes)), header_path.string()));
  StreamingChecksum64 checksum;
  RETURN_IF_ERROR(CheckShape(file, header, checksum));
  std::vector<MapPoint> piece;
  std::uint64_t infinite = header.nodes;  // the first node whose point is not finite
  for (std::uint64_t first = 0; first < header.nodes; first += kPiecePoints) {
    piece.resize(std::min<std::uint64_t>(kPiecePoints, header.nodes - first));
    const auto bytes = std::as_writable_bytes(std::span<MapPoint>(piece));
    const std::uint64_t offset = kNpyHeaderBytes + first * sizeof(MapPoint);
    RETURN_IF_ERROR(file.ReadAt(offset, bytes));
    file.DropBehind(offset, bytes.size());
    checksum.Update(bytes);
    const auto found = std::ranges::find_if(
        piece, [](const MapPoint& point) { return !std::isfinite(point[0]) || !std::isfinite(point[1]); });
    if (found != piece.end()) infinite = std::min(infinite, first + static_cast<std::uint64_t>(found - piece.begin()));
  }
  if (checksum.Digest() != header.file_checksum) {
    return CorruptError(fmt::format("{}: checksum {:016x}; expected {:016x} by its header; make the map again",
                                    path.string(), checksum.Digest(), header.file_checksum));
  }
  if (infinite < header.nodes) {
    return CorruptError(fmt::format("{}: byte {}: the point of node {} is not finite; make the map again",
                                    path.string(), kNpyHeaderBytes + infinite * sizeof(MapPoint), infinite));
  }
  ASSIGN_OR_RETURN(FileMapping mapping, FileMapping::Open(file));
  return MapFile(std::move(file), std::move(mapping), header);
}

MapMatch MapFile::Match(const std::array<std::uint64_t, 2>& run_id, std::uint64_t generation,
                        std::uint64_t nodes) const {
  if (header_.run_id != run_id || header_.nodes != nodes) return MapMatch::kForeign;
  return header_.generation == generation ? MapMatch::kCurrent : MapMatch::kStale;
}

absl::Status MapFile::CheckCurrent(const std::array<std::uint64_t, 2>& run_id, std::uint64_t generation,
                                   std::uint64_t nodes, std::string_view run) const {
  switch (Match(run_id, generation, nodes)) {
    case MapMatch::kForeign:
      return CorruptError(fmt::format("{}: is not a map of run {}; make one with octavo map", path().string(), run));
    case MapMatch::kStale:
      return CorruptError(fmt::format("{}: is of generation {} of the run; {} has generation {}; make the map again",
                                      path().string(), header_.generation, run, generation));
    case MapMatch::kCurrent:
      break;
  }
  return absl::OkStatus();
}

std::span<const MapPoint> MapFile::points() const {
  const std::span<const std::byte> bytes = mapping_.bytes().subspan(kNpyHeaderBytes);
  return {reinterpret_cast<const MapPoint*>(bytes.data()), header_.nodes};
}

void MapFile::ForgetPoints() const {
  mapping_.LetGo(0, header_.file_bytes);
  file_.DropCache(0, header_.file_bytes);
}

}  // namespace octavo
