// How much of a file is in the page cache.
#pragma once

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "gtest/gtest.h"
#include "io/file.h"

namespace octavo {

inline std::uint64_t CachedBytes(const std::filesystem::path& path) {
  const absl::StatusOr<File> file = File::OpenRead(path);
  const std::uint64_t size = file.ok() ? *file->Size() : 0;
  if (size == 0) return 0;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file->descriptor(), 0);
  std::vector<unsigned char> pages((size + page - 1) / page);
  EXPECT_EQ(::mincore(data, size, pages.data()), 0);
  ::munmap(data, size);
  return page * static_cast<std::uint64_t>(std::count_if(pages.begin(), pages.end(),
                                                         [](unsigned char resident) { return (resident & 1) != 0; }));
}

// Writes the file out, which is required before any of it can leave the cache.
inline void SyncFile(const std::filesystem::path& path) {
  absl::StatusOr<File> file = File::OpenReadWrite(path);
  ASSERT_TRUE(file.ok() && file->Sync().ok());
}

// A folder in memory has no cache to leave.
inline bool IsOnDisk(const std::filesystem::path& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 && info.f_type != TMPFS_MAGIC && info.f_type != RAMFS_MAGIC;
}

}  // namespace octavo

// Ends the test as skipped if the page cache cannot be observed.
#define OCTAVO_REQUIRE_DISK(path) \
  if (!::octavo::IsOnDisk(path)) GTEST_SKIP() << (path) << " is in memory: nothing leaves its cache"
