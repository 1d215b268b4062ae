// A fixed number of bits. Many threads may set them while one thread drains them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace octavo {

// Any thread may call any method. A bit set while the bitmap is drained is either in that drain or in the next one,
// never lost: draining takes each word by one atomic exchange. Testing a bit before setting it is safe only if no other
// thread can drain it meanwhile.
class AtomicBitmap {
 public:
  // All bits are clear.
  explicit AtomicBitmap(std::size_t bits);

  std::size_t size() const { return bits_; }

  // REQUIRES: bit < size()
  void Set(std::size_t bit);
  bool Test(std::size_t bit) const;

  // Sets or clears [begin, end). REQUIRES: begin <= end <= size()
  void SetRange(std::size_t begin, std::size_t end);
  void ClearRange(std::size_t begin, std::size_t end);
  bool AnyInRange(std::size_t begin, std::size_t end) const;

  // Clears [begin, end) and calls visit(bit) for each bit that was set, in ascending order.
  template <typename Visit>
  void Drain(std::size_t begin, std::size_t end, const Visit& visit) {
    for (std::size_t word = begin / kWordBits; word * kWordBits < end; ++word) {
      const std::uint64_t mask = MaskIn(word, begin, end);
      // A whole word is exchanged; of a partial one only the range's bits are taken. Acquire: whoever sees the bit
      // sees the row that was written before it was set.
      std::uint64_t taken = mask == ~std::uint64_t{0} ? words_[word].exchange(0, std::memory_order_acquire)
                                                      : words_[word].fetch_and(~mask, std::memory_order_acquire) & mask;
      while (taken != 0) {
        visit(word * kWordBits + static_cast<std::size_t>(__builtin_ctzll(taken)));
        taken &= taken - 1;
      }
    }
  }

 private:
  static constexpr std::size_t kWordBits = 64;
  // The bits of [begin, end) that lie in word `word`.
  static std::uint64_t MaskIn(std::size_t word, std::size_t begin, std::size_t end);

  std::size_t bits_;
  std::vector<std::atomic<std::uint64_t>> words_;
};

}  // namespace octavo
