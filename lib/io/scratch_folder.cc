#include "io/scratch_folder.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Whether `suffix` is `PID-XXXXXX` and no process uses the folder. The process number alone is not enough, because the
// process may live in another container; nor is the lock, because the maker may not have taken it yet.
bool IsAbandoned(const fs::path& path, std::string_view suffix) {
  pid_t pid = 0;
  const char* const last = suffix.data() + suffix.size();
  const std::from_chars_result number = std::from_chars(suffix.data(), last, pid);
  if (number.ec != std::errc() || last - number.ptr != 7 || *number.ptr != '-') return false;
  const bool gone = pid == ::getpid() || (::kill(pid, 0) != 0 && errno == ESRCH);
  return gone && PathLock(path).held();
}

void RemoveAbandoned(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || entry.symlink_status(ignored).type() != fs::file_type::directory) continue;
    if (IsAbandoned(entry.path(), std::string_view(name).substr(prefix.size()))) found.push_back(entry.path());
  }
  for (const fs::path& path : found) fs::remove_all(path, ignored);
}

}  // namespace

absl::StatusOr<ScratchFolder> ScratchFolder::Make(const fs::path& parent, std::string_view name) {
  const std::string prefix = fmt::format(".{}-", name);
  RemoveAbandoned(parent, prefix);
  while (true) {
    std::string path = (parent / fmt::format("{}{}-XXXXXX", prefix, ::getpid())).string();
    if (::mkdtemp(path.data()) == nullptr) return ErrnoError(path, errno);
    PathLock lock(path);
    // Before it was locked, a process in another container may have taken it for an abandoned one.
    if (lock.unsupported() || lock.HoldsOn(path)) return ScratchFolder(path, std::move(lock));
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace octavo
