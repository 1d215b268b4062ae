#include "import/array_writer.h"

#include "base/status.h"

namespace octavo {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBufferValues = std::size_t{64} << 10;

}  // namespace

absl::Status AppendedFile::Append(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() >= kBufferBytes ? Flush() : absl::OkStatus();
}

absl::Status AppendedFile::Flush() {
  RETURN_IF_ERROR(file_.WriteAt(end_, buffer_));
  end_ += buffer_.size();
  buffer_.clear();
  return behind_.Advance(file_, end_);
}

absl::Status AppendedFile::Close() {
  RETURN_IF_ERROR(Flush());
  RETURN_IF_ERROR(behind_.Finish(file_, end_));
  return file_.Close();
}

ArrayWriter::ArrayWriter(File file, ArrayKind kind, std::uint64_t hash_seed)
    : output_(std::move(file), sizeof(ArrayHeader)), checksum_(std::make_unique<StreamingChecksum64>()) {
  header_.kind = kind;
  header_.hash_seed = hash_seed;
  values_.reserve(kBufferValues);
}

absl::Status ArrayWriter::Append(std::uint64_t value) {
  values_.push_back(value);
  ++header_.count;
  return values_.size() == kBufferValues ? Flush() : absl::OkStatus();
}

absl::Status ArrayWriter::Flush() {
  const auto bytes = std::as_bytes(std::span<const std::uint64_t>(values_));
  checksum_->Update(bytes);
  RETURN_IF_ERROR(output_.Append(bytes));
  values_.clear();
  return absl::OkStatus();
}

absl::StatusOr<ArrayHeader> ArrayWriter::Finish() {
  RETURN_IF_ERROR(Flush());
  header_.data_checksum = checksum_->Digest();
  RETURN_IF_ERROR(output_.file().WriteAt(0, EncodeArrayHeader(header_)));
  RETURN_IF_ERROR(output_.Close());
  return header_;
}

}  // namespace octavo
