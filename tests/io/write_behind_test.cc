#include "io/write_behind.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(WriteBehind, KeepsTwoWindowsOfAFileCachedAndThenNone) {
  TemporaryFolder folder("/var/tmp");
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  OCTAVO_REQUIRE_DISK(folder.path());
  const std::vector<std::byte> piece(std::size_t{64} << 10, std::byte{1});
  WriteBehind write_behind(std::uint64_t{256} << 10);
  std::uint64_t most = 0;
  for (std::uint64_t end = 0; end < std::uint64_t{8} << 20;) {
    ASSERT_OK(file.WriteAt(end, piece));
    end += piece.size();
    ASSERT_OK(write_behind.Advance(file, end));
    most = std::max(most, CachedBytes(folder / "file"));
  }
  EXPECT_LE(most, std::uint64_t{3} * 256 << 10);
  ASSERT_OK(write_behind.Finish(file, std::uint64_t{8} << 20));
  EXPECT_EQ(CachedBytes(folder / "file"), 0U);
  std::vector<std::byte> back(piece.size());
  ASSERT_OK(file.ReadAt(1000, back));
  EXPECT_EQ(back, piece);
}

// A page in which a window ended was written with that window, and again when it was full.
TEST(WriteBehind, WritesPagesOnceThatWindowsEndIn) {
  TemporaryFolder folder("/var/tmp");
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  OCTAVO_REQUIRE_DISK(folder.path());
  constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;
  const auto written = [] {  // by this process, counted as pages become dirty
    std::ifstream io("/proc/self/io");
    std::uint64_t bytes = 0;
    for (std::string name; io >> name >> bytes && name != "write_bytes:";) {
    }
    return bytes;
  };
  const std::vector<std::byte> piece(1000, std::byte{1});
  WriteBehind write_behind(std::uint64_t{16} << 10);
  const std::uint64_t before = written();
  for (std::uint64_t end = 0; end < kBytes;) {
    ASSERT_OK(file.WriteAt(end, piece));
    end += piece.size();
    ASSERT_OK(write_behind.Advance(file, end));
  }
  if (written() == before) GTEST_SKIP() << "this kernel does not count what a process writes";
  EXPECT_LE(written() - before, kBytes / 16 * 17);
  EXPECT_GE(written() - before, kBytes);
}

// A page or folio that extended past the end of a window stayed cached for ever.
TEST(WriteBehind, LeavesNothingBetweenWindowsThatEndAnywhere) {
  TemporaryFolder folder("/var/tmp");
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  OCTAVO_REQUIRE_DISK(folder.path());
  const std::vector<std::byte> piece((std::size_t{1} << 20) + 12345, std::byte{1});
  WriteBehind write_behind;
  std::uint64_t end = 0;
  while (end < std::uint64_t{40} << 20) {
    ASSERT_OK(file.WriteAt(end, piece));
    end += piece.size();
    ASSERT_OK(write_behind.Advance(file, end));
  }
  EXPECT_LE(CachedBytes(folder / "file"), 3 * WriteBehind::kWindowBytes);
  ASSERT_OK(write_behind.Finish(file, end));
  EXPECT_EQ(CachedBytes(folder / "file"), 0U);
}

TEST(WriteBehind, GoesOnBehindAFinishWithinAPage) {
  TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  ASSERT_OK(file.WriteAt(0, std::vector<std::byte>(5100)));
  WriteBehind write_behind(4096);
  ASSERT_OK(write_behind.Finish(file, 5000));
  ASSERT_OK(SetFailpoints("file.flush=enospc"));
  EXPECT_OK(write_behind.Advance(file, 5100));  // no window is full
  ASSERT_OK(SetFailpoints(""));
}

TEST(WriteBehind, StartsToWriteAtHalfAWindowAndWaitsAtTwo) {
  constexpr std::uint64_t kHalf = std::uint64_t{16} << 10;
  TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  ASSERT_OK(file.WriteAt(0, std::vector<std::byte>(4 * kHalf)));
  WriteBehind write_behind(2 * kHalf);
  // A start makes one system call, a start with a wait two; a failpoint that is still armed has not been reached.
  ASSERT_OK(SetFailpoints("file.flush:1=enospc"));
  EXPECT_OK(write_behind.Advance(file, kHalf - 1));
  EXPECT_ERROR(write_behind.Advance(file, kHalf), kRuntime, "No space left");
  for (const std::uint64_t end : {kHalf, 2 * kHalf, 3 * kHalf}) {
    ASSERT_OK(SetFailpoints("file.flush:2=enospc"));
    EXPECT_OK(write_behind.Advance(file, end)) << end;
  }
  ASSERT_OK(SetFailpoints("file.flush:2=enospc"));
  EXPECT_ERROR(write_behind.Advance(file, 4 * kHalf), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

TEST(WriteBehind, ErrorsOfTheDeviceComeBack) {
  TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder / "file"));
  const std::vector<std::byte> piece(8192);
  ASSERT_OK(file.WriteAt(0, piece));
  WriteBehind write_behind(4096);
  ASSERT_OK(SetFailpoints("file.flush=enospc"));
  EXPECT_ERROR(write_behind.Advance(file, 8192), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints("file.flush=enospc"));
  EXPECT_ERROR(write_behind.Finish(file, 8192), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
