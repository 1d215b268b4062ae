#include "base/random.h"

#include <cmath>
#include <numbers>

namespace octavo {

std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  // Multipliers and Weyl increments from the paper.
  constexpr std::uint64_t kM0 = 0xD2511F53;
  constexpr std::uint64_t kM1 = 0xCD9E8D57;
  constexpr std::uint32_t kW0 = 0x9E3779B9;
  constexpr std::uint32_t kW1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kM0 * counter[0];
    const std::uint64_t p1 = kM1 * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += kW0;
    key[1] += kW1;
  }
  return counter;
}

// The seed, with the purpose mixed into its high word by an odd constant (the golden ratio).
std::array<std::uint32_t, 2> RandomKey(std::uint64_t seed, RandomPurpose purpose) {
  const std::uint64_t mixed = seed ^ (static_cast<std::uint64_t>(purpose) * 0x9E3779B97F4A7C15ULL);
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

RandomStream::RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint32_t a, std::uint64_t b)
    : key_(RandomKey(seed, purpose)),
      counter_{0, a, static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b >> 32)} {}

std::uint32_t RandomStream::Next32() {
  if (used_ == block_.size()) {
    block_ = Philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

std::uint64_t RandomStream::Next64() {
  const std::uint64_t low = Next32();
  return low | (static_cast<std::uint64_t>(Next32()) << 32);
}

std::uint64_t RandomStream::Below(std::uint64_t bound) {
  unsigned __int128 product = static_cast<unsigned __int128>(Next64()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<unsigned __int128>(Next64()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

float RandomStream::NextFloat() { return static_cast<float>(Next32() >> 8) * 0x1.0p-24F; }

float RandomStream::NextNormal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double u = (static_cast<double>(Next32()) + 0.5) * 0x1.0p-32;  // in (0, 1), so that its logarithm is finite
  const double v = static_cast<double>(Next32()) * 0x1.0p-32;
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = 2.0 * std::numbers::pi * v;
  spare_normal_ = static_cast<float>(radius * std::sin(angle));
  has_spare_normal_ = true;
  return static_cast<float>(radius * std::cos(angle));
}

}  // namespace octavo
