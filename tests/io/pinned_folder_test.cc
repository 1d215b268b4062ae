#include "io/pinned_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class PinnedFolderTest : public ::testing::Test {
 protected:
  PinnedFolderTest() {
    fs::create_directories(run_ / "best");
    fs::create_directories(outside_ / "best");
    for (const char* const name : {"STATE", "best/STATE"}) Write(outside_ / name, "precious");
  }

  static void Write(const fs::path& path, const std::string& text) { EXPECT_OK(WriteWholeFileAtomically(path, text)); }
  static std::string Read(const fs::path& path) {
    absl::StatusOr<std::string> text = ReadWholeFile(path, 1000);
    return text.ok() ? *text : std::string(text.status().message());
  }
  // Moves the folder away and puts a link to outside_ in its place.
  void Swap() {
    fs::rename(run_, away_);
    fs::create_symlink(outside_, run_);
  }
  void ExpectOutsideAsItWas() {
    for (const char* const name : {"STATE", "best/STATE"}) EXPECT_EQ(Read(outside_ / name), "precious");
    EXPECT_EQ(std::distance(fs::recursive_directory_iterator(outside_), {}), 3);
  }

  TemporaryFolder folder_;
  fs::path run_ = folder_.path() / "run";
  fs::path away_ = folder_.path() / "away";
  fs::path outside_ = folder_.path() / "outside";
};

TEST_F(PinnedFolderTest, EveryCallIsMadeInTheFolderThatHadTheName) {
  Write(run_ / "STATE", "old");
  Write(run_ / "other", "other");
  ASSERT_OK_AND_ASSIGN(PinnedFolder pinned, PinnedFolder::Pin(run_));
  EXPECT_TRUE(pinned.HasName(run_));
  Swap();
  EXPECT_FALSE(pinned.HasName(run_));
  EXPECT_TRUE(pinned.HasName(away_));
  EXPECT_EQ(Read(run_ / "STATE"), "old");
  Write(run_ / "STATE", "new");
  Write(run_ / "best/STATE", "best");
  ASSERT_OK(RenameFile(run_ / "other", run_ / "best/other"));
  ASSERT_OK_AND_ASSIGN(const bool exchanged, ExchangeFiles(run_ / "STATE", run_ / "best/STATE"));
  EXPECT_TRUE(exchanged);
  ASSERT_OK(SyncFolder(run_));
  ASSERT_OK(SyncFolder(run_ / "best"));
  ASSERT_OK_AND_ASSIGN(const File created, File::Create(run_ / "made"));
  EXPECT_TRUE(HasName(created.descriptor(), run_ / "made"));
  ASSERT_OK_AND_ASSIGN(const bool is_there, FileExists(run_ / "made"));
  EXPECT_TRUE(is_there);
  ASSERT_OK(RemoveFile(run_ / "made"));
  EXPECT_FALSE(fs::exists(away_ / "made"));
  pinned.Release();
  EXPECT_EQ(Read(away_ / "STATE"), "best");
  EXPECT_EQ(Read(away_ / "best/STATE"), "new");
  EXPECT_EQ(Read(away_ / "best/other"), "other");
  ExpectOutsideAsItWas();
  EXPECT_EQ(Read(run_ / "STATE"), "precious");  // no longer pinned
}

TEST_F(PinnedFolderTest, AFolderInItThatIsALinkIsNotFollowed) {
  ASSERT_OK_AND_ASSIGN(const PinnedFolder pinned, PinnedFolder::Pin(run_));
  fs::remove(run_ / "best");
  fs::create_symlink(outside_ / "best", run_ / "best");
  EXPECT_FALSE(File::Create(run_ / "best/STATE").ok());
  EXPECT_FALSE(RemoveFile(run_ / "best/STATE").ok());
  EXPECT_FALSE(SyncFolder(run_ / "best").ok());
  ExpectOutsideAsItWas();
}

