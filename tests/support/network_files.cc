// A library for LD_PRELOAD that makes every file system as poor as some network and user-space ones: two names cannot
// be exchanged, a folder cannot be synced alone, the size is not known, O_DIRECT is refused, and a removed file stays
// in its folder under another name (.nfs...) while this process has it open. With OCTAVO_NO_LOCKS=1 flock fails, too.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

namespace {

namespace fs = std::filesystem;

std::mutex mutex;
std::map<ino_t, std::string> removed;  // files that are still open, and their new names

template <typename Function>
Function* Next(Function* /*type*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// How many descriptors of this process are of that file.
int Descriptors(const struct stat& file) {
  int found = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", error)) {
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) != 0) continue;
    if (info.st_ino == file.st_ino && info.st_dev == file.st_dev) ++found;
  }
  return found;
}

}  // namespace

#define OCTAVO_EXPORT extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
OCTAVO_EXPORT int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  static const auto next = Next(&::renameat2, "renameat2");
  if (flags == 0) return next(a, from, b, to, flags);
  errno = EINVAL;
  return -1;
}

OCTAVO_EXPORT int fsync(int descriptor) {
  static const auto next = Next(&::fsync, "fsync");
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISDIR(info.st_mode)) return next(descriptor);
  errno = EINVAL;
  return -1;
}

OCTAVO_EXPORT int flock(int descriptor, int operation) noexcept {
  static const auto next = Next(&::flock, "flock");
  if (std::getenv("OCTAVO_NO_LOCKS") == nullptr) return next(descriptor, operation);
  errno = ENOLCK;
  return -1;
}

OCTAVO_EXPORT int statvfs(const char* path, struct statvfs* info) noexcept {
  static const auto next = Next(&::statvfs, "statvfs");
  const int result = next(path, info);
  info->f_blocks = info->f_bfree = info->f_bavail = 0;
  return result;
}

OCTAVO_EXPORT int open(const char* path, int flags, ...) {
  static const auto next = Next(static_cast<int (*)(const char*, int, ...)>(nullptr), "open");
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  if ((flags & O_DIRECT) == 0) return next(path, flags, mode);
  errno = EINVAL;
  return -1;
}

OCTAVO_EXPORT int unlink(const char* path) noexcept {
  static const auto next = Next(&::unlink, "unlink");
  const std::lock_guard lock(mutex);
  struct stat info {};
  if (::lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || Descriptors(info) == 0) return next(path);
  const std::string hidden = fs::path(path).parent_path() / (".nfs" + std::to_string(info.st_ino));
  const int result = ::rename(path, hidden.c_str());
  if (result == 0) removed[info.st_ino] = fs::absolute(hidden);
  return result;
}

OCTAVO_EXPORT int close(int descriptor) {
  static const auto next = Next(&::close, "close");
  static const auto really_unlink = Next(&::unlink, "unlink");
  struct stat info {};
  const bool known = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  const int result = next(descriptor);
  const int error = errno;
  const std::lock_guard lock(mutex);
  const auto found = known ? removed.find(info.st_ino) : removed.end();
  if (found != removed.end() && Descriptors(info) == 0) {
    really_unlink(found->second.c_str());
    removed.erase(found);
  }
  errno = error;
  return result;
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
