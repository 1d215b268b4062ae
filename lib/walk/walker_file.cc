#include "walk/walker_file.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace octavo {
namespace {

// Larger buffers make no disk faster.
constexpr std::size_t kMaxBufferBytes = std::size_t{256} << 10;

}  // namespace

WalkerFile::WalkerFile(std::unique_ptr<SpillFile> file, const WalkerLayout& layout, std::size_t buckets,
                       std::size_t writers, std::uint64_t buffer_bytes)
    : layout_(layout), file_(std::move(file)), extents_(buckets) {
  const std::uint64_t each = std::min<std::uint64_t>(kMaxBufferBytes, buffer_bytes / (buckets * writers));
  buffer_words_ = std::max<std::size_t>(1, each / layout.bytes()) * layout.words();
  for (std::size_t i = 0; i < writers; ++i) writers_.push_back(Writer(*this, buckets));
}

std::uint32_t* WalkerFile::Writer::Next(std::size_t bucket) {
  std::vector<std::uint32_t>& buffer = buffers_[bucket];
  if (buffer.size() == file_->buffer_words_) Flush(bucket);
  if (buffer.capacity() == 0) buffer.reserve(file_->buffer_words_);
  buffer.resize(buffer.size() + file_->layout_.words());
  return buffer.data() + buffer.size() - file_->layout_.words();
}

void WalkerFile::Writer::Flush(std::size_t bucket) {
  if (buffers_[bucket].empty()) return;
  file_->Append(bucket, buffers_[bucket]);
  buffers_[bucket].clear();
}

void WalkerFile::Append(std::size_t bucket, std::span<const std::uint32_t> walkers) {
  const MutexLock lock(mutex_);
  if (!status_.ok()) return;
  SpillExtent extent{.begin = file_->size(), .end = 0};
  status_ = file_->Append(std::as_bytes(walkers));
  extent.end = file_->size();
  // What follows is read with it.
  std::vector<SpillExtent>& extents = extents_[bucket];
  const bool joins =
      !extents.empty() && extents.back().end == extent.begin && extent.end - extents.back().begin <= kMaxBufferBytes;
  if (joins) {
    extents.back().end = extent.end;
  } else {
    extents.push_back(extent);
  }
  walkers_ += walkers.size() / layout_.words();
}

absl::Status WalkerFile::Finish() {
  for (Writer& writer : writers_) {
    for (std::size_t bucket = 0; bucket < extents_.size(); ++bucket) writer.Flush(bucket);
    writer.buffers_ = {};
  }
  const MutexLock lock(mutex_);
  return status_.ok() ? file_->FinishWriting() : status_;
}

absl::Status WalkerFile::Read(const SpillExtent& extent, std::vector<std::uint32_t>& walkers) const {
  walkers.resize((extent.end - extent.begin) / sizeof(std::uint32_t));
  return file_->ReadOnce(extent.begin, std::as_writable_bytes(std::span(walkers)));
}

}  // namespace octavo
