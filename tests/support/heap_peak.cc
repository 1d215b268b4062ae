#include "tests/support/heap_peak.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Relaxed: they are read after the threads that allocate are done.
std::atomic<std::int64_t> held = 0;
std::atomic<std::int64_t> most = 0;

[[maybe_unused]] void Count(std::int64_t bytes) {
  const std::int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t before = most.load(std::memory_order_relaxed);
  while (before < now && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

// The others of the standard library call these. The thread sanitizer of clang has its own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OCTAVO_KEEPS_OPERATOR_NEW
#endif
#endif
#ifndef OCTAVO_KEEPS_OPERATOR_NEW
void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  Count(static_cast<std::int64_t>(::malloc_usable_size(memory)));
  return memory;
}
void operator delete(void* memory) noexcept {
  Count(-static_cast<std::int64_t>(::malloc_usable_size(memory)));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (std::max(bytes, std::size_t{1}) + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  Count(static_cast<std::int64_t>(::malloc_usable_size(memory)));
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { operator delete(memory); }
#endif

namespace octavo {

HeapPeak::HeapPeak() : before_(held.load(std::memory_order_relaxed)) { most.store(before_, std::memory_order_relaxed); }

std::uint64_t HeapPeak::bytes() const {
  return static_cast<std::uint64_t>(most.load(std::memory_order_relaxed) - before_);
}

}  // namespace octavo
