// Floats that begin at a cache line. Large arrays of std::vector do not: there each vector or tile row of 64 bytes
// touches two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace octavo {

template <typename Value>
struct CacheLineAllocator {
  using value_type = Value;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <typename Other>
  CacheLineAllocator(const CacheLineAllocator<Other>&) {}  // NOLINT: allocators convert

  Value* allocate(std::size_t count) { return static_cast<Value*>(::operator new(count * sizeof(Value), kAlignment)); }
  void deallocate(Value* values, std::size_t) { ::operator delete(values, kAlignment); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;

}  // namespace octavo
