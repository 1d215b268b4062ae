#include "walk/walker_file.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace octavo {
namespace {

// Larger pages would not be faster.
constexpr std::uint64_t kMaxPageBytes = std::uint64_t{256} << 10;

}  // namespace

std::uint64_t WalkerFile::PageWalkers(const WalkerLayout& layout, std::size_t buckets, std::size_t writers,
                                      std::uint64_t buffer_bytes) {
  return std::max<std::uint64_t>(1, std::min(kMaxPageBytes, buffer_bytes / (buckets * writers)) / layout.bytes());
}

std::uint64_t WalkerFile::IndexBytes(std::uint64_t walkers, const WalkerLayout& layout, std::size_t buckets,
                                     std::size_t writers, std::uint64_t buffer_bytes) {
  // Doubled, because vectors grow by doubling.
  const std::uint64_t pages = walkers / PageWalkers(layout, buckets, writers, buffer_bytes);
  return 2 * pages * sizeof(std::uint32_t) + buckets * (sizeof(Bucket) + writers * sizeof(std::vector<std::uint32_t>));
}

WalkerFile::WalkerFile(std::unique_ptr<SpillFile> file, const WalkerLayout& layout, std::size_t buckets,
                       std::size_t writers, std::uint64_t buffer_bytes)
    : layout_(layout),
      file_(std::move(file)),
      page_words_(PageWalkers(layout, buckets, writers, buffer_bytes) * layout.words()),
      buckets_(buckets) {
  for (std::size_t i = 0; i < writers; ++i) writers_.push_back(Writer(*this, buckets));
}

std::uint32_t* WalkerFile::Writer::Next(std::size_t bucket) {
  std::vector<std::uint32_t>& buffer = buffers_[bucket];
  if (buffer.size() == file_->page_words_) {
    file_->AppendPage(bucket, buffer);
    buffer.clear();
  }
  if (buffer.capacity() == 0) buffer.reserve(file_->page_words_);
  buffer.resize(buffer.size() + file_->layout_.words());
  return buffer.data() + buffer.size() - file_->layout_.words();
}

void WalkerFile::AppendPage(std::size_t bucket, std::span<const std::uint32_t> walkers) {
  const MutexLock lock(mutex_);
  if (!status_.ok()) return;
  status_ = file_->Append(std::as_bytes(walkers));
  buckets_[bucket].pages.push_back(next_page_++);
}

absl::Status WalkerFile::Finish() {
  const MutexLock lock(mutex_);
  for (std::size_t bucket = 0; bucket < buckets_.size() && status_.ok(); ++bucket) {
    SpillExtent& rest = buckets_[bucket].rest;
    rest.begin = file_->size();
    for (Writer& writer : writers_) {
      const std::vector<std::uint32_t> walkers = std::move(writer.buffers_[bucket]);
      if (!walkers.empty() && status_.ok()) status_ = file_->Append(std::as_bytes(std::span(walkers)));
    }
    rest.end = file_->size();
  }
  walkers_ = file_->size() / layout_.bytes();
  return status_.ok() ? file_->FinishWriting() : status_;
}

std::size_t WalkerFile::Pieces(std::size_t bucket) const {
  const auto& [pages, rest] = buckets_[bucket];
  return pages.size() + (rest.end - rest.begin + PageBytes() - 1) / PageBytes();
}

SpillExtent WalkerFile::ExtentOf(std::size_t bucket, std::size_t piece) const {
  const auto& [pages, rest] = buckets_[bucket];
  if (piece < pages.size()) return {.begin = pages[piece] * PageBytes(), .end = (pages[piece] + 1) * PageBytes()};
  const std::uint64_t begin = rest.begin + (piece - pages.size()) * PageBytes();
  return {.begin = begin, .end = std::min(begin + PageBytes(), rest.end)};
}

std::uint64_t WalkerFile::Walkers(std::size_t bucket, std::size_t piece) const {
  const SpillExtent extent = ExtentOf(bucket, piece);
  return (extent.end - extent.begin) / layout_.bytes();
}

absl::Status WalkerFile::Read(std::size_t bucket, std::size_t piece, std::vector<std::uint32_t>& walkers) const {
  const SpillExtent extent = ExtentOf(bucket, piece);
  walkers.resize((extent.end - extent.begin) / sizeof(std::uint32_t));
  return file_->ReadOnce(extent.begin, std::as_writable_bytes(std::span(walkers)));
}

}  // namespace octavo
