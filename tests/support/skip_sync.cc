// A library for LD_PRELOAD that leaves out syncs: fdatasync and fsync of a file whose name, without its folder, matches
// one of the patterns in OCTAVO_SKIP_SYNC (as of fnmatch, separated by colons) return 0 and do nothing. For tests that
// must notice a missing sync.
#include <fnmatch.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::string NameOf(int descriptor) {
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, 4096> target{};
  const ssize_t size = ::readlink(self.c_str(), target.data(), target.size());
  if (size <= 0) return "";
  const std::string_view path(target.data(), static_cast<std::size_t>(size));
  return std::string(path.substr(path.rfind('/') + 1));
}

bool IsSkipped(int descriptor) {
  const char* patterns = std::getenv("OCTAVO_SKIP_SYNC");
  if (patterns == nullptr) return false;
  const int kept_errno = errno;
  const std::string name = NameOf(descriptor);
  errno = kept_errno;
  std::string_view rest(patterns);
  while (!rest.empty()) {
    const std::string pattern(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(pattern.size() + 1, rest.size()));
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  }
  return false;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int fdatasync(int descriptor) {
  return IsSkipped(descriptor) ? 0 : static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

extern "C" __attribute__((visibility("default"))) int fsync(int descriptor) {
  return IsSkipped(descriptor) ? 0 : static_cast<int>(::syscall(SYS_fsync, descriptor));
}