TEST_F(PinnedFolderTest, OtherPathsAreAsTheyWere) {
  ASSERT_OK_AND_ASSIGN(const PinnedFolder pinned, PinnedFolder::Pin(run_.string() + "/"));
  Write(folder_.path() / "runner", "a name that begins alike");
  Write(run_ / "../beside", "beside");
  EXPECT_EQ(Read(folder_.path() / "beside"), "beside");
  EXPECT_EQ(Read(run_ / "absent"), (run_ / "absent").string() + ": no such file");
  ASSERT_OK_AND_ASSIGN(const bool is_there, FileExists(run_ / "absent/name"));
  EXPECT_FALSE(is_there);
  ASSERT_OK(RemoveFile(run_ / "absent"));
}

TEST_F(PinnedFolderTest, ARenamedFolderIsFoundUnderItsNewNameOnly) {
  fs::create_directory(run_ / "next");
  ASSERT_OK_AND_ASSIGN(const PinnedFolder outer, PinnedFolder::Pin(run_));
  ASSERT_OK_AND_ASSIGN(const PinnedFolder inner, PinnedFolder::Pin(run_ / "best"));
  Write(run_ / "best/name", "best");
  Write(run_ / "next/name", "next");
  ASSERT_OK_AND_ASSIGN(const bool exchanged, ExchangeFiles(run_ / "best", run_ / "next"));
  EXPECT_TRUE(exchanged);
  EXPECT_EQ(Read(run_ / "best/name"), "next");
  EXPECT_EQ(Read(run_ / "next/name"), "best");
}

TEST_F(PinnedFolderTest, ANewFolderIsNoLinkAndEmpty) {
  EXPECT_FALSE(PinnedFolder::PinNew(run_).ok());  // it has best/
  ASSERT_OK(PinnedFolder::PinNew(run_ / "best").status());
  fs::create_directory(folder_.path() / "empty");
  fs::create_directory_symlink(folder_.path() / "empty", folder_.path() / "link");
  EXPECT_FALSE(PinnedFolder::PinNew(folder_.path() / "link").ok());
  ASSERT_OK(PinnedFolder::Pin(folder_.path() / "link").status());
}

TEST_F(PinnedFolderTest, ALinkOfAnotherUserWhereAllCanWriteIsNotFollowed) {
  const fs::path link = folder_.path() / "link";
  fs::create_directory_symlink(run_, link);
  if (::lchown(link.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_OK(PinnedFolder::Pin(link).status());  // only this user can have let it be put there
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_EQ(PinnedFolder::Pin(link).status().message(),
            link.string() + ": is a symbolic link of another user, in a folder that all can write; expected a folder");
  EXPECT_FALSE(PinnedFolder::Pin(link.string() + "/").ok());
}

// A process that others see as well swaps the folder under construction for a link, again and again.
TEST_F(PinnedFolderTest, AFolderUnderConstructionCannotBeRedirected) {
  std::atomic<bool> done = false;
  std::thread attacker([&] {
    while (!done) {
      std::error_code error;
      for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path(), error)) {
        const fs::path path = entry.path();
        if (!path.filename().string().starts_with(".graph.partial-")) continue;
        ::rename(path.c_str(), away_.c_str());
        static_cast<void>(::symlink(outside_.c_str(), path.c_str()));
        std::this_thread::yield();
        ::unlink(path.c_str());
        ::rename(away_.c_str(), path.c_str());
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // or hardly any folder is made
    }
  });
  int made = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (int i = 0; made < 50 && std::chrono::steady_clock::now() < end; ++i) {
    absl::StatusOr<AtomicFolder> folder =
        AtomicFolder::Create(folder_.path() / "graph", /*overwrite=*/true, {"STATE", "other"});
    if (!folder.ok()) continue;
    // The attacker can also rename a folder of an earlier round over this one while it is empty. Then nothing can be
    // written any more, which is an error and no redirection.
    const auto write = [&](const char* name) {
      return File::Create(folder->path() / name).ok() && WriteWholeFileAtomically(folder->path() / name, "new").ok();
    };
    if (!write("STATE") || !write("other")) continue;
    ++made;
    if (i % 2 == 0) static_cast<void>(folder->Commit());
  }
  done = true;
  attacker.join();
  EXPECT_GT(made, 0);
  ExpectOutsideAsItWas();
}

}  // namespace
}  // namespace octavo
