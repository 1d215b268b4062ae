#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span<const char>(text)); }

class FileTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }
  TemporaryFolder folder_;
};

TEST_F(FileTest, ReadsBackWhatItWroteAtAnyOffset) {
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder_ / "a"));
  ASSERT_OK(file.WriteAt(3, Bytes("defg")));
  ASSERT_OK(file.WriteAt(0, Bytes("abc")));
  ASSERT_OK(file.Sync());
  EXPECT_EQ(*file.Size(), 7U);
  std::string text(4, ' ');
  ASSERT_OK(file.ReadAt(2, std::as_writable_bytes(std::span<char>(text))));
  EXPECT_EQ(text, "cdef");
  ASSERT_OK(file.Close());
  EXPECT_FALSE(file.is_open());
  ASSERT_OK(file.Close());
}

// Writing followed links: a folder from elsewhere could make a command overwrite any file.
TEST_F(FileTest, NothingIsWrittenThroughALink) {
  namespace fs = std::filesystem;
  WriteFileBytes(folder_ / "outside", "precious");
  fs::create_symlink(folder_ / "outside", folder_ / "link");
  EXPECT_ERROR(File::OpenReadWrite(folder_ / "link"), kCorrupt, "link: is a symbolic link; expected a file");
  EXPECT_ERROR(File::OpenOrCreate(folder_ / "link"), kCorrupt, "link: is a symbolic link");
  EXPECT_FALSE(File::CreateNew(folder_ / "link").ok());
  ASSERT_OK_AND_ASSIGN(File made, File::Create(folder_ / "link"));
  ASSERT_OK(made.WriteAt(0, Bytes("x")));
  EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
  for (const char* place : {"whole", "whole.partial"}) {
    fs::create_symlink(folder_ / "outside", folder_ / place);
    ASSERT_OK(WriteWholeFileAtomically(folder_ / "whole", "y"));
    EXPECT_EQ(FileBytes(folder_ / "whole"), "y");
  }
  fs::create_hard_link(folder_ / "outside", folder_ / "hard");
  ASSERT_OK(File::Create(folder_ / "hard"));
  EXPECT_EQ(FileBytes(folder_ / "outside"), "precious");
  EXPECT_ERROR(File::Create(folder_ / "."), kCorrupt, "is a folder; expected a file");
}

TEST_F(FileTest, AMissingFileIsAUsageError) {
  EXPECT_ERROR(File::OpenRead(folder_ / "none"), kUsage, "no such file");
  EXPECT_ERROR(File::OpenReadWrite(folder_ / "none"), kUsage, "no such file");
}

TEST_F(FileTest, AFileThatEndsTooEarlyIsCorrupt) {
  WriteFileBytes(folder_ / "a", "12345");
  ASSERT_OK_AND_ASSIGN(const File file, File::OpenRead(folder_ / "a"));
  std::string text(4, ' ');
  EXPECT_ERROR(file.ReadAt(2, std::as_writable_bytes(std::span<char>(text))), kCorrupt, "ends at byte 5");
}

TEST_F(FileTest, ErrorsNameThePathAndTheOperation) {
  WriteFileBytes(folder_ / "a", "12345");
  ASSERT_OK_AND_ASSIGN(File file, File::OpenRead(folder_ / "a"));
  EXPECT_ERROR(file.WriteAt(0, Bytes("x")), kRuntime, (folder_ / "a").string() + ": write");
  ASSERT_OK(SetFailpoints("file.sync=eio"));
  EXPECT_ERROR(file.Sync(), kRuntime, "Input/output error");
}

TEST_F(FileTest, MovesHandOverTheDescriptor) {
  ASSERT_OK_AND_ASSIGN(File a, File::Create(folder_ / "a"));
  const int descriptor = a.descriptor();
  File b = std::move(a);
  EXPECT_EQ(b.descriptor(), descriptor);
  EXPECT_FALSE(a.is_open());  // NOLINT: moved from, on purpose
  ASSERT_OK_AND_ASSIGN(File c, File::Create(folder_ / "c"));
  const int old = c.descriptor();
  c = std::move(b);
  EXPECT_EQ(c.descriptor(), descriptor);
  EXPECT_EQ(::fcntl(old, F_GETFD), -1);  // closed
}

TEST_F(FileTest, AllocateGrowsAndTruncateShrinks) {
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder_ / "a"));
  ASSERT_OK(file.Allocate(10000));
  EXPECT_EQ(*file.Size(), 10000U);
  ASSERT_OK(file.Allocate(100));  // never shrinks
  EXPECT_EQ(*file.Size(), 10000U);
  ASSERT_OK(file.Truncate(7));
  EXPECT_EQ(*file.Size(), 7U);
}

