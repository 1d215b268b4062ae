// Counts pairs of nodes and writes them as the weighted training edges of a graph.
//
// Pairs arrive as 8-byte keys and go into buckets by their hash, so that a node in most pairs still fills all buckets
// evenly. When the memory for keys is full, each bucket is sorted and merged with the counts so far: 12 bytes for each
// distinct pair. When there are too many of these, they are written to a temporary file as an extent of sorted edges;
// the extents are merged at the end. Counts are whole numbers, so the edges depend only on the pairs, not on their
// order, the memory or the threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "cells/cell_sorter.h"
#include "cells/cell_spill.h"
#include "cells/edge_writer.h"
#include "cells/spill_file.h"
#include "format/cells.h"
#include "format/paths.h"

namespace octavo {

struct PairCounterOptions {
  PartitionLayout partitions;
  bool both_directions = false;  // a pair also counts for the opposite direction
  bool keep_self_loops = false;
  std::size_t writers = 1;
  std::uint64_t key_bytes = 0;    // memory for keys
  std::uint64_t count_bytes = 0;  // memory for distinct pairs with their counts
  std::uint64_t write_bytes = 0;  // memory for Write, after the walks have freed theirs
  std::filesystem::path spill;    // folder for a temporary file
  std::function<bool()> stop;     // may be empty
};

class PairCounter {
 private:
  struct Bucket;

 public:
  static constexpr std::string_view kFileName = "pairs.spill";

  // Adds pairs. One thread at a time.
  class Writer {
   public:
    void Add(std::uint32_t head, std::uint32_t tail) {
      if (head == tail && !counter_->options_.keep_self_loops) return;
      ++pairs_;
      if (counter_->options_.both_directions && head > tail) std::swap(head, tail);
      const std::uint64_t key = (std::uint64_t{head} << 32) | tail;
      const std::size_t bucket = counter_->BucketOf(key);
      Open& open = open_[bucket];
      if (open.next == open.end) Extend(bucket);
      *open.next++ = key;
    }

   private:
    friend class PairCounter;
    struct Open {
      std::uint64_t* next = nullptr;
      std::uint64_t* end = nullptr;
    };
    Writer(PairCounter& counter, std::size_t buckets) : counter_(&counter), open_(buckets) {}
    void Extend(std::size_t bucket);
    std::span<std::uint64_t> Filled(std::span<std::uint64_t> chunk, std::size_t bucket) const;

    PairCounter* counter_;
    std::vector<Open> open_;  // by bucket
    std::uint64_t pairs_ = 0;
  };

  // `use` must outlive the counter.
  PairCounter(PairCounterOptions options, SpillUse& use);
  ~PairCounter();

  // REQUIRES: i < options.writers
  Writer& writer(std::size_t i) { return writers_[i]; }
  // How many more pairs all writers together may add before the next Compact.
  std::uint64_t Room() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Room() just after Compact.
  std::uint64_t WholeRoom() const;
  // Counts what the writers have added. Not concurrently with Add. Parallel.
  absl::Status Compact() ABSL_LOCKS_EXCLUDED(mutex_);

  // Pairs added so far. A pair that counts for both directions is one.
  std::uint64_t pairs() const;

  // Writes train.cells, and empty cells for the other splits. Call it once, last. Parallel.
  absl::StatusOr<WrittenEdges> Write(const GraphPaths& paths, const CellsHeader& layout,
                                     const std::function<void(std::uint64_t done, std::uint64_t total)>& progress)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Fibonacci hashing: the highest bits of the product with 2^64 / golden ratio.
  std::size_t BucketOf(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15 >> 1 >> (63 - bucket_bits_); }
  std::uint64_t* TakeChunk(std::size_t bucket) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReleaseKeys() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::uint64_t> TakeKeys(std::size_t bucket);
  std::uint64_t Records() const;
  std::uint64_t CountBytes() const;
  std::vector<EdgeRecord> TakeRecords(Bucket& bucket) const;
  EdgeChunks TakeChunks(std::size_t first, std::size_t end);
  absl::Status Spill();

  const PairCounterOptions options_;
  SpillUse& use_;
  unsigned bucket_bits_ = 0;
  std::vector<Bucket> buckets_;
  std::vector<Writer> writers_;
  std::uint64_t chunk_limit_ = 0;
  std::optional<CellSpill> spill_;  // empty until something is spilled

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<std::uint64_t[]>> slabs_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t chunks_taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace octavo
