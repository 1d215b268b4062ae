#include "io/scratch_folder.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/atomic_file.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

pid_t EndedProcess() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(ScratchFolder, GoesWithAllThatIsInIt) {
  const TemporaryFolder parent;
  {
    ASSERT_OK_AND_ASSIGN(ScratchFolder first, ScratchFolder::Make(parent.path(), "octavo-bench"));
    ASSERT_OK_AND_ASSIGN(const ScratchFolder second, ScratchFolder::Make(parent.path(), "octavo-bench"));
    EXPECT_NE(first.path(), second.path());
    EXPECT_TRUE(first.path().filename().string().starts_with(".octavo-bench-"));
    const ScratchFolder moved = std::move(first);
    fs::create_directory(moved.path() / "graph");
    WriteFileBytes(moved.path() / "graph" / "file", "text");
  }
  EXPECT_TRUE(fs::is_empty(parent.path()));
  EXPECT_ERROR(ScratchFolder::Make(parent / "none", "octavo-bench"), kRuntime, "none/.octavo-bench-");
}

// A name with the number of a process that has ended.
TEST(ScratchFolder, RemovesWhatAKilledProcessLeft) {
  const TemporaryFolder parent;
  const fs::path left = parent / fmt::format(".octavo-bench-{}-abcdef", EndedProcess());
  const fs::path alive = parent / fmt::format(".octavo-bench-{}-abcdef", ::getppid());
  const fs::path locked = parent / fmt::format(".octavo-bench-{}-locked", EndedProcess());
  const fs::path other = parent / ".octavo-bench-notes";
  const fs::path link = parent / fmt::format(".octavo-bench-{}-linked", EndedProcess());
  fs::create_directory_symlink(parent / "elsewhere", link);
  const fs::path of_another_name = parent / fmt::format(".octavo-plan-{}-abcdef", EndedProcess());
  for (const fs::path& path : {left, alive, locked, other, of_another_name, parent / "elsewhere"}) {
    fs::create_directory(path);
    WriteFileBytes(path / "rows.npy", "rows");
  }
  const PathLock lock(locked);
  ASSERT_TRUE(lock.held());
  ASSERT_OK(ScratchFolder::Make(parent.path(), "octavo-bench").status());
  EXPECT_FALSE(fs::exists(left));
  for (const fs::path& path : {alive, locked, other, of_another_name, link, parent / "elsewhere" / "rows.npy"}) {
    EXPECT_TRUE(fs::exists(path)) << path;
  }
}

}  // namespace
}  // namespace octavo
