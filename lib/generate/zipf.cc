#include "generate/zipf.h"

#include <bit>

namespace octavo {
namespace {

// Returns 1/m + 1/(m + 1) + ... + 1/(2m - 1) for m = 2^k. Uses only sums, products and quotients, which round the same
// on every platform; a library's logarithm may not.
double OctaveWeight(unsigned k) {
  const double m = static_cast<double>(std::uint64_t{1} << k);
  if (k >= 10) {
    // ln 2 + 1/(4m) + 1/(16 m^2), from H(n - 1) = ln n + gamma - 1/(2n) - 1/(12 n^2); the next term is below 1e-13.
    constexpr double kLn2 = 0.69314718055994530942;
    return kLn2 + 0.25 / m + 0.0625 / (m * m);
  }
  double sum = 0;
  for (double i = 2 * m - 1; i >= m; i -= 1) sum += 1 / i;
  return sum;
}

}  // namespace

Zipf::Zipf(std::uint64_t count) : count_(count) {
  const auto octaves = static_cast<unsigned>(std::bit_width(count));
  double all = 0;
  for (unsigned k = 0; k < octaves; ++k) all += OctaveWeight(k);
  double sum = 0;
  for (unsigned k = 0; k < octaves; ++k) {
    sum += OctaveWeight(k);
    ends_.push_back(static_cast<std::uint64_t>(sum / all * 0x1.0p32));
  }
  ends_.back() = std::uint64_t{1} << 32;
}

std::uint64_t Zipf::Draw(RandomStream& random) const {
  while (true) {
    const std::uint32_t place = random.Next32();
    unsigned octave = 0;
    while (place >= ends_[octave]) ++octave;
    const std::uint64_t first = std::uint64_t{1} << octave;
    // Within the octave: draw uniformly and accept with probability first / number.
    std::uint64_t number = 0;
    unsigned __int128 chance = 0;
    do {
      number = first + ((octave > 32 ? random.Next64() : random.Next32()) & (first - 1));
      chance = (static_cast<unsigned __int128>(random.Next32()) * number) >> 32;
    } while (chance >= first);
    // The last octave may reach past the end. A number from there starts over, so that the other numbers keep their
    // shares.
    if (number <= count_) return number - 1;
  }
}

}  // namespace octavo
