#include "io/link_check.h"

#include <system_error>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

absl::Status CheckNoLink(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) return absl::OkStatus();
  return CorruptError(fmt::format("{}: is a symbolic link; expected a folder: remove the link", path.string()));
}

}  // namespace octavo
