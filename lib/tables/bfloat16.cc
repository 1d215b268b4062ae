// Naive version: RoundBlock, a block of draws at a time with base/random.h, which also takes the rows too short for a
// vector. Integers only, so vectors of all widths give the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tables/bfloat16.cc"
#include "hwy/foreach_target.h"  // before highway.h

#include "tables/bfloat16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/random.h"
#include "hwy/highway.h"

#ifndef OCTAVO_TABLES_BFLOAT16_CC_
#define OCTAVO_TABLES_BFLOAT16_CC_
namespace octavo {
namespace {

constexpr std::size_t kBlockDraws = 8;
constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;
constexpr std::uint32_t kLargestWord = 0x7F7F0000;  // the largest finite one; rounding adds nothing to it or above
constexpr std::uint32_t kInfinity = 0x7F800000;
constexpr std::uint32_t kQuietNan = 0x00400000;

// The words of blocks of one stream of random numbers.
struct DrawPlace {
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 4> counter;  // of block 0
};

// The word of a float whose bits below the word `increment` carries into.
std::uint16_t RoundBits(std::uint32_t bits, std::uint32_t increment) {
  const std::uint32_t magnitude = bits & kMagnitude;
  if (magnitude < kLargestWord) bits += increment;
  if (magnitude > kInfinity) bits |= kQuietNan;  // its other set bits may be dropped
  return static_cast<std::uint16_t>(bits >> 16);
}

}  // namespace
}  // namespace octavo
#endif  // OCTAVO_TABLES_BFLOAT16_CC_

HWY_BEFORE_NAMESPACE();
namespace octavo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void WidenWords(std::size_t n, const std::uint16_t* words, float* out) {
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::Rebind<std::uint16_t, decltype(d32)> d16;
  std::size_t i = 0;
  for (; i + hn::Lanes(d32) <= n; i += hn::Lanes(d32)) {
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, words + i)));
    hn::StoreU(hn::BitCast(hn::RebindToFloat<decltype(d32)>(), bits), hn::RebindToFloat<decltype(d32)>(), out + i);
  }
  for (; i < n; ++i) {
    std::uint16_t word;
    std::memcpy(&word, words + i, sizeof(word));  // may lie in `out`
    const std::uint32_t bits = std::uint32_t{word} << 16;
    std::memcpy(out + i, &bits, sizeof(bits));
  }
}

#if HWY_TARGET != HWY_SCALAR  // its vectors have no pair of lanes to multiply as one

// RoundBits of a vector.
template <class D32>
HWY_INLINE void RoundLanes(D32 d32, hn::Vec<D32> increments, const float* row, std::uint16_t* words) {
  const hn::RebindToSigned<D32> signed32;
  const hn::Rebind<std::uint16_t, D32> d16;
  const auto bits = hn::BitCast(d32, hn::LoadU(hn::RebindToFloat<D32>(), row));
  const auto magnitude = hn::BitCast(signed32, hn::And(bits, hn::Set(d32, kMagnitude)));
  const auto above = hn::Gt(magnitude, hn::Set(signed32, static_cast<std::int32_t>(kLargestWord) - 1));
  const auto nan = hn::Gt(magnitude, hn::Set(signed32, static_cast<std::int32_t>(kInfinity)));
  const auto quiet = hn::IfThenElseZero(nan, hn::Set(signed32, static_cast<std::int32_t>(kQuietNan)));
  const auto added = hn::IfThenZeroElse(above, hn::BitCast(signed32, increments));
  const auto rounded = hn::Or(hn::Add(hn::BitCast(signed32, bits), added), quiet);
  const auto upper = hn::ShiftRight<16>(hn::BitCast(d32, rounded));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(signed32, upper)), d16, words);
}

// Rounds the elements of as many blocks as `d64` has lanes, from block `first` of `blocks` on. A lane holds a word of
// Philox4x32-10 in its low half; the multiplications ignore the high half.
template <class D64>
HWY_INLINE void RoundBlocks(D64 d64, const DrawPlace& place, std::size_t first, std::size_t blocks, const float* row,
                            std::uint16_t* words) {
  const hn::Repartition<std::uint32_t, D64> d32;
  const auto m0 = hn::Set(d32, 0xD2511F53U);
  const auto m1 = hn::Set(d32, 0xCD9E8D57U);
  auto c0 = hn::Iota(d64, static_cast<std::uint64_t>(first));
  auto c1 = hn::Set(d64, std::uint64_t{place.counter[1]});
  auto c2 = hn::Set(d64, std::uint64_t{place.counter[2]});
  auto c3 = hn::Set(d64, std::uint64_t{place.counter[3]});
  std::uint32_t k0 = place.key[0];
  std::uint32_t k1 = place.key[1];
  for (int round = 0; round < 10; ++round) {
    const auto p0 = hn::MulEven(hn::BitCast(d32, c0), m0);
    const auto p1 = hn::MulEven(hn::BitCast(d32, c2), m1);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d64, std::uint64_t{k0}));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d64, std::uint64_t{k1}));
    c1 = p1;
    c3 = p0;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  const auto low = hn::Set(d64, std::uint64_t{0xFFFFFFFF});
  const auto low_half = hn::Set(d32, 0xFFFFU);
  const auto words01 = hn::BitCast(d32, hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1)));
  const auto words23 = hn::BitCast(d32, hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3)));
  const std::size_t at = 2 * first;
  const std::size_t plane = 2 * blocks;
  RoundLanes(d32, hn::And(words01, low_half), row + at, words + at);
  RoundLanes(d32, hn::ShiftRight<16>(words01), row + plane + at, words + plane + at);
  RoundLanes(d32, hn::And(words23, low_half), row + 2 * plane + at, words + 2 * plane + at);
  RoundLanes(d32, hn::ShiftRight<16>(words23), row + 3 * plane + at, words + 3 * plane + at);
}

