#include "io/scratch_folder.h"

#include <filesystem>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace octavo
