#include "vectors/npy_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "tables/bfloat16.h"

namespace octavo {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{4} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<NpySource>> NpySource::Open(const std::filesystem::path& path,
                                                           const std::filesystem::path& names) {
  ASSIGN_OR_RETURN(File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  std::vector<std::byte> head(std::min<std::uint64_t>(size, kNpyHeaderBytes));
  RETURN_IF_ERROR(file.ReadAt(0, head));
  ASSIGN_OR_RETURN(const NpyLayout layout, DecodeForeignNpyHeader(head, path.string()));
  const std::uint64_t expected = layout.data_offset + layout.shape.rows * layout.shape.row_bytes();
  if (size != expected) {
    return InputError(fmt::format("{}: {} bytes; expected {} for a shape of ({}, {})", path.string(), size, expected,
                                  layout.shape.rows, layout.shape.columns));
  }
  ASSIGN_OR_RETURN(LineReader lines, LineReader::Open(names.string()));
  return std::unique_ptr<NpySource>(new NpySource(std::move(file), layout, std::move(lines)));
}

std::string NpySource::PlaceOf(std::uint64_t number) const {
  return fmt::format("{}: row {}", file_.path().string(), number);
}

absl::Status NpySource::ReadBlock() {
  const NpyShape& shape = layout_.shape;
  first_ += rows_;
  rows_ = std::min(std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, shape.row_bytes())),
                   shape.rows - first_);
  bytes_.resize(rows_ * shape.row_bytes());
  block_.resize(rows_ * shape.columns);
  const std::uint64_t offset = layout_.data_offset + first_ * shape.row_bytes();
  RETURN_IF_ERROR(file_.ReadAt(offset, bytes_));
  file_.DropBehind(offset, bytes_.size());
  if (shape.element == NpyElement::kFloat32) {
    std::memcpy(block_.data(), bytes_.data(), bytes_.size());
  } else {
    Widen({reinterpret_cast<const std::uint16_t*>(bytes_.data()), block_.size()}, block_);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<NamedVector>> NpySource::Read() {
  ASSIGN_OR_RETURN(const std::optional<std::string_view> name, names_.NextLine());
  const std::uint64_t rows = layout_.shape.rows;
  if (!name && next_ == rows) return std::nullopt;
  if (!name || next_ == rows) {
    return InputError(fmt::format("{}: found {} names than the {} rows of {}; expected one name per line and row",
                                  names_.Place(), name ? "more" : "fewer", rows, file_.path().string()));
  }
  if (next_ == first_ + rows_) RETURN_IF_ERROR(ReadBlock());
  const std::size_t at = (next_ - first_) * columns();
  ++next_;
  return NamedVector{*name, std::span<const float>(block_).subspan(at, columns())};
}

}  // namespace octavo