TEST_F(FileTest, ReadWholeFileHasALimit) {
  WriteFileBytes(folder_ / "a", "12345");
  EXPECT_EQ(*ReadWholeFile(folder_ / "a", 5), "12345");
  EXPECT_ERROR(ReadWholeFile(folder_ / "a", 4), kCorrupt, "5 bytes; expected at most 4");
}

TEST_F(FileTest, AtomicWriteReplacesAllOrNothing) {
  ASSERT_OK(WriteWholeFileAtomically(folder_ / "a", "old"));
  ASSERT_OK(WriteWholeFileAtomically(folder_ / "a", "new"));
  EXPECT_EQ(FileBytes(folder_ / "a"), "new");
  for (const char* failpoint : {"file.open=eio", "file.write=enospc", "file.sync=eio"}) {
    ASSERT_OK(SetFailpoints(failpoint));
    EXPECT_FALSE(WriteWholeFileAtomically(folder_ / "a", "newer").ok()) << failpoint;
    ASSERT_OK(SetFailpoints(""));
    EXPECT_EQ(FileBytes(folder_ / "a"), "new") << failpoint;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.partial")) << failpoint;
  }
}

// A resume on a failed disk reported that there is no run.
TEST_F(FileTest, WhatTheDiskCannotTellIsNotMissing) {
  WriteFileBytes(folder_ / "file", "x");
  std::filesystem::create_symlink("loop", folder_ / "loop");
  for (const auto& [name, there] : {std::pair("file", true), {"absent", false}, {"file/below", false}}) {
    ASSERT_OK_AND_ASSIGN(const bool found, FileExists(folder_ / name));
    EXPECT_EQ(found, there) << name;
  }
  EXPECT_ERROR(FileExists(folder_ / "loop"), kRuntime, "loop: stat: ");
}

// The folder of a new run was made without a sync of its parent: on a file system without an ordered journal, a power
// cut could remove it with everything committed in it.
TEST_F(FileTest, CreatedFoldersAreSyncedIntoTheOnesAbove) {
  ASSERT_OK(SetFailpoints("folder.sync:1=eio"));
  EXPECT_ERROR(CreateFolders(folder_ / "a" / "b"), kRuntime, "folder.sync");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a" / "b"));
  ASSERT_OK(SetFailpoints("folder.sync:2=eio"));
  EXPECT_ERROR(CreateFolders(folder_ / "c" / "d" / ""), kRuntime, "folder.sync");
  ASSERT_OK(SetFailpoints("folder.sync:1=eio"));
  EXPECT_OK(CreateFolders(folder_ / "c" / "d"));  // already exists
  EXPECT_OK(CreateFolders(""));
}

// Pieces of 1.5 MB of a file that is read in order, its head first: what has been read is not in the cache, whatever
// the size of the kernel's folios.
TEST_F(FileTest, DropBehindKeepsAFileThatIsReadInOrderOutOfTheCache) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  constexpr std::uint64_t kPiece = 1'562'112;
  constexpr std::uint64_t kPieces = 48;
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder_ / "a"));
  std::string piece(kPiece, 'x');
  for (std::uint64_t i = 0; i < kPieces; ++i) ASSERT_OK(file.WriteAt(i * kPiece, Bytes(piece)));
  ASSERT_OK(file.Sync());
  file.DropCache(0, 0);
  ASSERT_OK(file.ReadAt(0, std::as_writable_bytes(std::span<char>(piece).first(4096))));
  file.ReadNoFurther();
  for (std::uint64_t i = 0; i < kPieces; ++i) {
    ASSERT_OK(file.ReadAt(i * kPiece, std::as_writable_bytes(std::span<char>(piece))));
    EXPECT_EQ(piece.front(), 'x');
    file.DropBehind(i * kPiece, kPiece);
  }
  EXPECT_LT(CachedBytes(folder_ / "a"), kPieces * kPiece / 2);
}

