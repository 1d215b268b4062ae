#include "io/resolved_path.h"

#include <system_error>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

namespace fs = std::filesystem;

absl::StatusOr<fs::path> ResolvedPath(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path resolved;
  if (!error) resolved = fs::weakly_canonical(absolute, error);
  if (error == std::errc::no_such_file_or_directory && !absolute.empty()) return absolute.lexically_normal();
  if (error) return ErrnoError(fmt::format("{}: resolve", path.string()), error.value());
  return resolved;
}

}  // namespace octavo
