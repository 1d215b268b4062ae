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
  return Load(slot, std::span(&expected_checksum, 1));
}

absl::Status RelationTable::Load(int slot, std::span<const std::uint64_t> expected_checksums) {
  const std::filesystem::path& path = paths_[static_cast<std::size_t>(slot)];
  ASSIGN_OR_RETURN(const File file, OpenTableFile(path, shape_, /*writable=*/false));
  RETURN_IF_ERROR(file.ReadAt(kNpyHeaderBytes, std::as_writable_bytes(std::span(values_))));
  const std::vector<std::uint64_t> found = Checksums(expected_checksums.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected_checksums[i]) continue;
    return CorruptError(
        fmt::format("{}: checksum {:016x}; expected {:016x}", path.string(), found[i], expected_checksums[i]));
  }
  return absl::OkStatus();
}

std::vector<std::uint64_t> RelationTable::Checksums(std::size_t parts) const {
  std::vector<std::uint64_t> checksums;
  const std::size_t floats = values_.size() / parts;
  for (std::size_t i = 0; i < parts; ++i) {
    checksums.push_back(Checksum64(std::as_bytes(values().subspan(i * floats, floats))));
  }
  return checksums;
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
