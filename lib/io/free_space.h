// How much room a disk has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace octavo {

// Returns how many bytes this user can still write to the file system of `folder`. Empty if it does not say: some
// network and user-space file systems report a size of 0.
std::optional<std::uint64_t> FreeBytes(const std::filesystem::path& folder);

}  // namespace octavo
