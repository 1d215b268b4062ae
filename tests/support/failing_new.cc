// Loaded into a program by LD_PRELOAD: its n-th operator new, n being OCTAVO_FAIL_NEW, fails with std::bad_alloc, and
// the later ones succeed. Counts from the program's first call of signal(), which octavo makes as soon as it can catch
// exceptions. When the n-th is reached, writes one byte to the file that OCTAVO_FAIL_NEW_LOG names.

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting = false;
std::atomic<std::uint64_t> count = 0;

std::uint64_t FailingNumber() {
  static const char* const text = std::getenv("OCTAVO_FAIL_NEW");
  static const std::uint64_t number = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  return number;
}

bool Fails() {
  if (!counting.load(std::memory_order_relaxed) || ++count != FailingNumber()) return false;
  if (const char* const path = std::getenv("OCTAVO_FAIL_NEW_LOG"); path != nullptr) {
    const int descriptor = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    [[maybe_unused]] const ssize_t put = ::write(descriptor, "x", 1);
    ::close(descriptor);
  }
  return true;
}

void* Allocate(std::size_t bytes) { return Fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes); }

void* Allocate(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return Fails() ? nullptr : std::aligned_alloc(step, (bytes + step) / step * step);
}

template <typename... Arguments>
void* AllocateOrThrow(Arguments... arguments) {
  if (void* const memory = Allocate(arguments...); memory != nullptr) return memory;
  throw std::bad_alloc();
}

}  // namespace

extern "C" sighandler_t signal(int number, sighandler_t handler) noexcept {
  counting.store(true, std::memory_order_relaxed);
  using Function = sighandler_t (*)(int, sighandler_t);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "signal"));
  return next(number, handler);
}

void* operator new(std::size_t bytes) { return AllocateOrThrow(bytes); }
void* operator new[](std::size_t bytes) { return AllocateOrThrow(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return AllocateOrThrow(bytes, alignment); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return AllocateOrThrow(bytes, alignment); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
