#include "io/disk_probe.h"

#include <fcntl.h>
#include <unistd.h>

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
  EXPECT_GT(rates.sync, 0);
  EXPECT_LT(rates.sync, 10);
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

// Of a folder that is missing yet, the nearest one above it that is answers. Nothing is left either way.
TEST(TakesDirectTransfers, SaysWhatOpenDoes) {
  const TemporaryFolder folder;
  const int descriptor = ::open((folder / "file").c_str(), O_RDWR | O_CREAT | O_DIRECT, 0600);
  const bool direct = descriptor >= 0;
  ::close(descriptor);
  std::filesystem::remove(folder / "file");
  EXPECT_EQ(TakesDirectTransfers(folder.path()), direct);
  EXPECT_EQ(TakesDirectTransfers(folder / "not" / "yet"), direct);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace octavo
