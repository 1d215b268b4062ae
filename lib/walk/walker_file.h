// Stores walks between two steps in a temporary file, grouped by the partitions that their next step needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "cells/spill_file.h"

namespace octavo {

// A walk between two steps: its 64-bit number, then its last nodes as 32-bit words, latest first.
class WalkerLayout {
 public:
  explicit WalkerLayout(std::size_t nodes) : nodes_(nodes) {}
  std::size_t nodes() const { return nodes_; }
  std::size_t words() const { return nodes_ + 2; }
  std::size_t bytes() const { return words() * sizeof(std::uint32_t); }

  static std::uint64_t Number(const std::uint32_t* walker) { return walker[0] | (std::uint64_t{walker[1]} << 32); }
  static void SetNumber(std::uint32_t* walker, std::uint64_t number) {
    walker[0] = static_cast<std::uint32_t>(number);
    walker[1] = static_cast<std::uint32_t>(number >> 32);
  }
  static std::uint32_t* Nodes(std::uint32_t* walker) { return walker + 2; }

 private:
  std::size_t nodes_;
};

// The walks of one step, in buckets. Writers fill it first; then it is read.
//
// The walkers of a bucket are in pages of one size, stored in the file in the order in which they were filled. The
// partly filled pages of all writers follow at the end, grouped by bucket. Memory holds only four bytes per page.
class WalkerFile {
 public:
  // One thread at a time.
  class Writer {
   public:
    // Returns where to write the next walker of the bucket, valid until the next call. Finish returns errors.
    std::uint32_t* Next(std::size_t bucket);

   private:
    friend class WalkerFile;
    Writer(WalkerFile& file, std::size_t buckets) : file_(&file), buffers_(buckets) {}

    WalkerFile* file_;
    std::vector<std::vector<std::uint32_t>> buffers_;  // each has its full capacity from the first walker on
  };

  // Walkers per page such that the writers' buffers, of one page each, take at most `buffer_bytes` together; at least
  // 1.
  static std::uint64_t PageWalkers(const WalkerLayout& layout, std::size_t buckets, std::size_t writers,
                                   std::uint64_t buffer_bytes);
  // The memory of a file with so many walkers, in addition to the buffers.
  static std::uint64_t IndexBytes(std::uint64_t walkers, const WalkerLayout& layout, std::size_t buckets,
                                  std::size_t writers, std::uint64_t buffer_bytes);

  // `file` must be empty. REQUIRES: all walkers fit into 2^32 pages
  WalkerFile(std::unique_ptr<SpillFile> file, const WalkerLayout& layout, std::size_t buckets, std::size_t writers,
             std::uint64_t buffer_bytes);

  Writer& writer(std::size_t i) { return writers_[i]; }
  // Writes what the buffers hold. Call it once, after all writes. Returns the first error of any writer.
  absl::Status Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  // A bucket is read in pieces of at most one page and at least one walker. REQUIRES: Finish
  std::size_t Pieces(std::size_t bucket) const;
  // REQUIRES: piece < Pieces(bucket)
  std::uint64_t Walkers(std::size_t bucket, std::size_t piece) const;
  absl::Status Read(std::size_t bucket, std::size_t piece, std::vector<std::uint32_t>& walkers) const;
  // In all buckets.
  std::uint64_t walkers() const { return walkers_; }

 private:
  // Full pages, then the partly filled ones.
  struct Bucket {
    std::vector<std::uint32_t> pages;  // page numbers; guarded by mutex_ while there are writers
    SpillExtent rest;
  };

  std::uint64_t PageBytes() const { return page_words_ * sizeof(std::uint32_t); }
  SpillExtent ExtentOf(std::size_t bucket, std::size_t piece) const;
  void AppendPage(std::size_t bucket, std::span<const std::uint32_t> walkers) ABSL_LOCKS_EXCLUDED(mutex_);

  const WalkerLayout layout_;
  const std::unique_ptr<SpillFile> file_;
  const std::size_t page_words_;
  std::vector<Writer> writers_;
  std::vector<Bucket> buckets_;
  std::uint32_t next_page_ = 0;  // guarded by mutex_ while there are writers
  std::uint64_t walkers_ = 0;
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace octavo
