#include "tables/table_file.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

absl::StatusOr<NpyShape> CheckedShape(const File& file) {
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  std::vector<std::byte> head(std::min<std::uint64_t>(size, kNpyHeaderBytes));
  RETURN_IF_ERROR(file.ReadAt(0, head));
  ASSIGN_OR_RETURN(const NpyShape shape, DecodeNpyHeader(head, file.path().string()));
  ASSIGN_OR_RETURN(const std::uint64_t expected, NpyFileBytes(shape));
  if (size != expected) {
    return CorruptError(fmt::format("{}: {} bytes; expected {} for its shape of ({}, {})", file.path().string(), size,
                                    expected, shape.rows, shape.columns));
  }
  return shape;
}

}  // namespace

absl::StatusOr<File> CreateTableFile(const std::filesystem::path& path, const NpyShape& shape, bool sparse) {
  ASSIGN_OR_RETURN(const std::uint64_t bytes, NpyFileBytes(shape));
  ASSIGN_OR_RETURN(File file, File::Create(path));
  absl::Status status = sparse ? file.Truncate(bytes) : file.Allocate(bytes);
  if (status.ok()) status = file.WriteAt(0, EncodeNpyHeader(shape));
  if (!status.ok()) {
    // An incomplete table is useless and may take the last space of a full disk: a failed allocation can leave a part
    // of the space allocated.
    static_cast<void>(RemoveFile(path));
    return status;
  }
  return file;
}

absl::StatusOr<File> OpenTableFile(const std::filesystem::path& path, const NpyShape& shape, bool writable) {
  absl::StatusOr<File> file = writable ? File::OpenReadWrite(path) : File::OpenRead(path);
  if (!file.ok()) {
    // If a table that the manifest names is missing, the run is damaged; it is not a usage error.
    return KindOf(file.status()) == ErrorKind::kUsage ? CorruptError(MessageOf(file.status())) : file.status();
  }
  ASSIGN_OR_RETURN(const NpyShape found, CheckedShape(*file));
  if (found.element != shape.element) {
    return CorruptError(fmt::format("{}: values of {}; expected {}", path.string(), ElementName(found.element),
                                    ElementName(shape.element)));
  }
  if (found != shape) {
    return CorruptError(fmt::format("{}: shape ({}, {}); expected ({}, {})", path.string(), found.rows, found.columns,
                                    shape.rows, shape.columns));
  }
  return file;
}

absl::StatusOr<File> OpenSpareTableFile(const std::filesystem::path& path, const NpyShape& shape, bool sparse) {
  absl::StatusOr<File> file = OpenTableFile(path, shape, /*writable=*/true);
  if (file.ok() || KindOf(file.status()) != ErrorKind::kCorrupt) return file;
  return CreateTableFile(path, shape, sparse);
}

absl::StatusOr<NpyShape> ReadTableShape(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  return CheckedShape(file);
}

absl::Status ChecksumError(const File& file, std::string_view what, std::uint64_t offset, std::uint64_t found,
                           std::uint64_t expected) {
  return CorruptError(fmt::format("{}: {} (byte {} on): checksum {:016x}; expected {:016x}", file.path().string(), what,
                                  offset, found, expected));
}

}  // namespace octavo
