// Finds hashes in an ascending array: joins edges with the ranks of their names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace octavo {

// A part of nodes.hash, prepared for many lookups. Constant after construction; any thread.
class HashSlice {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  // `hashes` are strictly ascending; the first one has rank `first_rank`.
  // REQUIRES: first_rank + hashes.size() < kAbsent
  HashSlice(std::vector<std::uint64_t> hashes, std::uint64_t first_rank);

  // Whether `hash` is in the range of this slice.
  bool Covers(std::uint64_t hash) const { return size_ > 0 && hash >= first_hash_ && hash <= last_hash_; }
  // Returns the rank of `hash`, or kAbsent.
  std::uint32_t Find(std::uint64_t hash) const;
  // Two-stage prefetch before Find: PrefetchBucket, later PrefetchHash.
  void PrefetchBucket(std::uint64_t hash) const { __builtin_prefetch(&buckets_[BucketOf(hash)]); }
  void PrefetchHash(std::uint64_t hash) const { __builtin_prefetch(hashes_.data() + buckets_[BucketOf(hash)]); }

  std::uint64_t first_rank() const { return first_rank_; }
  std::uint64_t size() const { return size_; }

  // Memory of a slice for each hash.
  static constexpr std::uint64_t kBytesOfHash = 10;

 private:
  // Hashes below the slice map to the first bucket, hashes above to the last.
  std::size_t BucketOf(std::uint64_t hash) const;

  std::vector<std::uint64_t> hashes_;  // [size_], then some that are not smaller than any, for Find
  std::size_t size_;
  std::vector<std::uint32_t> buckets_;  // where each bucket begins in hashes_; one more for the end
  std::uint64_t first_rank_;
  std::uint64_t first_hash_ = 0;
  std::uint64_t last_hash_ = 0;
  unsigned shift_ = 0;
};

}  // namespace octavo
