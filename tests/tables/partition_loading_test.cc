#include "tables/partition_loading.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint64_t kHeader = 4096;
// Of two steps and a part of one, and not of whole pages.
constexpr std::uint64_t kBytes = (std::uint64_t{17} << 20) + 3 * 4096 + 123;

// A file of a page and kBytes bytes, and reserved addresses that begin one page after a huge-page boundary.
class PartitionLoadingTest : public ::testing::Test {
 protected:
  PartitionLoadingTest() : bytes_(kHeader + kBytes, '\0') {
    for (std::uint64_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(i * 7 + (i >> 12));
    WriteFileBytes(path_, bytes_);
    SyncFile(path_);
    file_ = File::OpenReadWrite(path_).value();
    constexpr std::uint64_t kHuge = std::uint64_t{2} << 20;
    reserved_bytes_ = kBytes + 2 * kHuge;
    reserved_ = ::mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const std::uintptr_t border = (reinterpret_cast<std::uintptr_t>(reserved_) + kHuge - 1) / kHuge * kHuge;
    memory_ = {reinterpret_cast<std::byte*>(border + 4096), kBytes};
  }
  ~PartitionLoadingTest() override { ::munmap(reserved_, reserved_bytes_); }

  PartitionPlace Place() const { return {.memory = memory_, .file = file_, .offset = kHeader}; }
  absl::Status Load(Loading loading) const {
    if (loading == Loading::kMapped) return MapPartition(Place());
    const auto sum = loading == Loading::kPopulated ? PopulatePartition(Place(), true) : ReadPartition(Place(), true);
    EXPECT_EQ(sum.value_or(0), Checksum64(FileRows()));
    return sum.status();
  }
  std::span<const std::byte> FileRows() const { return std::as_bytes(std::span(bytes_)).subspan(kHeader); }
  bool HasRows() const { return std::memcmp(memory_.data(), FileRows().data(), kBytes) == 0; }
  // Whether a part of the memory is the file's.
  bool IsMapped() const {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.ends_with("/t.npy")) return true;
    }
    return false;
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.npy";
  std::string bytes_;
  File file_;
  void* reserved_ = nullptr;
  std::uint64_t reserved_bytes_ = 0;
  std::span<std::byte> memory_;
};

class EachLoading : public PartitionLoadingTest, public ::testing::WithParamInterface<Loading> {};

TEST_P(EachLoading, BringsTheRowsToTheirPlace) {
  ASSERT_TRUE(CanMapTables());
  for (const bool direct : {false, true}) {
    if (direct) file_.UseDirect();
    ASSERT_OK(Load(GetParam()));
    EXPECT_TRUE(HasRows());
    EXPECT_EQ(IsMapped(), GetParam() != Loading::kDirect);
    ReleaseMemory(memory_);
    EXPECT_FALSE(IsMapped());
  }
}

TEST_P(EachLoading, WhatIsWrittenToTheMemoryNeverReachesTheFile) {
  ASSERT_OK(Load(GetParam()));
  std::memset(memory_.data(), 1, memory_.size());
  EXPECT_TRUE(FileBytes(path_) == bytes_);
  EXPECT_EQ(memory_[kBytes - 1], std::byte{1});
}

INSTANTIATE_TEST_SUITE_P(Ways, EachLoading, ::testing::Values(Loading::kMapped, Loading::kPopulated, Loading::kDirect),
                         [](const auto& way) { return std::string(LoadingName(way.param)); });

TEST_F(PartitionLoadingTest, MappingReadsNothing) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  file_.DropCache(0, 0);
  const std::uint64_t before = CachedBytes(path_);
  ASSERT_OK(MapPartition(Place()));
  EXPECT_EQ(CachedBytes(path_), before);
  EXPECT_EQ(memory_[0], FileRows()[0]);
  EXPECT_LE(CachedBytes(path_), before + (std::uint64_t{1} << 20)) << "a row must not bring in all of them";
}

TEST_F(PartitionLoadingTest, PopulatingLeavesNothingInThePageCache) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  ASSERT_OK(PopulatePartition(Place(), false));
  EXPECT_LE(CachedBytes(path_), kBytes / 20);
}

TEST_F(PartitionLoadingTest, AFileThatEndsTooEarlyIsAnErrorWithTheByte) {
  std::filesystem::resize_file(path_, kHeader + (std::uint64_t{9} << 20));
  EXPECT_ERROR(PopulatePartition(Place(), true), kCorrupt, "t.npy: ends at byte 9441280");
  EXPECT_ERROR(ReadPartition(Place(), true), kCorrupt, "t.npy: ends at byte 9441280");
  ASSERT_OK(MapPartition(Place()));
  EXPECT_ERROR(MakePrivate(Place()), kCorrupt, "t.npy: ends at byte 9441280");
}

// All rows keep their values and addresses, whether they were written or not.
TEST_F(PartitionLoadingTest, MakingPrivateKeepsEveryRow) {
  for (const bool dropped : {false, true}) {
    ASSERT_OK(MapPartition(Place()));
    std::string expected(bytes_.substr(kHeader));
    for (std::uint64_t at = 0; at < kBytes; at += 100'003) {
      memory_[at] = std::byte{77};
      expected[at] = 77;
    }
    if (dropped) file_.DropCache(0, 0);
    ASSERT_OK(MakePrivate(Place()));
    EXPECT_EQ(std::memcmp(memory_.data(), expected.data(), kBytes), 0);
    EXPECT_TRUE(IsMapped());
    // Changes of the file no longer matter.
    FlipByte(path_, kHeader + 1);
    EXPECT_EQ(std::memcmp(memory_.data(), expected.data(), kBytes), 0);
    FlipByte(path_, kHeader + 1);
    memory_[kBytes - 1] = std::byte{5};
    ReleaseMemory(memory_);
  }
}

TEST_F(PartitionLoadingTest, MakingPrivateDropsTheCleanPages) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  ASSERT_OK(MapPartition(Place()));
  EXPECT_TRUE(HasRows());
  EXPECT_GE(CachedBytes(path_), kBytes);
  ASSERT_OK(MakePrivate(Place()));
  EXPECT_LE(CachedBytes(path_), kBytes / 20);
}

}  // namespace
}  // namespace octavo
