#include "checkpoint/run_lock.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class RunLockTest : public ::testing::Test {
 protected:
  // Starts a process that takes the lock and keeps it until it is killed; returns when it has it.
  pid_t StartHolder() const {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    const pid_t holder = StartChild([&] {
      const absl::StatusOr<RunLock> lock = RunLock::Take(path_);
      const char byte = lock.ok() ? 'y' : 'n';
      if (::write(ready[1], &byte, 1) != 1) return 1;
      while (true) ::pause();
    });
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
    return holder;
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "LOCK";
};

TEST_F(RunLockTest, IsFreeAgainWhenItsOwnerIsGone) {
  std::optional<RunLock> lock;
  {
    absl::StatusOr<RunLock> taken = RunLock::Take(path_);
    ASSERT_OK(taken);
    lock = *std::move(taken);
  }
  EXPECT_ERROR(RunLock::Take(path_), kBusy, std::to_string(::getpid()));
  lock.reset();
  EXPECT_OK(RunLock::Take(path_));
}

TEST_F(RunLockTest, NamesTheOwnersPidAndTime) {
  const pid_t holder = StartHolder();
  EXPECT_EQ(FileBytes(path_).substr(0, 4 + std::to_string(holder).size()), "pid " + std::to_string(holder));
  EXPECT_ERROR(RunLock::Take(path_), kBusy, "in use by pid " + std::to_string(holder) + " since 20");
  EXPECT_ERROR(RunLock::Take(path_), kBusy, folder_.path().string());
  ::kill(holder, SIGKILL);
  WaitForChild(holder);
}

TEST_F(RunLockTest, IsFreedByKillingTheHolder) {
  for (int i = 0; i < 5; ++i) {
    const pid_t holder = StartHolder();
    EXPECT_ERROR(RunLock::Take(path_), kBusy, "in use");
    ::kill(holder, SIGKILL);
    EXPECT_EQ(WaitForChild(holder).signal, SIGKILL);
    EXPECT_OK(RunLock::Take(path_));
  }
}

TEST_F(RunLockTest, ALineOfADeadOwnerIsReplaced) {
  WriteFileBytes(path_, "pid 123456789 since long ago, and much more text than the new line will have\n");
  ASSERT_OK_AND_ASSIGN(const RunLock lock, RunLock::Take(path_));
  const std::string line = FileBytes(path_);
  EXPECT_EQ(line.substr(0, line.find(' ', 4)), "pid " + std::to_string(::getpid()));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST_F(RunLockTest, HostileTextInTheFileIsEscaped) {
  const pid_t holder = StartHolder();
  WriteFileBytes(path_, std::string("\x1b[31mred\0", 9) + std::string(1000, 'x'));
  EXPECT_ERROR(RunLock::Take(path_), kBusy, "in use by");
  EXPECT_EQ(MessageOf(RunLock::Take(path_).status()).find('\x1b'), std::string_view::npos);
  WriteFileBytes(path_, "");
  EXPECT_ERROR(RunLock::Take(path_), kBusy, "in use by unknown");
  ::kill(holder, SIGKILL);
  WaitForChild(holder);
}

TEST_F(RunLockTest, ALinkIsNotFollowed) {
  WriteFileBytes(folder_ / "precious", "text");
  std::filesystem::create_symlink(folder_ / "precious", path_);
  EXPECT_FALSE(RunLock::Take(path_).ok());
  EXPECT_EQ(FileBytes(folder_ / "precious"), "text");
}

TEST_F(RunLockTest, AMissingFolderIsAnError) {
  EXPECT_ERROR(RunLock::Take(folder_ / "none/LOCK"), kRuntime, "none: open: No such file");
}

TEST_F(RunLockTest, OfManyStartersExactlyOneWins) {
  std::array<int, 2> start{};
  std::array<int, 2> done{};
  ASSERT_EQ(::pipe(start.data()), 0);
  ASSERT_EQ(::pipe(done.data()), 0);
  std::vector<pid_t> starters;
  for (int i = 0; i < 50; ++i) {
    starters.push_back(StartChild([&] {
      pollfd wait{.fd = start[0], .events = POLLIN, .revents = 0};
      ::poll(&wait, 1, -1);
      const absl::StatusOr<RunLock> lock = RunLock::Take(path_);
      const char byte = lock.ok() ? 'y' : KindOf(lock.status()) == ErrorKind::kBusy ? 'n' : '?';
      if (::write(done[1], &byte, 1) != 1) return 1;
      while (true) ::pause();
    }));
  }
  ASSERT_EQ(::write(start[1], "g", 1), 1);
  std::string said;
  while (said.size() < starters.size()) {
    char byte = 0;
    ASSERT_EQ(::read(done[0], &byte, 1), 1);
    said += byte;
  }
  EXPECT_EQ(std::count(said.begin(), said.end(), 'y'), 1) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), 'n'), 49) << said;
  for (const pid_t starter : starters) ::kill(starter, SIGKILL);
  for (const pid_t starter : starters) WaitForChild(starter);
  for (const int descriptor : {start[0], start[1], done[0], done[1]}) ::close(descriptor);
  EXPECT_OK(RunLock::Take(path_));
}

