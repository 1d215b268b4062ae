#include "io/piece_reader.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

absl::StatusOr<PieceReader> PieceReader::Open(const std::filesystem::path& path, const PieceOptions& options) {
  ASSIGN_OR_RETURN(File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  if (options.deep) {
    file.DropCache(0, 0);  // the kernel takes 0 as "to the end"
    file.UseDirect();
  }
  return PieceReader(std::move(file), size, options);
}

PieceReader::PieceReader(File file, std::uint64_t size, const PieceOptions& options)
    : file_(std::move(file)),
      size_(size),
      options_(options),
      capacity_(RoundUp(options.piece_bytes, kPageBytes) + 2 * kPageBytes),
      buffer_(static_cast<std::byte*>(::operator new[](capacity_, kAlignment))) {}

absl::StatusOr<std::span<const std::byte>> PieceReader::Bytes(std::uint64_t begin, std::uint64_t end) {
  if (begin < buffer_begin_ || end > buffer_end_) {
    if (end > size_) {
      return CorruptError(fmt::format("{}: ends at byte {}; expected at least {} bytes", path().string(), size_, end));
    }
    // Both ends on page boundaries, as direct reads require.
    buffer_begin_ = begin / kPageBytes * kPageBytes;
    buffer_end_ = std::min(buffer_begin_ + capacity_, size_);
    const std::span<std::byte> bytes(buffer_.get(), buffer_end_ - buffer_begin_);
    absl::Status status = file_.ReadAt(buffer_begin_, bytes);
    if (options_.deep || options_.drop_behind) file_.DropBehind(buffer_begin_, bytes.size());
    if (!status.ok()) {
      buffer_end_ = buffer_begin_ = 0;
      return status;
    }
  }
  return std::span<const std::byte>(buffer_.get() + (begin - buffer_begin_), end - begin);
}

absl::Status PieceReader::Read(std::uint64_t begin, std::uint64_t end,
                               const std::function<absl::Status(std::span<const std::byte>)>& visit) {
  for (std::uint64_t at = begin; at < end;) {
    // A piece that starts within a page is shorter, so that the next one starts on a page boundary.
    const std::uint64_t stop = std::min((at + options_.piece_bytes) / kPageBytes * kPageBytes, end);
    ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, Bytes(at, stop));
    RETURN_IF_ERROR(visit(bytes));
    at = stop;
  }
  return absl::OkStatus();
}

}  // namespace octavo
