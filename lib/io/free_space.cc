#include "io/free_space.h"

#include <system_error>

namespace octavo {

std::optional<std::uint64_t> FreeBytes(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error || space.capacity == 0) return std::nullopt;
  return space.available;
}

}  // namespace octavo
