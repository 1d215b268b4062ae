#include "layout/scratch_table.h"

#include <cstring>
#include <utility>

#include "base/status.h"
#include "io/scratch_folder.h"

namespace octavo {

ScratchTable ScratchTable::InMemory(std::uint64_t rows, std::uint64_t width) {
  ScratchTable table(rows, width);
  table.memory_ = std::make_unique_for_overwrite<std::uint32_t[]>(rows * width);
  return table;
}

absl::StatusOr<ScratchTable> ScratchTable::InFile(const std::filesystem::path& folder, std::uint64_t rows,
                                                  std::uint64_t width) {
  ScratchTable table(rows, width);
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(folder, "octavo-map"));
  ASSIGN_OR_RETURN(table.file_, File::CreateNew(scratch.path() / "rows"));
  RETURN_IF_ERROR(RemoveFile(table.file_.path()));
  return table;
}

absl::Status ScratchTable::Write(std::uint64_t first, std::span<const std::uint32_t> words) {
  if (!in_file()) {
    std::memcpy(memory_.get() + first * width_, words.data(), words.size_bytes());
    return absl::OkStatus();
  }
  const std::uint64_t offset = first * width_ * sizeof(std::uint32_t);
  RETURN_IF_ERROR(file_.WriteAt(offset, std::as_bytes(words)));
  file_.DropCache(offset, words.size_bytes());  // starts to write them back
  return absl::OkStatus();
}

absl::Status ScratchTable::Read(std::uint64_t first, std::span<std::uint32_t> words) const {
  if (!in_file()) {
    std::memcpy(words.data(), memory_.get() + first * width_, words.size_bytes());
    return absl::OkStatus();
  }
  const std::uint64_t offset = first * width_ * sizeof(std::uint32_t);
  RETURN_IF_ERROR(file_.ReadAt(offset, std::as_writable_bytes(words)));
  file_.DropCache(offset, words.size_bytes());
  return absl::OkStatus();
}

}  // namespace octavo
