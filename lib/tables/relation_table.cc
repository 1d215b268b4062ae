#include "tables/relation_table.h"

#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "tables/table_file.h"

namespace octavo {

RelationTable::RelationTable(std::array<std::filesystem::path, 2> paths, const NpyShape& shape)
    : paths_(std::move(paths)), shape_(shape), values_(shape.rows * shape.columns) {}

absl::Status RelationTable::Load(int slot, std::uint64_t expected_checksum) {
  const std::filesystem::path& path = paths_[static_cast<std::size_t>(slot)];
  ASSIGN_OR_RETURN(const File file, OpenTableFile(path, shape_, /*writable=*/false));
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values_));
  RETURN_IF_ERROR(file.ReadAt(kNpyHeaderBytes, bytes));
  if (const std::uint64_t found = Checksum64(bytes); found != expected_checksum) {
    return CorruptError(fmt::format("{}: checksum {:016x}; expected {:016x}", path.string(), found, expected_checksum));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> RelationTable::Write(int slot, bool sync) {
  const std::filesystem::path& path = paths_[static_cast<std::size_t>(slot)];
  ASSIGN_OR_RETURN(File file, OpenSpareTableFile(path, shape_));
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const float>(values_));
  RETURN_IF_ERROR(file.WriteAt(kNpyHeaderBytes, bytes));
  if (sync) RETURN_IF_ERROR(file.Sync());
  RETURN_IF_ERROR(file.Close());
  return Checksum64(bytes);
}

}  // namespace octavo
