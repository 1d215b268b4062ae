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
    void Flush(std::size_t bucket);

    WalkerFile* file_;
    std::vector<std::vector<std::uint32_t>> buffers_;  // each with its whole capacity from the first walker on
  };

  // The writers' buffers take about `buffer_bytes` together. `file` must outlive this.
  WalkerFile(std::unique_ptr<SpillFile> file, const WalkerLayout& layout, std::size_t buckets, std::size_t writers,
             std::uint64_t buffer_bytes);

  Writer& writer(std::size_t i) { return writers_[i]; }
  // Writes what the buffers hold. Once, when all is written; the first error of all writers.
  absl::Status Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  // Of a bucket, each a few whole walkers. REQUIRES: Finish
  std::span<const SpillExtent> Extents(std::size_t bucket) const { return extents_[bucket]; }
  std::uint64_t walkers() const { return walkers_; }
  absl::Status Read(const SpillExtent& extent, std::vector<std::uint32_t>& walkers) const;

 private:
  void Append(std::size_t bucket, std::span<const std::uint32_t> walkers) ABSL_LOCKS_EXCLUDED(mutex_);

  const WalkerLayout layout_;
  const std::unique_ptr<SpillFile> file_;
  std::size_t buffer_words_;
  std::vector<Writer> writers_;
  std::vector<std::vector<SpillExtent>> extents_;  // under mutex_ while there are writers
  std::uint64_t walkers_ = 0;                      // the same
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace octavo
