// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// A draw is a pure function of a key and a counter, so training gets the same numbers whatever the number of threads
// and however often it was interrupted. Nothing here holds state that outlives one draw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace octavo {

// Returns the four 32-bit words of one Philox4x32-10 block.
std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// What a stream of random numbers is for; a part of its key, so that two purposes never share numbers.
enum class RandomPurpose : std::uint32_t {
  kInitialEmbeddings = 1,
  kInitialRelations = 2,
  kBlockOrder = 3,
  kWindowShuffle = 4,
  kNegatives = 5,
  kSplit = 6,
  kEvaluationCandidates = 7,
  kGenerate = 8,
  kPartitionGroups = 9,
  kBucketOrder = 10,
  kRounding = 11,
  kDropout = 12,
  kGroupShuffle = 13,
  kWalk = 14,
  kLabelSplit = 20,
  kNonEdges = 21,
  kTrials = 40,
};

// Returns the key of all streams of that seed and purpose.
std::array<std::uint32_t, 2> RandomKey(std::uint64_t seed, RandomPurpose purpose);

// The numbers of one (seed, purpose, a, b) stream, in order. One owner; copying it copies the position.
// `a` and `b` place the stream: (epoch, batch), (node, 0), ... ; a < 2^32, b < 2^64. The numbers are the words of the
// blocks Philox4x32({i, a, low half of b, high half of b}, RandomKey(seed, purpose)) for i = 0, 1, ...
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint32_t a, std::uint64_t b);

  std::uint32_t Next32();
  std::uint64_t Next64();
  // Returns a number in [0, bound), by Lemire's multiplication method with rejection: exactly uniform.
  // REQUIRES: bound > 0
  std::uint64_t Below(std::uint64_t bound);
  // Returns a number in [0, 1) with 24 random bits.
  float NextFloat();
  // Returns a standard normal number (Box-Muller, both halves used).
  float NextNormal();

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;  // words of block_ already given out
  float spare_normal_ = 0.0F;
  bool has_spare_normal_ = false;
};

// Shuffles `values` by Fisher and Yates with numbers of `stream`.
template <typename T>
void Shuffle(std::span<T> values, RandomStream& stream) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[stream.Below(i)]);
}

}  // namespace octavo
