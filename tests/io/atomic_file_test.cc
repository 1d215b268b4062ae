#include "io/atomic_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class AtomicFolderTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }

  // The names in the folder, including hidden ones.
  std::string Names() const {
    std::string names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names += entry.path().filename().string() + " ";
    return names;
  }
  TemporaryFolder folder_;
};

const std::vector<std::string> kNames = {"a", "old", "new"};

TEST_F(AtomicFolderTest, AppearsWholeOrNotAtAll) {
  ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", false, kNames));
  WriteFileBytes(made.path() / "a", "1");
  EXPECT_FALSE(fs::exists(folder_ / "g"));
  ASSERT_OK(made.Commit());
  EXPECT_EQ(FileBytes(folder_ / "g" / "a"), "1");
  EXPECT_EQ(Names(), "g ");
}

TEST_F(AtomicFolderTest, LeavesNothingWithoutCommit) {
  {
    ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", false, kNames));
    WriteFileBytes(made.path() / "a", "1");
  }
  EXPECT_EQ(Names(), "");
}

TEST_F(AtomicFolderTest, RefusesWhatExistsUnlessToldToOverwrite) {
  fs::create_directory(folder_ / "g");
  EXPECT_OK(AtomicFolder::Create(folder_ / "g", false, kNames));  // an empty folder counts as missing
  WriteFileBytes(folder_ / "g" / "old", "1");
  EXPECT_ERROR(AtomicFolder::Create(folder_ / "g", false, kNames), kUsage, "--overwrite");
  WriteFileBytes(folder_ / "file", "1");
  EXPECT_ERROR(AtomicFolder::Create(folder_ / "file", true, kNames), kUsage, "not a folder");
  EXPECT_ERROR(AtomicFolder::Create("", true, kNames), kUsage, "needs a name");
}

TEST_F(AtomicFolderTest, OverwriteReplacesTheOldFolderWhole) {
  fs::create_directory(folder_ / "g");
  WriteFileBytes(folder_ / "g" / "old", "1");
  ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", true, kNames));
  WriteFileBytes(made.path() / "new", "2");
  EXPECT_TRUE(fs::exists(folder_ / "g" / "old"));
  ASSERT_OK(made.Commit());
  EXPECT_FALSE(fs::exists(folder_ / "g" / "old"));
  EXPECT_EQ(FileBytes(folder_ / "g" / "new"), "2");
  EXPECT_EQ(Names(), "g ");
}

// A folder given by mistake was once removed with everything in it.
TEST_F(AtomicFolderTest, OverwriteNeverTouchesAFolderWithForeignThings) {
  fs::create_directories(folder_ / "home" / "photos");
  WriteFileBytes(folder_ / "home" / "old", "1");
  WriteFileBytes(folder_ / "home" / "photos" / "a", "2");
  EXPECT_ERROR(AtomicFolder::Create(folder_ / "home", true, kNames), kUsage, "photos");
  fs::remove_all(folder_ / "home" / "photos");
  fs::create_directory(folder_ / "home" / "new");  // a replaceable name, but a folder
  EXPECT_ERROR(AtomicFolder::Create(folder_ / "home", true, kNames), kUsage, "\"new\"");
  EXPECT_EQ(FileBytes(folder_ / "home" / "old"), "1");
  EXPECT_EQ(Names(), "home ");
}

TEST_F(AtomicFolderTest, WhatCameIntoTheOldFolderMeanwhileStays) {
  fs::create_directory(folder_ / "g");
  WriteFileBytes(folder_ / "g" / "old", "1");
  {
    ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", true, kNames));
    WriteFileBytes(folder_ / "g" / "diary", "mine");
    EXPECT_ERROR(made.Commit(), kUsage, "diary");
  }
  EXPECT_EQ(FileBytes(folder_ / "g" / "diary"), "mine");
  EXPECT_EQ(FileBytes(folder_ / "g" / "old"), "1");
  EXPECT_EQ(Names(), "g ");
}

// Two imports to one name: the second one must not remove the first one's folder.
TEST_F(AtomicFolderTest, WithoutOverwriteALaterOneIsRefusedAtCommit) {
  ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", false, kNames));
  WriteFileBytes(made.path() / "a", "second");
  fs::create_directory(folder_ / "g");
  WriteFileBytes(folder_ / "g" / "a", "first");
  EXPECT_FALSE(made.Commit().ok());
  EXPECT_EQ(FileBytes(folder_ / "g" / "a"), "first");
}