// Rounds the elements of all blocks. Returns false and does nothing if a vector is longer than that.
template <class D64>
HWY_INLINE bool RoundAllBlocks(D64 d64, const DrawPlace& place, std::size_t blocks, const float* row,
                               std::uint16_t* words) {
  const std::size_t lanes = hn::Lanes(d64);
  if (blocks < lanes) return false;
  // If the last vector would end too late, it begins earlier and computes some words again.
  for (std::size_t at = 0; at < blocks; at += lanes) {
    RoundBlocks(d64, place, std::min(at, blocks - lanes), blocks, row, words);
  }
  return true;
}

bool RoundVectors(const DrawPlace& place, std::size_t blocks, const float* row, std::uint16_t* words) {
  return RoundAllBlocks(hn::ScalableTag<std::uint64_t>(), place, blocks, row, words) ||
         RoundAllBlocks(hn::CappedTag<std::uint64_t, 2>(), place, blocks, row, words);
}

#else

bool RoundVectors(const DrawPlace&, std::size_t, const float*, std::uint16_t*) { return false; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace octavo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace octavo {
namespace {

HWY_EXPORT(WidenWords);
HWY_EXPORT(RoundVectors);

// The eight draws of a block, low halves first.
std::array<std::uint32_t, kBlockDraws> DrawsOf(const DrawPlace& place, std::size_t block) {
  std::array<std::uint32_t, 4> counter = place.counter;
  counter[0] = static_cast<std::uint32_t>(block);
  const std::array<std::uint32_t, 4> words = Philox4x32(counter, place.key);
  std::array<std::uint32_t, kBlockDraws> draws{};
  for (std::size_t i = 0; i < kBlockDraws; ++i) draws[i] = (words[i / 2] >> (16 * (i % 2))) & 0xFFFF;
  return draws;
}

void RoundBlock(const DrawPlace& place, std::size_t block, std::size_t blocks, const float* row, std::uint16_t* words) {
  const std::array<std::uint32_t, kBlockDraws> draws = DrawsOf(place, block);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    for (std::size_t j = 0; j < 2; ++j) {
      const std::size_t i = quarter * 2 * blocks + 2 * block + j;
      const std::size_t word = quarter / 2 * 2 + j;
      words[i] = RoundBits(std::bit_cast<std::uint32_t>(row[i]), draws[2 * word + quarter % 2]);
    }
  }
}

}  // namespace

void Widen(std::span<const std::uint16_t> words, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(WidenWords)(out.size(), words.data(), out.data());
}

void TakeWords(std::span<const float> widened, std::span<std::uint16_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(widened[i]) >> 16);
  }
}

void RoundToNearest(std::span<const float> row, std::span<std::uint16_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(row[i]);
    words[i] = RoundBits(bits, 0x7FFF + ((bits >> 16) & 1));
  }
}

void RoundStochastically(const RowRounding& rounding, NodeId node, std::span<const float> row,
                         std::span<std::uint16_t> words) {
  const DrawPlace place{
      .key = RandomKey(rounding.seed, RandomPurpose::kRounding),
      .counter = {0, static_cast<std::uint32_t>(rounding.step), static_cast<std::uint32_t>(Value(node)),
                  static_cast<std::uint32_t>(Value(node) >> 32)}};
  const std::size_t blocks = row.size() / kBlockDraws;
  if (!HWY_DYNAMIC_DISPATCH(RoundVectors)(place, blocks, row.data(), words.data())) {
    for (std::size_t block = 0; block < blocks; ++block) RoundBlock(place, block, blocks, row.data(), words.data());
  }
  const std::size_t rest = blocks * kBlockDraws;
  if (rest == row.size()) return;
  const std::array<std::uint32_t, kBlockDraws> draws = DrawsOf(place, blocks);
  for (std::size_t i = rest; i < row.size(); ++i) {
    words[i] = RoundBits(std::bit_cast<std::uint32_t>(row[i]), draws[i - rest]);
  }
}

}  // namespace octavo
#endif  // HWY_ONCE
