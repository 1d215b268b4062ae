// Counts pairs of nodes and writes them as the weighted training edges of a graph.
//
// Pairs come as 8-byte keys into buckets by their hash, so that a node that is in most pairs fills all buckets alike.
// When the room for them is full, each bucket is sorted and joined with what was counted before: 12 bytes for each
// different pair. When those are too many they go to a temporary file as a run of edges, and the runs are merged in the
// end. Counts are whole numbers, so the edges depend on the pairs alone and not on their order, the room or the
// threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "cells/cell_sorter.h"
#include "cells/edge_writer.h"
#include "cells/spill_file.h"
#include "format/cells.h"
#include "format/paths.h"

namespace octavo {

struct PairCounterOptions {
  PartitionLayout partitions;
  bool both_directions = false;  // a pair counts for the other direction, too
  bool keep_self_loops = false;
  std::size_t writers = 1;
  std::uint64_t key_bytes = 0;    // room for pairs as they come
  std::uint64_t count_bytes = 0;  // room for different pairs with their counts
  std::uint64_t write_bytes = 0;  // for Write, when the walks have given back what they held
  std::filesystem::path spill;    // where a temporary file may be made
  std::function<bool()> stop;     // may be empty
};

class PairCounter {
 private:
  struct Bucket;

 public:
  static constexpr std::string_view kFileName = "pairs.spill";

  // Takes pairs, from one thread at a time.
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
    std::vector<Open> open_;  // of each bucket
    std::uint64_t pairs_ = 0;
  };

  // `use` must outlive the counter.
  PairCounter(PairCounterOptions options, SpillUse& use);
  ~PairCounter();

  // REQUIRES: i < options.writers
  Writer& writer(std::size_t i) { return writers_[i]; }
  // How many pairs the writers may add, together, before the next Compact.
  std::uint64_t Room() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Room() right after Compact.
  std::uint64_t WholeRoom() const;
  // Counts what the writers have added. Not beside Add. Parallel.
  absl::Status Compact() ABSL_LOCKS_EXCLUDED(mutex_);

  // Pairs added so far: of a pair that counts for both directions, one.
  std::uint64_t pairs() const;

  // Writes train.cells, and empty cells for the other parts. To be called once, last. Parallel.
  absl::StatusOr<WrittenEdges> Write(const GraphPaths& paths, const CellsHeader& layout,
                                     const std::function<void(std::uint64_t done, std::uint64_t total)>& progress)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Fibonacci hashing: the highest bits of a product with 2^64 over the golden ratio.
  std::size_t BucketOf(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15 >> 1 >> (63 - bucket_bits_); }
  std::uint64_t* TakeChunk(std::size_t bucket) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReleaseKeys() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::uint64_t> TakeKeys(std::size_t bucket);
  std::uint64_t Records() const;
  std::uint64_t CountBytes() const;
  std::vector<EdgeRecord> TakeRecords(Bucket& bucket) const;
  EdgeRuns TakeRuns(std::size_t first, std::size_t end);
  absl::Status Spill();

  const PairCounterOptions options_;
  SpillUse& use_;
  unsigned bucket_bits_ = 0;
  std::vector<Bucket> buckets_;
  std::vector<Writer> writers_;
  std::uint64_t chunk_limit_ = 0;
  std::unique_ptr<SpillFile> file_;
  std::vector<SpillExtent> runs_;

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<std::uint64_t[]>> slabs_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t chunks_taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace octavo
