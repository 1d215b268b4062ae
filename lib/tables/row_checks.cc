#include "tables/row_checks.h"

#include <algorithm>
#include <array>

#include "base/status.h"
#include "tables/bfloat16.h"

namespace octavo {

void RowChecks::Update(std::span<const float> rows) {
  if (table_.element() == NpyElement::kFloat32) return checksum_.Update(std::as_bytes(rows));
  std::array<std::uint16_t, 4096> buffer;
  while (!rows.empty()) {
    const std::span<const float> part = rows.first(std::min(rows.size(), buffer.size()));
    const std::span<std::uint16_t> words = std::span(buffer).first(part.size());
    TakeWords(part, words);
    checksum_.Update(std::as_bytes(words));
    rows = rows.subspan(part.size());
  }
}

absl::Status RowChecks::Add(std::uint64_t first, std::span<const float> rows) {
  const std::uint64_t columns = table_.columns();
  if (columns == 0 || !table_.has_checksums()) return absl::OkStatus();
  const std::uint64_t partition_rows = table_.partition_rows();
  for (const std::uint64_t end = first + rows.size() / columns; first < end;) {
    const std::uint64_t partition = first / partition_rows;
    const std::uint64_t last = std::min((partition + 1) * partition_rows, table_.rows());
    const std::uint64_t stop = std::min(end, last);
    const std::span<const float> part = rows.first((stop - first) * columns);
    const bool begins = first == partition * partition_rows;
    if (begins) {
      checksum_.Reset();
      begin_ = first;
      next_ = first;
    }
    if (next_ == first && begin_ == partition * partition_rows) {
      Update(part);
      next_ = stop;
      if (stop == last) RETURN_IF_ERROR(table_.CompareChecksum(partition, checksum_.Digest()));
    }
    rows = rows.subspan(part.size());
    first = stop;
  }
  return absl::OkStatus();
}

}  // namespace octavo