// A process that came while the owner was about to write its line named the previous owner, or nobody.
TEST_F(RunLockTest, TheLineOfAnEarlierOwnerIsNotTakenForThisOnes) {
  const pid_t gone = StartChild([] { return 0; });
  WaitForChild(gone);
  const pid_t holder = StartHolder();
  const std::string line = FileBytes(path_);
  WriteFileBytes(path_, "pid " + std::to_string(gone) + " since long ago\n");
  const pid_t writer = StartChild([&] {
    ::usleep(100'000);
    WriteFileBytes(path_, line);
    return 0;
  });
  EXPECT_ERROR(RunLock::Take(path_), kBusy, "in use by pid " + std::to_string(holder) + " since 20");
  WaitForChild(writer);
  ::kill(holder, SIGKILL);
  WaitForChild(holder);
}

// Two processes could own the lock of a folder: one by a file that its owner had removed, one by the next file.
TEST_F(RunLockTest, ALockThatWasRemovedMeanwhileIsNone) {
  absl::StatusOr<RunLock> taken = absl::UnknownError("");
  do {  // again if this thread came too late
    absl::StatusOr<RunLock> holder = RunLock::Take(path_);
    ASSERT_OK(holder);
    ASSERT_OK(SetFailpoints("run.lock:1=sleep"));
    std::thread taker([&] { taken = RunLock::Take(path_); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // of the 100 between opening and locking
    std::filesystem::remove(path_);
    holder = absl::UnknownError("");
    taker.join();
    ASSERT_OK(SetFailpoints(""));
  } while (!taken.ok() && KindOf(taken.status()) == ErrorKind::kBusy);
  ASSERT_OK(taken);
  EXPECT_ERROR(RunLock::Take(path_), kBusy, "in use");
}

// After the last attempt the lock was taken all the same, on a removed file: another process could own the run, too.
TEST_F(RunLockTest, OneThatIsAlwaysRemovedIsNeverTaken) {
  std::string sleeps;
  for (int pass = 1; pass <= 10; ++pass) sleeps += fmt::format("{}run.lock:{}=sleep", pass == 1 ? "" : ",", pass);
  absl::StatusOr<RunLock> taken = absl::UnknownError("");
  for (int i = 0; i < 3 && KindOf(taken.status()) != ErrorKind::kBusy; ++i) {  // again if this thread came too late
    ASSERT_OK(SetFailpoints(sleeps));
    std::atomic<bool> done = false;
    std::thread taker([&] {
      taken = RunLock::Take(path_);
      done = true;
    });
    while (!done) {
      std::filesystem::remove(path_);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // of the 100 between opening and locking
    }
    taker.join();
    ASSERT_OK(SetFailpoints(""));
    if (taken.ok()) taken = absl::UnknownError("was taken");
  }
  EXPECT_ERROR(taken, kBusy, path_.string() + ": was removed or replaced each of 10 times");
}

}  // namespace
}  // namespace octavo
