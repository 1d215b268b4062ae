// A map of a run's nodes as a file: NumPy's format 1.0, float32 [nodes, 2] in id order, after a header of 4,096 bytes,
// and FILE.octavo, which says what it is a map of (format/map_header.h).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "export/output_file.h"
#include "format/map_header.h"
#include "io/file.h"
#include "io/file_mapping.h"
#include "layout/neighbor_layout.h"

namespace octavo {

// Appends the array and returns `header` with nodes, size and checksum of the file. Does not commit.
absl::StatusOr<MapHeader> WriteMap(std::span<const MapPoint> points, MapHeader header, OutputFile& output);

// How a map relates to a commit of a run.
enum class MapMatch {
  kCurrent,  // a map of this commit
  kStale,    // of another commit of the run; the nodes are the same ones
  kForeign,  // of another run
};

// Constant after Open; any thread.
class MapFile {
 public:
  // Opens the map at `path`: reads it once, from front to back, and maps it. A missing file is a usage error. A file
  // that does not match its header, in size, shape or checksum, or that has a coordinate that is not finite, is a
  // corrupt-file error.
  static absl::StatusOr<MapFile> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  const MapHeader& header() const { return header_; }
  MapMatch Match(const std::array<std::uint64_t, 2>& run_id, std::uint64_t generation, std::uint64_t nodes) const;
  // A corrupt-file error that says what to do unless the map is current. `run` is the run's folder, for the message.
  absl::Status CheckCurrent(const std::array<std::uint64_t, 2>& run_id, std::uint64_t generation, std::uint64_t nodes,
                            std::string_view run) const;

  // The points by node id, [header().nodes]. Valid as long as this object. If the file is truncated later, accessing
  // them raises SIGBUS (io/mapped_range.h). Pages that were read stay in the page cache until ForgetPoints.
  std::span<const MapPoint> points() const;
  void ForgetPoints() const;

 private:
  MapFile(File file, FileMapping mapping, const MapHeader& header)
      : file_(std::move(file)), mapping_(std::move(mapping)), header_(header) {}

  File file_;
  FileMapping mapping_;  // after the file
  MapHeader header_;
};

}  // namespace octavo
