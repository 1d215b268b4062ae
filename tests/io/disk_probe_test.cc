#include "io/disk_probe.h"

#include <filesystem>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(ProbeDisk, MeasuresAndLeavesNothing) {
  const TemporaryFolder folder;
  // A disk between 100 KB/s and 1 TB/s.
  ASSERT_OK_AND_ASSIGN(const DiskRates rates, ProbeDisk(folder / ".", 20 << 20));
  for (const double rate : {rates.read, rates.write}) {
    EXPECT_GT(rate, 1e5);
    EXPECT_LT(rate, 1e12);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

TEST(ProbeDisk, AnErrorIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  EXPECT_ERROR(ProbeDisk(folder / "none", 1 << 20), kRuntime, "none");
  for (const char* failure : {"file.write=eio", "file.read=eio", "file.sync=eio", "file.allocate=enospc"}) {
    ASSERT_OK(SetFailpoints(failure));
    EXPECT_ERROR(ProbeDisk(folder / ".", 1 << 20), kRuntime, "failpoint") << failure;
  }
  ASSERT_OK(SetFailpoints(""));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

}  // namespace
}  // namespace octavo
