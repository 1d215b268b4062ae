#include "io/write_behind.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

// Pages of the file that are cached; empty where the file system has no cache of its own (tmpfs).
std::size_t CachedPages(const File& file) {
  const std::size_t size = file.Size().value();
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  EXPECT_NE(data, MAP_FAILED);
  std::vector<unsigned char> pages((size + 4095) / 4096);
  EXPECT_EQ(::mincore(data, size, pages.data()), 0);
  ::munmap(data, size);
  std::size_t cached = 0;
  for (const unsigned char page : pages) cached += page & 1U;
  return cached;
}

TEST(WriteBehind, KeepsTwoWindowsOfAFileCachedAndThenNone) {
  TemporaryFolder folder("/var/tmp");
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  const std::vector<std::byte> piece(std::size_t{64} << 10, std::byte{1});
  WriteBehind behind(std::uint64_t{256} << 10);
  std::size_t most = 0;
  for (std::uint64_t end = 0; end < std::uint64_t{8} << 20;) {
    ASSERT_OK(file.WriteAt(end, piece));
    end += piece.size();
    ASSERT_OK(behind.Advance(file, end));
    most = std::max(most, CachedPages(file));
  }
  const bool tmpfs = most == 2048;
  if (tmpfs) GTEST_SKIP() << "NOT TESTED: /var/tmp is in memory itself";
  EXPECT_LE(most, 3U * 64);
  ASSERT_OK(behind.Finish(file, std::uint64_t{8} << 20));
  EXPECT_EQ(CachedPages(file), 0U);
  std::vector<std::byte> back(piece.size());
  ASSERT_OK(file.ReadAt(1000, back));
  EXPECT_EQ(back, piece);
}

TEST(WriteBehind, ErrorsOfTheDeviceComeBack) {
  TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  const std::vector<std::byte> piece(8192);
  ASSERT_OK(file.WriteAt(0, piece));
  WriteBehind behind(4096);
  ASSERT_OK(SetFailpoints("file.flush=enospc"));
  EXPECT_ERROR(behind.Advance(file, 8192), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints("file.flush=enospc"));
  EXPECT_ERROR(behind.Finish(file, 8192), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
