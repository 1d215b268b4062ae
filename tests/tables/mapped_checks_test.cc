#include "tables/mapped_checks.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "io/failpoint.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

// A file of five partitions, the last of which is short, of more than a step in all.
class MappedChecksTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kPartition = std::uint64_t{2} << 20;
  static constexpr std::uint64_t kBytes = 4 * kPartition + 4096 + 17;
  static constexpr int kPartitions = 5;

  MappedChecksTest() {
    for (std::uint64_t i = 0; i < kBytes; ++i) bytes_ += static_cast<char>(i * i >> 7);
    WriteFileBytes(path_, bytes_);
    file_ = File::OpenReadWrite(path_).value();
  }
  ~MappedChecksTest() override { EXPECT_OK(SetFailpoints("")); }

  MappedChecks::Rows Partition(std::uint64_t p) const {
    const std::string rows = bytes_.substr(p * kPartition, kPartition);
    return {.file = &file_,
            .offset = p * kPartition,
            .bytes = rows.size(),
            .checksum = Checksum64(std::as_bytes(std::span<const char>(rows))),
            .name = "partition " + std::to_string(p)};
  }
  void AddAll(MappedChecks& checks) const {
    for (std::uint64_t p = 0; p < kPartitions; ++p) checks.Add(Partition(p));
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.npy";
  std::string bytes_;
  File file_;
};

TEST_F(MappedChecksTest, ReadsEachPartitionOnceAndFindsThemWhole) {
  MappedChecks checks;
  EXPECT_OK(checks.Wait()) << "there is nothing to wait for";
  AddAll(checks);
  ASSERT_OK(checks.Wait());
  EXPECT_OK(checks.Check());
  EXPECT_EQ(checks.bytes_read(), kBytes);
  checks.Add(Partition(0));  // loaded once more
  ASSERT_OK(checks.Wait());
  EXPECT_EQ(checks.bytes_read(), kBytes + kPartition);
}

TEST_F(MappedChecksTest, AFlippedByteIsACorruptFileThatNamesThePartition) {
  FlipByte(path_, 3 * kPartition + 100);
  MappedChecks checks;
  AddAll(checks);
  EXPECT_ERROR(checks.Wait(), kCorrupt, "t.npy: partition 3 (byte 6291456 on): checksum ");
  EXPECT_ERROR(checks.Check(), kCorrupt, "partition 3");
  checks.Add(Partition(0));
  EXPECT_ERROR(checks.Wait(), kCorrupt, "partition 3") << "the first error stays";
}

TEST_F(MappedChecksTest, ATruncatedFileIsACorruptFileThatNamesTheByte) {
  std::filesystem::resize_file(path_, kPartition + 5000);
  MappedChecks checks;
  AddAll(checks);
  EXPECT_ERROR(checks.Wait(), kCorrupt, "t.npy: ends at byte 2102152");
}

TEST_F(MappedChecksTest, AFailedReadIsARuntimeError) {
  for (const char* failure : {"file.read:2=eio", "table.check:3=eio"}) {
    ASSERT_OK(SetFailpoints(failure));
    MappedChecks checks;
    AddAll(checks);
    EXPECT_ERROR(checks.Wait(), kRuntime, "failpoint") << failure;
    EXPECT_ERROR(checks.Check(), kRuntime, "failpoint") << failure;
  }
}

TEST_F(MappedChecksTest, AnErrorIsThereWithoutWaiting) {
  FlipByte(path_, 0);
  MappedChecks checks;
  AddAll(checks);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (checks.Check().ok() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_ERROR(checks.Check(), kCorrupt, "partition 0");
}

TEST_F(MappedChecksTest, DestructionEndsTheWorkUnderWay) {
  for (int i = 0; i < 20; ++i) {
    // Each partition takes a tenth of a second.
    ASSERT_OK(SetFailpoints("table.check:1=sleep,table.check:2=sleep,table.check:3=sleep"));
    auto checks = std::make_unique<MappedChecks>();
    AddAll(*checks);
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(i));
    checks.reset();
  }
}

TEST_F(MappedChecksTest, LeavesTheBytesInThePageCacheForWhoHasThemMapped) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  SyncFile(path_);
  file_.UseDirect();
  file_.DropCache(0, 0);
  ASSERT_LT(CachedBytes(path_), kBytes / 2);
  MappedChecks checks;
  AddAll(checks);
  ASSERT_OK(checks.Wait());
  EXPECT_GE(CachedBytes(path_), kBytes);
}

}  // namespace
}  // namespace octavo
