#include "tables/atomic_bitmap.h"

namespace octavo {

AtomicBitmap::AtomicBitmap(std::size_t bits) : bits_(bits), words_((bits + kWordBits - 1) / kWordBits) {}

std::uint64_t AtomicBitmap::MaskIn(std::size_t word, std::size_t begin, std::size_t end) {
  const std::size_t first = word * kWordBits;
  std::uint64_t mask = ~std::uint64_t{0};
  if (begin > first) mask &= ~std::uint64_t{0} << (begin - first);
  if (end < first + kWordBits) mask &= (std::uint64_t{1} << (end - first)) - 1;
  return mask;
}

void AtomicBitmap::Set(std::size_t bit) {
  const std::uint64_t mask = std::uint64_t{1} << (bit % kWordBits);
  std::atomic<std::uint64_t>& word = words_[bit / kWordBits];
  // Always a read-modify-write: testing first and writing only a clear bit would lose the bit if a drain came in
  // between. Release: a drain that sees the bit sees the row written before it.
  word.fetch_or(mask, std::memory_order_release);
}

bool AtomicBitmap::Test(std::size_t bit) const {
  return (words_[bit / kWordBits].load(std::memory_order_acquire) >> (bit % kWordBits) & 1) != 0;
}

void AtomicBitmap::SetRange(std::size_t begin, std::size_t end) {
  for (std::size_t word = begin / kWordBits; word * kWordBits < end; ++word) {
    words_[word].fetch_or(MaskIn(word, begin, end), std::memory_order_release);
  }
}

void AtomicBitmap::ClearRange(std::size_t begin, std::size_t end) {
  for (std::size_t word = begin / kWordBits; word * kWordBits < end; ++word) {
    words_[word].fetch_and(~MaskIn(word, begin, end), std::memory_order_acq_rel);
  }
}

bool AtomicBitmap::AnyInRange(std::size_t begin, std::size_t end) const {
  for (std::size_t word = begin / kWordBits; word * kWordBits < end; ++word) {
    if ((words_[word].load(std::memory_order_acquire) & MaskIn(word, begin, end)) != 0) return true;
  }
  return false;
}

}  // namespace octavo
