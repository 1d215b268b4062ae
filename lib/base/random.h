// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// A draw is a pure function of a key and a counter. Training therefore gets the same numbers for any number of threads
// and after any interruption. No state outlives one draw.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace octavo {

// Returns the four 32-bit words of one Philox4x32-10 block.
std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// The purpose of a stream of random numbers. It is part of the key, so two purposes never share numbers.
enum class RandomPurpose : std::uint32_t {
  kInitialEmbeddings = 1,
  kInitialRelations = 2,
  kBlockOrder = 3,
  kPoolShuffle = 4,
  kNegatives = 5,
  kSplit = 6,
  kEvaluationCandidates = 7,
  kGenerate = 8,
  kPartitions = 9,
  kBucketOrder = 10,
  kRounding = 11,
  kDropout = 12,
  kGroupShuffle = 13,
  kWalk = 14,
  kFactSample = 15,
  kTypedNegatives = 16,
  kLabelSplit = 20,
  kNonEdges = 21,
  kLaneGroups = 22,
  kTrials = 40,
  kHeldOut = 41,
  kLayoutNeighbors = 60,
  kLayoutNegatives = 61,
  kLayoutStart = 62,
};

// Returns the key of all streams with this seed and purpose.
std::array<std::uint32_t, 2> RandomKey(std::uint64_t seed, RandomPurpose purpose);

// The numbers of the stream (seed, purpose, a, b), in order. One owner; a copy continues from the same position. `a`
// and `b` identify the stream, e.g. (epoch, batch) or (node, 0); a < 2^32, b < 2^64. The numbers are the words of the
// blocks Philox4x32({i, a, low half of b, high half of b}, RandomKey(seed, purpose)) for i = 0, 1, ...
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint32_t a, std::uint64_t b);

  std::uint32_t Next32();
  std::uint64_t Next64();
  // Returns a uniform number in [0, bound) without bias, by Lemire's multiplication method with rejection.
  // REQUIRES: bound > 0
  std::uint64_t Below(std::uint64_t bound);
  // Returns a number in [0, 1) with 24 random bits.
  float NextFloat();
  // Returns a standard normal number (Box-Muller; both numbers of a pair are used).
  float NextNormal();

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;  // words of block_ already given out
  float spare_normal_ = 0.0F;
  bool has_spare_normal_ = false;
};

// Shuffles `values` (Fisher-Yates) with numbers from `stream`. Some places are drawn before their values are swapped,
// so that the cache misses overlap: 4 times as fast for half a million edges.
template <typename T>
void Shuffle(std::span<T> values, RandomStream& stream) {
  constexpr std::size_t kAhead = 32;  // more than the misses that a core has under way
  std::array<std::size_t, kAhead> places;
  for (std::size_t i = values.size(); i > 1;) {
    const std::size_t count = std::min(kAhead, i - 1);
    for (std::size_t k = 0; k < count; ++k) {
      places[k] = stream.Below(i - k);
      __builtin_prefetch(&values[places[k]], /*rw=*/1);
    }
    for (std::size_t k = 0; k < count; ++k) std::swap(values[--i], values[places[k]]);
  }
}

}  // namespace octavo
