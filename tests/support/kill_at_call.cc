// A library for LD_PRELOAD that kills the process just before its n-th call that changes files: n is OCTAVO_KILL_AT,
// counted from 1. At the end of the process it writes the number of such calls to the file OCTAVO_KILL_COUNT. A call
// that changes files makes, removes, renames, truncates, allocates, writes or syncs one. For tests that must find any
// order of calls that a kill makes harmful, without failpoints at the right places.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<long> calls{0};

long KillAt() {
  static const long at = [] {
    const char* text = std::getenv("OCTAVO_KILL_AT");
    return text == nullptr ? 0 : std::atol(text);
  }();
  return at;
}

void Count() {
  if (calls.fetch_add(1) + 1 == KillAt()) {
    ::kill(::getpid(), SIGKILL);
    ::pause();
  }
}

template <typename Function>
Function* Next(Function* /*type*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Only a regular file: output and logs go to pipes and terminals.
bool IsFile(int descriptor) {
  struct stat info {};
  return ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

__attribute__((destructor)) void WriteCount() {
  const char* path = std::getenv("OCTAVO_KILL_COUNT");
  if (path == nullptr) return;
  if (std::FILE* file = std::fopen(path, "w")) {
    std::fprintf(file, "%ld\n", calls.load());
    std::fclose(file);
  }
}

}  // namespace

// The same definition for each function: count, then call the next one of its name.
#define OCTAVO_COUNTED(result, name, parameters, arguments)                           \
  extern "C" __attribute__((visibility("default"))) result name parameters {          \
    static const auto next = Next(static_cast<result(*) parameters>(nullptr), #name); \
    Count();                                                                          \
    return next arguments;                                                            \
  }

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
OCTAVO_COUNTED(int, rename, (const char* from, const char* to), (from, to))
OCTAVO_COUNTED(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags),
               (a, from, b, to, flags))
OCTAVO_COUNTED(int, unlink, (const char* path), (path))
OCTAVO_COUNTED(int, rmdir, (const char* path), (path))
OCTAVO_COUNTED(int, mkdir, (const char* path, mode_t mode), (path, mode))
OCTAVO_COUNTED(int, remove, (const char* path), (path))
OCTAVO_COUNTED(int, fsync, (int descriptor), (descriptor))
OCTAVO_COUNTED(int, fdatasync, (int descriptor), (descriptor))
OCTAVO_COUNTED(int, ftruncate, (int descriptor, off_t size), (descriptor, size))
OCTAVO_COUNTED(int, posix_fallocate, (int descriptor, off_t offset, off_t size), (descriptor, offset, size))
OCTAVO_COUNTED(ssize_t, pwrite, (int descriptor, const void* bytes, size_t size, off_t offset),
               (descriptor, bytes, size, offset))
OCTAVO_COUNTED(ssize_t, pwrite64, (int descriptor, const void* bytes, size_t size, off64_t offset),
               (descriptor, bytes, size, offset))
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

extern "C" __attribute__((visibility("default"))) ssize_t write(int descriptor, const void* bytes, size_t size) {
  static const auto next = Next(static_cast<ssize_t (*)(int, const void*, size_t)>(nullptr), "write");
  if (IsFile(descriptor)) Count();
  return next(descriptor, bytes, size);
}

extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  static const auto next = Next(static_cast<int (*)(const char*, int, ...)>(nullptr), "open");
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
    Count();
  }
  return next(path, flags, mode);
}
