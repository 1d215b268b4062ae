#include "parse/input_paths.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

absl::StatusOr<std::vector<std::string>> ExpandPath(const std::string& path) {
  std::error_code error;
  const auto kind = std::filesystem::symlink_status(path, error).type();
  const bool is_there = kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::none;
  if (path == "-" || is_there || path.find_first_of("*?[") == std::string::npos) return std::vector{path};
  ::glob_t found{};
  const int failure = ::glob(path.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  const std::unique_ptr<::glob_t, decltype(&::globfree)> owner(&found, &::globfree);
  if (failure == GLOB_NOMATCH) {
    return UsageError(fmt::format("{}: no such file, and no file matches it as a pattern", path));
  }
  if (failure != 0) {
    return ErrnoError(fmt::format("expand {}", path), failure == GLOB_NOSPACE ? ENOMEM : errno);
  }
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::ranges::sort(paths);
  return paths;
}

}  // namespace octavo
