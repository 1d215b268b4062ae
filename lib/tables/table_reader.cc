#include "tables/table_reader.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "tables/bfloat16.h"
#include "tables/table_file.h"

namespace octavo {

absl::StatusOr<TableReader> TableReader::Open(const std::array<std::filesystem::path, 2>& slots, const NpyShape& shape,
                                              std::uint64_t partition_rows,
                                              std::vector<std::uint8_t> slot_of_partition) {
  const std::uint64_t partitions =
      partition_rows == 0 ? 0 : shape.rows / partition_rows + (shape.rows % partition_rows != 0 ? 1 : 0);
  if (partition_rows == 0 || slot_of_partition.size() != partitions) {
    return CorruptError(fmt::format("{}: {} partitions of {} rows are recorded for {} rows; expected {}",
                                    slots[0].string(), slot_of_partition.size(), partition_rows, shape.rows,
                                    partitions));
  }
  if (const auto odd = std::ranges::find_if(slot_of_partition, [](std::uint8_t slot) { return slot > 1; });
      odd != slot_of_partition.end()) {
    return CorruptError(fmt::format("{}: slot {} is recorded; expected 0 or 1", slots[0].string(), *odd));
  }
  std::array<File, 2> files;
  for (std::uint8_t slot = 0; slot < 2; ++slot) {
    if (std::find(slot_of_partition.begin(), slot_of_partition.end(), slot) == slot_of_partition.end()) continue;
    absl::StatusOr<File> file = OpenTableFile(slots[slot], shape, /*writable=*/false);
    if (!file.ok()) return file.status();
    files[slot] = *std::move(file);
  }
  return TableReader(std::move(files), shape, partition_rows, std::move(slot_of_partition));
}

TableReader::TableReader(std::array<File, 2> files, const NpyShape& shape, std::uint64_t partition_rows,
                         std::vector<std::uint8_t> slot_of_partition)
    : files_(std::move(files)),
      shape_(shape),
      partition_rows_(partition_rows),
      slot_of_partition_(std::move(slot_of_partition)) {}

void TableReader::Map() {
  for (std::size_t slot = 0; slot < files_.size(); ++slot) {
    if (!files_[slot].is_open() || mappings_[slot].is_open()) continue;
    if (absl::StatusOr<FileMapping> mapping = FileMapping::Open(files_[slot]); mapping.ok()) {
      mappings_[slot] = *std::move(mapping);
    }
  }
}

absl::Status TableReader::CheckRows(std::uint64_t first, std::uint64_t rows) const {
  if (first <= shape_.rows && rows <= shape_.rows - first) return absl::OkStatus();
  return absl::OutOfRangeError(absl::string_view(fmt::format("rows {} and {} more of {}", first, rows, shape_.rows)));
}

std::span<const std::byte> TableReader::MappedRows(std::uint64_t partition, std::uint64_t first,
                                                   std::uint64_t rows) const {
  // For a few pages no advice is given: it would take longer than reading them on access.
  constexpr std::uint64_t kWorthAsking = 16 * 1024;
  const FileMapping& mapping = mappings_[slot_of_partition_[partition]];
  if (!mapping.is_open()) return {};
  const std::uint64_t begin = RowOffset(shape_, first);
  const std::uint64_t bytes = rows * shape_.row_bytes();
  if (bytes >= kWorthAsking) mapping.WillRead(begin, begin + bytes);
  return mapping.bytes().subspan(begin, bytes);
}

absl::Status TableReader::ReadRows(std::uint64_t first, std::span<float> out) const {
  if (shape_.columns == 0) return absl::OkStatus();
  std::uint64_t rows = out.size() / shape_.columns;
  RETURN_IF_ERROR(CheckRows(first, rows));
  while (rows > 0) {
    const std::uint64_t partition = first / partition_rows_;
    const std::uint64_t run = std::min(rows, (partition + 1) * partition_rows_ - first);
    const std::span<float> part = out.first(run * shape_.columns);
    // Words are read into the last half of the floats' memory.
    const std::span<std::byte> place = std::as_writable_bytes(part).last(run * shape_.row_bytes());
    std::span<const std::byte> bytes = MappedRows(partition, first, run);
    const bool mapped = !bytes.empty();
    if (!mapped) {
      RETURN_IF_ERROR(files_[slot_of_partition_[partition]].ReadAt(RowOffset(shape_, first), place));
      bytes = place;
    }
    if (shape_.element == NpyElement::kBfloat16) {
      Widen({reinterpret_cast<const std::uint16_t*>(bytes.data()), part.size()}, part);
    } else if (mapped) {
      std::ranges::copy(bytes, place.begin());
    }
    out = out.subspan(part.size());
    first += run;
    rows -= run;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const float>> TableReader::Rows(std::uint64_t first, std::uint64_t rows,
                                                         std::vector<float>& buffer) const {
  RETURN_IF_ERROR(CheckRows(first, rows));
  if (rows > 0 && shape_.element == NpyElement::kFloat32) {
    const auto slots =
        std::span(slot_of_partition_)
            .subspan(first / partition_rows_, (first + rows - 1) / partition_rows_ - first / partition_rows_ + 1);
    const bool one_file = std::ranges::all_of(slots, [&](std::uint8_t slot) { return slot == slots.front(); });
    const auto mapped = one_file ? MappedRows(first / partition_rows_, first, rows) : std::span<const std::byte>();
    if (!mapped.empty()) return std::span(reinterpret_cast<const float*>(mapped.data()), rows * shape_.columns);
  }
  buffer.resize(rows * shape_.columns);
  RETURN_IF_ERROR(ReadRows(first, buffer));
  return buffer;
}

absl::Status TableReader::CompareChecksum(std::uint64_t partition, std::uint64_t found) const {
  const std::uint64_t wanted = expected_.checksums[partition];
  if (found == wanted || (expected_.is_current && !expected_.is_current(partition))) return absl::OkStatus();
  return ChecksumError(files_[slot_of_partition_[partition]], fmt::format("partition {}", partition),
                       RowOffset(shape_, partition * partition_rows_), found, wanted);
}

void TableReader::DropBehind() {
  drop_behind_ = true;
  mappings_ = {};  // mapped pages would stay in the page cache
  for (const File& file : files_) {
    if (file.is_open()) file.ReadNoFurther();
  }
}

void TableReader::Forget(std::uint64_t first, std::uint64_t rows) const {
  if (!drop_behind_) return;
  const std::uint64_t begin = RowOffset(shape_, first);
  const std::uint64_t bytes = RowOffset(shape_, first + rows) - begin;
  for (const File& file : files_) {
    if (file.is_open()) file.DropBehind(begin, bytes);
  }
}

}  // namespace octavo
