#include "io/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

absl::StatusOr<ScratchFolder> ScratchFolder::Make(const std::filesystem::path& parent, std::string_view name) {
  std::string path = (parent / fmt::format(".{}-XXXXXX", name)).string();
  if (::mkdtemp(path.data()) == nullptr) return ErrnoError(path, errno);
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace octavo