// Ranges that begin and end within a page leave only those pages in the cache. A range that did not begin on a page
// boundary once went through the cache completely.
TEST_F(FileTest, DirectTransfersLeaveOnlyPartsOfPagesInTheCache) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  constexpr std::size_t kPage = 4096;
  const std::unique_ptr<char, void (*)(void*)> memory(static_cast<char*>(std::aligned_alloc(kPage, kBytes)), std::free);
  const std::span<char> bytes(memory.get(), kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>('a' + i % 23);
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder_ / "a"));
  ASSERT_OK(file.Allocate(kBytes));
  file.UseDirect();
  const auto run = [&](std::size_t begin, std::size_t end) { return bytes.subspan(begin, end - begin); };
  for (const auto& [begin, end] : {std::pair{std::size_t{100}, kBytes / 2 - 7}, {kBytes / 2 - 7, kBytes - 300}}) {
    ASSERT_OK(file.WriteAt(begin, std::as_bytes(run(begin, end))));
  }
  ASSERT_OK(file.Sync());
  EXPECT_LT(CachedBytes(folder_ / "a"), kBytes / 8);
  // Reading through the cache and past it gives the same bytes.
  std::string expected(bytes.begin(), bytes.end());
  std::fill_n(expected.begin(), 100, '\0');
  std::fill_n(expected.end() - 300, 300, '\0');
  file.DropCache(0, 0);
  std::fill(bytes.begin(), bytes.end(), 'z');
  ASSERT_OK(file.ReadAt(50, std::as_writable_bytes(run(50, kBytes))));
  EXPECT_TRUE(std::equal(bytes.begin() + 50, bytes.end(), expected.begin() + 50));
  EXPECT_LT(CachedBytes(folder_ / "a"), kBytes / 8) << "the kernel reads ahead after a part of a page";
  EXPECT_EQ(FileBytes(folder_ / "a"), expected);
  // Cached pages are not stale after a write past the cache.
  ASSERT_OK(file.WriteAt(0, std::as_bytes(run(4096, 3 * 4096))));
  EXPECT_EQ(FileBytes(folder_ / "a").substr(0, 2 * 4096), expected.substr(4096, 2 * 4096));
  // An unaligned buffer goes through the cache, with the same result.
  ASSERT_OK(file.WriteAt(1, std::as_bytes(run(4096, 3 * 4096))));
  EXPECT_EQ(FileBytes(folder_ / "a").substr(1, 2 * 4096), expected.substr(4096, 2 * 4096));
}

TEST_F(FileTest, AdviceOnAnEmptyRangeDoesNothing) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  ASSERT_OK_AND_ASSIGN(File file, File::Create(folder_ / "a"));
  ASSERT_OK(file.WriteAt(0, Bytes(std::string(1 << 20, 'x'))));
  ASSERT_OK(file.Sync());
  file.DropBehind(0, 0);
  EXPECT_EQ(CachedBytes(folder_ / "a"), 1U << 20);
  file.ReadNoFurther();
  file.DropCache(0, 0);
  file.WillRead(0, 0);
  EXPECT_EQ(CachedBytes(folder_ / "a"), 0U);
}

TEST_F(FileTest, OpenOrCreateKeepsWhatIsThere) {
  ASSERT_OK(File::OpenOrCreate(folder_ / "a"));
  EXPECT_EQ(FileBytes(folder_ / "a"), "");
  WriteFileBytes(folder_ / "a", "text");
  ASSERT_OK(File::OpenOrCreate(folder_ / "a"));
  EXPECT_EQ(FileBytes(folder_ / "a"), "text");
  std::filesystem::create_symlink(folder_ / "a", folder_ / "link");
  EXPECT_ERROR(File::OpenOrCreate(folder_ / "link"), kCorrupt,
               "link: is a symbolic link; expected a file: remove the link");
}

TEST_F(FileTest, CreateFoldersMakesWhatIsMissing) {
  ASSERT_OK(CreateFolders(folder_ / "a/b/c/"));
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "a/b/c"));
  ASSERT_OK(CreateFolders(folder_ / "a/b/c"));
  WriteFileBytes(folder_ / "file", "");
  EXPECT_ERROR(CreateFolders(folder_ / "file/d"), kUsage, "file is not a folder");
  EXPECT_ERROR(CreateFolders(folder_ / "new" / std::string(300, 'x')), kRuntime, "create: ");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(FileTest, RenameAndRemove) {
  WriteFileBytes(folder_ / "a", "text");
  ASSERT_OK(RenameFile(folder_ / "a", folder_ / "b"));
  EXPECT_EQ(FileBytes(folder_ / "b"), "text");
  EXPECT_ERROR(RenameFile(folder_ / "a", folder_ / "b"), kRuntime, "a: rename to");
  ASSERT_OK(RemoveFile(folder_ / "b"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b"));
  ASSERT_OK(RemoveFile(folder_ / "b")) << "it is already gone";
  EXPECT_ERROR(RemoveFile(folder_.path()), kRuntime, "remove");
}

// A pipe made the program wait for ever; a device was read as an empty file.
TEST_F(FileTest, WhatIsNoFileIsCorrupt) {
  std::filesystem::create_directory(folder_ / "folder");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder_ / "device");
  for (const std::string what : {"folder", "pipe", "device"}) {
    const std::string message = (folder_ / what).string() + ": is a " + what + "; expected a file";
    EXPECT_ERROR(File::OpenRead(folder_ / what), kCorrupt, message);
    EXPECT_ERROR(ReadWholeFile(folder_ / what, 1000), kCorrupt, message);
    if (what == "device") continue;  // here a link, which is not written through
    EXPECT_ERROR(File::OpenReadWrite(folder_ / what), kCorrupt, message);
    EXPECT_ERROR(File::Create(folder_ / what), kCorrupt, message);
  }
}

}  // namespace
}  // namespace octavo
