// Walks that are on their way through a temporary file, sorted by the partitions that they need for their next step.
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

// A walk between two steps: 64 bits of its number, then its last nodes, the latest one first, as 32-bit words.
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

// The walks of one step, in buckets. First writers fill it, then it is read.
//
// A bucket's walkers come in pages of one size, which stand in the file as they were filled; the pages that the writers
// have begun, and not filled, follow behind all others, those of one bucket together. So memory holds four bytes a
// page.
class WalkerFile {
 public:
  // Of one thread at a time.
  class Writer {
   public:
    // Returns where the next walker of the bucket is to be written, before the next call. Errors wait for Finish.
    std::uint32_t* Next(std::size_t bucket);

   private:
    friend class WalkerFile;
    Writer(WalkerFile& file, std::size_t buckets) : file_(&file), buffers_(buckets) {}

    WalkerFile* file_;
    std::vector<std::vector<std::uint32_t>> buffers_;  // each with its whole capacity from the first walker on
  };

  // Walkers of a page where the writers' buffers, of one page each, take at most `buffer_bytes` together, or one walker
  // each where that is too little.
  static std::uint64_t PageWalkers(const WalkerLayout& layout, std::size_t buckets, std::size_t writers,
                                   std::uint64_t buffer_bytes);
  // What a file of so many walkers holds beside the buffers.
  static std::uint64_t IndexBytes(std::uint64_t walkers, const WalkerLayout& layout, std::size_t buckets,
                                  std::size_t writers, std::uint64_t buffer_bytes);

  // `file` must be empty. REQUIRES: no more walkers come than 2^32 pages hold
  WalkerFile(std::unique_ptr<SpillFile> file, const WalkerLayout& layout, std::size_t buckets, std::size_t writers,
             std::uint64_t buffer_bytes);

  Writer& writer(std::size_t i) { return writers_[i]; }
  // Writes what the buffers hold. Once, when all is written; the first error of all writers.
  absl::Status Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  // Those of a bucket are in pieces of a page or less, and of at least one walker. REQUIRES: Finish
  std::size_t Pieces(std::size_t bucket) const;
  // REQUIRES: piece < Pieces(bucket)
  std::uint64_t Walkers(std::size_t bucket, std::size_t piece) const;
  absl::Status Read(std::size_t bucket, std::size_t piece, std::vector<std::uint32_t>& walkers) const;
  // Of all buckets.
  std::uint64_t walkers() const { return walkers_; }

 private:
  // Pages, then what is behind them.
  struct Bucket {
    std::vector<std::uint32_t> pages;  // their numbers; under mutex_ while there are writers
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
  std::uint32_t next_page_ = 0;  // under mutex_ while there are writers
  std::uint64_t walkers_ = 0;
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace octavo