TEST_F(AtomicFolderTest, AFailedCommitLeavesTheOldFolder) {
  fs::create_directory(folder_ / "g");
  WriteFileBytes(folder_ / "g" / "old", "1");
  for (const char* failpoint : {"folder.commit=eio", "file.open=eio", "file.sync=eio"}) {
    {
      ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", true, kNames));
      WriteFileBytes(made.path() / "new", "2");
      ASSERT_OK(SetFailpoints(failpoint));
      EXPECT_FALSE(made.Commit().ok()) << failpoint;
      ASSERT_OK(SetFailpoints(""));
    }
    EXPECT_EQ(FileBytes(folder_ / "g" / "old"), "1") << failpoint;
    EXPECT_EQ(Names(), "g ") << failpoint;
  }
}

// The error message named a folder that no longer existed.
TEST_F(AtomicFolderTest, ErrorsGoByTheFinalName) {
  ASSERT_OK_AND_ASSIGN(const AtomicFolder made, AtomicFolder::Create(folder_ / "g", false, kNames));
  const absl::Status failed = made.UnderFinalName(ErrnoError((made.path() / "a").string(), EROFS));
  EXPECT_EQ(MessageOf(failed), (folder_ / "g" / "a").string() + ": Read-only file system");
  EXPECT_TRUE(IsSystemError(failed));
  EXPECT_EQ(KindOf(made.UnderFinalName(BusyError("text"))), ErrorKind::kBusy);
  EXPECT_OK(made.UnderFinalName(absl::OkStatus()));
}

TEST_F(AtomicFolderTest, MakesParentsAndTakesATrailingSlash) {
  ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "a/b/g/", false, kNames));
  ASSERT_OK(made.Commit());
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b/g"));
}

TEST_F(AtomicFolderTest, RemovesLeftoversOfDeadProcessesOnly) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string dead = fmt::format(".g.partial-{}", child);
  const std::string alive = fmt::format(".g.partial-{}", ::getppid());
  fs::create_directory(folder_ / dead);
  fs::create_directory(folder_ / alive);
  ASSERT_OK_AND_ASSIGN(const AtomicFolder made, AtomicFolder::Create(folder_ / "g", false, kNames));
  EXPECT_FALSE(fs::exists(folder_ / dead));
  EXPECT_TRUE(fs::exists(folder_ / alive));
}

// A process of another container cannot be seen by its number, but its lock can.
TEST_F(AtomicFolderTest, LeftoversWithALockAreNotAbandoned) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const fs::path dead = folder_ / fmt::format(".g.partial-{}", child);
  fs::create_directory(dead);
  fs::create_symlink(folder_.path(), folder_ / fmt::format(".g.partial-{}", ::getpid()));
  {
    const PathLock lock(dead);
    ASSERT_TRUE(lock.held());
    EXPECT_FALSE(PathLock(dead).held());
    EXPECT_TRUE(AbandonedFolders(folder_ / "g").empty());
  }
  EXPECT_EQ(AbandonedFolders(folder_ / "g"), std::vector<fs::path>{dead});
  WriteFileBytes(dead / "diary", "mine");
  WriteFileBytes(dead / "old", "1");
  EXPECT_FALSE(RemoveAbandonedFolder(dead, kNames));
  EXPECT_FALSE(fs::exists(dead / "old"));
  EXPECT_EQ(FileBytes(dead / "diary"), "mine");
  fs::remove(dead / "diary");
  EXPECT_TRUE(RemoveAbandonedFolder(dead, kNames));
  EXPECT_FALSE(fs::exists(dead));
}

TEST_F(AtomicFolderTest, AFolderUnderConstructionIsLocked) {
  ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", false, kNames));
  EXPECT_TRUE(AbandonedFolders(folder_ / "g").empty()) << "though it is this process's own";
  ASSERT_OK(made.Commit());
}

TEST_F(AtomicFolderTest, WithoutCommitTheFoldersAroundItGoToo) {
  {
    ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "a/b/g", false, kNames));
    WriteFileBytes(made.path() / "a", "1");
  }
  EXPECT_EQ(Names(), "");
  fs::create_directory(folder_ / "a");
  {
    ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "a/b/c/g", false, kNames));
    WriteFileBytes(folder_ / "a/b/mine", "1");
  }
  EXPECT_EQ(FileBytes(folder_ / "a/b/mine"), "1") << "another process uses one of them by now";
  EXPECT_FALSE(fs::exists(folder_ / "a/b/c"));
}

