#include "io/resolved_path.h"

#include <array>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

TEST(ResolvedPath, FollowsLinksAsFarAsThePathIsThere) {
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  fs::create_directory(root / "a");
  fs::create_directory_symlink("a", root / "link");
  EXPECT_EQ(ResolvedPath(root / "link" / "new" / "x").value(), root / "a" / "new" / "x");
  EXPECT_EQ(ResolvedPath(root / "." / "none" / ".." / "x").value(), root / "x");
  EXPECT_EQ(ResolvedPath("x").value(), ResolvedPath("./x").value());
  EXPECT_TRUE(ResolvedPath("x").value().is_absolute());
}

TEST(ResolvedPath, WhatHasNoPathIsItself) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const fs::path name = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_TRUE(ResolvedPath(name).ok()) << ResolvedPath(name).status();
  EXPECT_NE(ResolvedPath(name).value(), ResolvedPath("/dev/fd/none").value());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ResolvedPath, APathThatCannotBeFollowedIsAnError) {
  const TemporaryFolder folder;
  fs::create_symlink("loop", folder.path() / "loop");
  const auto resolved = ResolvedPath(folder.path() / "loop" / "x");
  ASSERT_FALSE(resolved.ok());
  EXPECT_THAT(resolved.status().message(), testing::HasSubstr("loop/x: resolve: Too many levels of symbolic links"));
}

}  // namespace
}  // namespace octavo
