#include "io/free_space.h"

#include "gtest/gtest.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(FreeSpace, IsThatOfTheFileSystem) {
  const TemporaryFolder folder;
  EXPECT_TRUE(FreeBytes(folder / "").has_value());
  EXPECT_FALSE(FreeBytes(folder / "absent").has_value());
}

// A training was refused where the file system does not say how large it is, such as ramfs: "0 B are free".
TEST(FreeSpace, IsUnknownOnAFileSystemWithoutASize) { EXPECT_FALSE(FreeBytes("/proc").has_value()); }

}  // namespace
}  // namespace octavo
