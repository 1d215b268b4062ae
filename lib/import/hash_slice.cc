#include "import/hash_slice.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace octavo {
namespace {

// The hashes are evenly spread, so a bucket of two to four of them is in one or two cache lines.
constexpr std::uint64_t kHashesOfBucket = 4;

}  // namespace

HashSlice::HashSlice(std::vector<std::uint64_t> hashes, std::uint64_t first_rank)
    : hashes_(std::move(hashes)), size_(hashes_.size()), first_rank_(first_rank) {
  hashes_.resize(size_ + kHashesOfBucket, UINT64_MAX);
  if (size_ == 0) {
    buckets_.assign(2, 0);
    return;
  }
  first_hash_ = hashes_.front();
  last_hash_ = hashes_[size_ - 1];
  // Buckets are equal ranges of hashes, a power of two wide: the narrowest with at most one bucket for two hashes.
  const std::uint64_t most = std::max<std::uint64_t>(2, size_ / kHashesOfBucket * 2);
  while (((last_hash_ - first_hash_) >> shift_) >= most) ++shift_;
  const std::uint64_t count = ((last_hash_ - first_hash_) >> shift_) + 1;
  buckets_.assign(count + 1, 0);
  std::size_t bucket = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const std::size_t mine = BucketOf(hashes_[i]);
    while (bucket < mine) buckets_[++bucket] = static_cast<std::uint32_t>(i);
  }
  while (bucket < count) buckets_[++bucket] = static_cast<std::uint32_t>(size_);
}

std::size_t HashSlice::BucketOf(std::uint64_t hash) const {
  return static_cast<std::size_t>((std::clamp(hash, first_hash_, last_hash_) - first_hash_) >> shift_);
}

std::uint32_t HashSlice::Find(std::uint64_t hash) const {
  // Counts the smaller hashes, four at a time and without a branch for each: which one it is cannot be predicted.
  std::size_t at = buckets_[BucketOf(hash)];
  for (std::size_t smaller = kHashesOfBucket; smaller == kHashesOfBucket; at += smaller) {
    smaller = 0;
    for (std::size_t i = 0; i < kHashesOfBucket; ++i) smaller += hashes_[at + i] < hash ? 1 : 0;
  }
  return at < size_ && hashes_[at] == hash ? static_cast<std::uint32_t>(first_rank_ + at) : kAbsent;
}

}  // namespace octavo
