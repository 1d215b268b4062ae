#include "io/atomic_file.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "io/file.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInfix = ".partial-";

absl::Status FolderError(const fs::path& path, std::string_view operation, const std::error_code& error) {
  return RuntimeError(fmt::format("{}: {}: {}", path.string(), operation, error.message()));
}

fs::path ParentOf(const fs::path& path) { return path.parent_path().empty() ? fs::path(".") : path.parent_path(); }

// Removes temporary folders of the same final name whose process is gone.
void RemoveLeftovers(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string_view digits = std::string_view(name).substr(prefix.size());
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
    if (error != std::errc() || end != digits.data() + digits.size()) continue;
    if (::kill(pid, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

absl::StatusOr<AtomicFolder> AtomicFolder::Create(const fs::path& final_path, bool overwrite) {
  fs::path target = final_path;
  if (!target.has_filename()) target = target.parent_path();  // "graph/" means "graph"
  if (target.empty()) return UsageError("an output folder needs a name");
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (fs::exists(status)) {
    if (!fs::is_directory(status)) return UsageError(fmt::format("{}: exists and is not a folder", target.string()));
    if (!overwrite && !fs::is_empty(target, error)) {
      return UsageError(fmt::format("{}: exists already; choose another folder or say --overwrite", target.string()));
    }
  }
  const fs::path parent = ParentOf(target);
  fs::create_directories(parent, error);
  if (error) return FolderError(parent, "create", error);
  const std::string prefix = fmt::format(".{}{}", target.filename().string(), kInfix);
  RemoveLeftovers(parent, prefix);
  fs::path temporary = parent / fmt::format("{}{}", prefix, ::getpid());
  fs::remove_all(temporary, error);
  fs::create_directory(temporary, error);
  if (error) return FolderError(temporary, "create", error);
  return AtomicFolder(std::move(temporary), std::move(target), overwrite);
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : temporary_(std::exchange(other.temporary_, {})), final_(std::move(other.final_)), overwrite_(other.overwrite_) {}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

absl::Status AtomicFolder::Commit() {
  RETURN_IF_ERROR(Failpoint("folder.commit"));
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary_, error)) {
    ASSIGN_OR_RETURN(File file, File::OpenReadWrite(entry.path()));
    RETURN_IF_ERROR(file.Sync());
    RETURN_IF_ERROR(file.Close());
  }
  if (error) return FolderError(temporary_, "list", error);
  RETURN_IF_ERROR(SyncFolder(temporary_));
  fs::path old;
  if (overwrite_ && fs::exists(final_, error)) {
    old = temporary_;
    old += ".old";
    fs::rename(final_, old, error);
    if (error) return FolderError(final_, "rename", error);
  }
  fs::rename(temporary_, final_, error);
  if (error) {
    const absl::Status status = FolderError(temporary_, "rename", error);
    std::error_code ignored;
    if (!old.empty()) fs::rename(old, final_, ignored);
    return status;
  }
  temporary_.clear();
  RETURN_IF_ERROR(SyncFolder(ParentOf(final_)));
  if (!old.empty()) fs::remove_all(old, error);
  return absl::OkStatus();
}

}  // namespace octavo
