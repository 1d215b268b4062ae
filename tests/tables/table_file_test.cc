#include "tables/table_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

std::uint64_t AllocatedBytes(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

TEST(TableFile, CreatesAWholeNpyFileOfZeros) {
  const TemporaryFolder folder;
  for (const std::uint64_t columns : {0U, 1U, 7U, 100U}) {
    const NpyShape shape{.rows = 1500, .columns = columns};
    ASSERT_OK(CreateTableFile(folder / "t.npy", shape));
    const std::string bytes = FileBytes(folder / "t.npy");
    ASSERT_EQ(bytes.size(), 4096 + 1500 * columns * 4);
    EXPECT_EQ(bytes.find_first_not_of('\0', 4096), std::string::npos);
    EXPECT_EQ(bytes.substr(1, 5), "NUMPY");
    ASSERT_OK_AND_ASSIGN(const NpyShape found, ReadTableShape(folder / "t.npy"));
    EXPECT_EQ(found, shape);
    EXPECT_OK(OpenTableFile(folder / "t.npy", shape, /*writable=*/true));
  }
}

TEST(TableFile, SpaceIsSetAsideSoThatAFileIsNeverSparse) {
  const TemporaryFolder folder;
  ASSERT_OK(CreateTableFile(folder / "t.npy", {.rows = 1 << 16, .columns = 16}));
  EXPECT_GE(AllocatedBytes(folder / "t.npy"), std::uint64_t{4} << 20);
}

TEST(TableFile, CreatingReplacesWhatWasThere) {
  const TemporaryFolder folder;
  WriteFileBytes(folder / "t.npy", std::string(100000, 'x'));
  ASSERT_OK(CreateTableFile(folder / "t.npy", {.rows = 10, .columns = 2}));
  const std::string bytes = FileBytes(folder / "t.npy");
  ASSERT_EQ(bytes.size(), 4096U + 80U);
  EXPECT_EQ(bytes.find_first_not_of('\0', 4096), std::string::npos);
}

TEST(TableFile, AnotherDimensionIsRefusedAndNothingIsTruncated) {
  const TemporaryFolder folder;
  ASSERT_OK(CreateTableFile(folder / "t.npy", {.rows = 100, .columns = 8}));
  FlipByte(folder / "t.npy", 4096);  // data
  const std::string before = FileBytes(folder / "t.npy");
  EXPECT_ERROR(OpenTableFile(folder / "t.npy", {.rows = 50, .columns = 8}, true), kCorrupt,
               "shape (100, 8); expected (50, 8)");
  EXPECT_ERROR(OpenTableFile(folder / "t.npy", {.rows = 100, .columns = 4}, true), kCorrupt, "t.npy");
  EXPECT_ERROR(OpenTableFile(folder / "t.npy", {.rows = 200, .columns = 4}, true), kCorrupt, "t.npy");
  EXPECT_EQ(FileBytes(folder / "t.npy"), before);
}

TEST(TableFile, TruncatedAndEnlargedFilesAreRefused) {
  const TemporaryFolder folder;
  const NpyShape shape{.rows = 100, .columns = 3};
  ASSERT_OK(CreateTableFile(folder / "t.npy", shape));
  const std::string whole = FileBytes(folder / "t.npy");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    WriteFileBytes(folder / "t.npy", whole.substr(0, size));
    EXPECT_ERROR(OpenTableFile(folder / "t.npy", shape, false), kCorrupt, "t.npy");
  }
  WriteFileBytes(folder / "t.npy", whole + "x");
  EXPECT_ERROR(OpenTableFile(folder / "t.npy", shape, false), kCorrupt, "expected 5296");
}

TEST(TableFile, EveryHarmedHeaderByteIsRefusedOrHarmless) {
  const TemporaryFolder folder;
  const NpyShape shape{.rows = 1024, .columns = 5};
  ASSERT_OK(CreateTableFile(folder / "t.npy", shape));
  const std::string whole = FileBytes(folder / "t.npy");
  for (std::uint64_t byte = 0; byte < 128; ++byte) {
    FlipByte(folder / "t.npy", byte);
    const absl::StatusOr<NpyShape> found = ReadTableShape(folder / "t.npy");
    // A header that still parses as this shape is not an error.
    EXPECT_TRUE(!found.ok() || *found == shape) << byte;
    FlipByte(folder / "t.npy", byte);
  }
  EXPECT_EQ(FileBytes(folder / "t.npy"), whole);
}

TEST(TableFile, ForeignAndMissingFilesAreCorruptErrors) {
  const TemporaryFolder folder;
  EXPECT_ERROR(OpenTableFile(folder / "none.npy", {.rows = 1, .columns = 1}, false), kCorrupt, "none.npy");
  WriteFileBytes(folder / "foreign.npy", std::string(5000, 'x'));
  EXPECT_ERROR(OpenTableFile(folder / "foreign.npy", {.rows = 226, .columns = 1}, false), kCorrupt, ".npy");
}

TEST(TableFile, SizesThatOverflowAreErrors) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  for (const NpyShape& shape : {NpyShape{kMax, 2}, NpyShape{std::uint64_t{1} << 62, 4}, NpyShape{kMax / 4, 1},
                                NpyShape{std::uint64_t{1} << 32, std::uint64_t{1} << 32}}) {
    EXPECT_ERROR(CreateTableFile(folder / "t.npy", shape), kUsage, "too large");
    EXPECT_FALSE(fs::exists(folder / "t.npy"));
  }
}

// A sparse file would be created without an error, and a full disk would raise SIGBUS in the training.
TEST(TableFile, FullDiskIsAnErrorAtOnceAndLeavesNothing) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder / "disk", std::uint64_t{1} << 20);
  if (!disk.mounted()) return;
  EXPECT_ERROR(CreateTableFile(disk.folder() / "t.npy", {.rows = 1 << 20, .columns = 4}), kRuntime, "t.npy");
  EXPECT_FALSE(fs::exists(disk.folder() / "t.npy"));
  EXPECT_OK(CreateTableFile(disk.folder() / "t.npy", {.rows = 1 << 14, .columns = 4}));
}

TEST(TableFile, FileSizeLimitIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  const ChildEnd end = RunChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto made = CreateTableFile(folder / "t.npy", {.rows = 1 << 20, .columns = 4});
    return made.ok() ? 1 : fs::exists(folder / "t.npy") ? 2 : 0;
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, 0);
}

TEST(TableFile, InjectedErrorsLeaveNothing) {
  const TemporaryFolder folder;
  for (const std::string point : {"file.allocate=enospc", "file.write=eio", "file.open=eio"}) {
    ASSERT_OK(SetFailpoints(point));
    EXPECT_ERROR(CreateTableFile(folder / "t.npy", {.rows = 8, .columns = 4}), kRuntime, "failpoint");
    ASSERT_OK(SetFailpoints(""));
    EXPECT_FALSE(fs::exists(folder / "t.npy")) << point;
  }
}

}  // namespace
}  // namespace octavo
