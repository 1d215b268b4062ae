#include "io/scratch_folder.h"

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

// Whether `suffix` is `PID-XXXXXX` and no process uses the folder.
bool IsAbandonedName(const fs::path& path, std::string_view suffix) {
  pid_t pid = 0;
  const char* const last = suffix.data() + suffix.size();
  const std::from_chars_result number = std::from_chars(suffix.data(), last, pid);
  if (number.ec != std::errc() || last - number.ptr != 7 || *number.ptr != '-') return false;
  return IsAbandoned(path, pid);
}

void RemoveAbandoned(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || entry.symlink_status(ignored).type() != fs::file_type::directory) continue;
    if (IsAbandonedName(entry.path(), std::string_view(name).substr(prefix.size()))) found.push_back(entry.path());
  }
  for (const fs::path& path : found) {
    const PathLock lock(path);  // its maker may have taken it meanwhile
    if (lock.HoldsOn(path)) fs::remove_all(path, ignored);
  }
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
