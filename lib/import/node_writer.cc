#include "import/node_writer.h"

#include <span>
#include <utility>

#include "base/status.h"

namespace octavo {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBufferValues = std::size_t{64} << 10;

std::span<const std::byte> BytesOf(std::string_view text) { return std::as_bytes(std::span<const char>(text)); }

}  // namespace

absl::Status NodeWriter::Output::Append(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() >= kBufferBytes ? Flush() : absl::OkStatus();
}

absl::Status NodeWriter::Output::Flush() {
  RETURN_IF_ERROR(file_.WriteAt(end_, buffer_));
  end_ += buffer_.size();
  buffer_.clear();
  return behind_.Advance(file_, end_);
}

absl::Status NodeWriter::Output::Close() {
  RETURN_IF_ERROR(Flush());
  RETURN_IF_ERROR(behind_.Finish(file_, end_));
  return file_.Close();
}

NodeWriter::Array::Array(File file, ArrayKind kind, std::uint64_t hash_seed)
    : output_(std::move(file), sizeof(ArrayHeader)), checksum_(std::make_unique<StreamingChecksum64>()) {
  header_.kind = kind;
  header_.hash_seed = hash_seed;
  values_.reserve(kBufferValues);
}

absl::Status NodeWriter::Array::Append(std::uint64_t value) {
  values_.push_back(value);
  ++header_.count;
  return values_.size() == kBufferValues ? Flush() : absl::OkStatus();
}

absl::Status NodeWriter::Array::Flush() {
  const auto bytes = std::as_bytes(std::span<const std::uint64_t>(values_));
  checksum_->Update(bytes);
  RETURN_IF_ERROR(output_.Append(bytes));
  values_.clear();
  return absl::OkStatus();
}

absl::StatusOr<ArrayHeader> NodeWriter::Array::Finish() {
  RETURN_IF_ERROR(Flush());
  header_.data_checksum = checksum_->Digest();
  RETURN_IF_ERROR(output_.file().WriteAt(0, EncodeArrayHeader(header_)));
  RETURN_IF_ERROR(output_.Close());
  return header_;
}

NodeWriter::NodeWriter(File hashes, File names, File offsets, std::uint64_t hash_seed)
    : hashes_(std::move(hashes), ArrayKind::kNodeHashes, hash_seed),
      names_(std::move(names), 0),
      offsets_(std::move(offsets), ArrayKind::kNodeOffsets, 0) {}

absl::StatusOr<std::unique_ptr<NodeWriter>> NodeWriter::Create(const GraphPaths& paths, std::uint64_t hash_seed) {
  ASSIGN_OR_RETURN(File hashes, File::Create(paths.NodeHashes()));
  ASSIGN_OR_RETURN(File names, File::Create(paths.NodeNames()));
  ASSIGN_OR_RETURN(File offsets, File::Create(paths.NodeOffsets()));
  return std::unique_ptr<NodeWriter>(
      new NodeWriter(std::move(hashes), std::move(names), std::move(offsets), hash_seed));
}

absl::Status NodeWriter::Append(std::uint64_t hash, std::string_view name) {
  RETURN_IF_ERROR(hashes_.Append(hash));
  RETURN_IF_ERROR(offsets_.Append(names_.size()));
  RETURN_IF_ERROR(names_.Append(BytesOf(name)));
  return names_.Append(BytesOf("\n"));
}

absl::StatusOr<NodeArrays> NodeWriter::Finish() {
  NodeArrays arrays;
  RETURN_IF_ERROR(offsets_.Append(names_.size()));
  RETURN_IF_ERROR(names_.Close());
  ASSIGN_OR_RETURN(arrays.hashes, hashes_.Finish());
  ASSIGN_OR_RETURN(arrays.offsets, offsets_.Finish());
  return arrays;
}

}  // namespace octavo
