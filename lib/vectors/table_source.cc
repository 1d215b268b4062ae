#include "vectors/table_source.h"

#include <algorithm>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

std::string TableSource::PlaceOf(std::uint64_t number) const { return fmt::format("{}: row {}", file_, number); }

absl::Status TableSource::ReadBlock() {
  names_.Forget(first_, rows_);
  first_ += rows_;
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, columns() * sizeof(float));
  rows_ = std::min(std::max<std::uint64_t>(1, kBlockBytes / row_bytes), table_.rows() - first_);
  block_.resize(rows_ * columns());
  names_.WillRead(first_, rows_);
  RETURN_IF_ERROR(table_.ReadRows(first_, block_));
  table_.Forget(first_, rows_);
  return checks_.Add(first_, block_);
}

absl::StatusOr<std::optional<NamedVector>> TableSource::Read() {
  if (next_ == first_ + rows_) {
    if (next_ == table_.rows()) return std::nullopt;
    RETURN_IF_ERROR(ReadBlock());
  }
  const NamedVector vector = {names_.Name(NodeId{next_}),
                              std::span<const float>(block_).subspan((next_ - first_) * columns(), columns())};
  RETURN_IF_ERROR(names_.status());
  ++next_;
  return vector;
}

}  // namespace octavo
