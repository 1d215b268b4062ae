#include "base/file_refusal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "gtest/gtest.h"

namespace octavo {
namespace {

// Returns the error of an open that may create a file, or 0.
int ErrorOfCreating() {
  const int descriptor = ::open("/dev/null", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno;
  ::close(descriptor);
  return 0;
}

TEST(FileRefusal, RefusesTheThreadToCreateFilesAndNoOther) {
  int error = 0;
  int opened = -1;
  EXPECT_TRUE(RunWithoutNewFiles([&] {
    error = ErrorOfCreating();
    opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }));
  if (error == 0) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(error, EACCES);
  EXPECT_GE(opened, 0);
  ::close(opened);
  EXPECT_EQ(ErrorOfCreating(), 0);
}

}  // namespace
}  // namespace octavo