TEST_F(AtomicFolderTest, AFileInThePlaceOfAParentIsAUsageError) {
  WriteFileBytes(folder_ / "a", "1");
  EXPECT_ERROR(AtomicFolder::Create(folder_ / "a/b/g", false, kNames), kUsage, "is not a folder");
  EXPECT_EQ(FileBytes(folder_ / "a"), "1");
}

// A process of another container can have the same number: both wrote into one folder.
TEST_F(AtomicFolderTest, ANameThatIsTakenIsLeftAlone) {
  const std::string name = fmt::format(".g.partial-{}", ::getpid());
  fs::create_directory(folder_ / name);
  WriteFileBytes(folder_ / name / "a", "theirs");
  const PathLock lock(folder_ / name);
  {
    ASSERT_OK_AND_ASSIGN(const AtomicFolder made, AtomicFolder::Create(folder_ / "g", false, kNames));
    EXPECT_EQ(made.path(), folder_ / (name + ".1"));
    EXPECT_TRUE(AbandonedFolders(folder_ / "g").empty());
  }
  EXPECT_EQ(FileBytes(folder_ / name / "a"), "theirs");
  EXPECT_EQ(Names(), name + " ");
  fs::create_directory(folder_ / (name + ".1"));
  EXPECT_EQ(AbandonedFolders(folder_ / "g"), std::vector<fs::path>{folder_ / (name + ".1")});
  EXPECT_FALSE(RemoveAbandonedFolder(folder_ / name, kNames)) << "another process uses it";
  fs::create_directory(folder_ / (name + ".1x"));
  EXPECT_EQ(AbandonedFolders(folder_ / "g").size(), 1U);
}

// After the exchange the older folder has the temporary name. A process of another container with the same number
// removed it, made its own folder under that name, and lost its files to the first process.
TEST_F(AtomicFolderTest, WhatAnotherMadeUnderTheOlderFoldersNameStays) {
  fs::create_directory(folder_ / "g");
  WriteFileBytes(folder_ / "g" / "old", "1");
  std::optional<absl::StatusOr<AtomicFolder>> other;
  ASSERT_OK_AND_ASSIGN(AtomicFolder made, AtomicFolder::Create(folder_ / "g", true, kNames));
  WriteFileBytes(made.path() / "new", "2");
  const fs::path name = made.path();
  ASSERT_OK(SetFailpoints("folder.sync:2=sleep"));  // the one after the exchange
  std::thread second([&] {
    while (!fs::exists(folder_ / "g" / "new")) std::this_thread::yield();
    other.emplace(AtomicFolder::Create(folder_ / "g", true, kNames));
    if (other->ok()) WriteFileBytes((*other)->path() / "a", "theirs");
  });
  const absl::Status status = made.Commit();
  second.join();
  ASSERT_OK(SetFailpoints(""));
  ASSERT_OK(status);
  ASSERT_OK(*other);
  EXPECT_EQ((*other)->path(), name);
  EXPECT_EQ(FileBytes(name / "a"), "theirs");
  ASSERT_OK((*other)->Commit());
  EXPECT_EQ(FileBytes(folder_ / "g" / "a"), "theirs");
}

// Between its creation and its locking, it was removed by a process that did not see the maker's number; writes to it
// were lost.
TEST_F(AtomicFolderTest, OneThatIsRemovedBeforeItIsLockedIsMadeAnew) {
  bool removed = false;
  for (int attempt = 0; attempt < 20 && !removed; ++attempt) {
    fs::remove_all(folder_ / "g");
    ASSERT_OK(SetFailpoints("partial.lock:1=sleep"));
    std::atomic<bool> done = false;
    // A folder with this process's number that is not locked belongs to an earlier process.
    std::thread remover([&] {
      std::vector<fs::path> found;
      while (!done && found.empty()) found = AbandonedFolders(folder_ / "g");
      if (!found.empty()) removed = RemoveAbandonedFolder(found[0], kNames);
    });
    absl::StatusOr<AtomicFolder> made = AtomicFolder::Create(folder_ / "g", false, kNames);
    done = true;
    remover.join();
    ASSERT_OK(SetFailpoints(""));
    ASSERT_OK(made);
    WriteFileBytes(made->path() / "a", "1");
    ASSERT_OK(made->Commit());
    EXPECT_EQ(FileBytes(folder_ / "g" / "a"), "1");
    EXPECT_EQ(Names(), "g ");
  }
  EXPECT_TRUE(removed);
}

}  // namespace
}  // namespace octavo
