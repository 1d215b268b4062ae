#include "io/file_mapping.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "io/mapped_range.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class FileMappingTest : public ::testing::Test {
 protected:
  File WriteFile(const std::string& bytes) {
    WriteFileBytes(path_, bytes);
    return File::OpenRead(path_).value();
  }
  static std::string_view TextOf(const FileMapping& mapping) {
    return {reinterpret_cast<const char*>(mapping.bytes().data()), mapping.bytes().size()};
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "file";
};

TEST_F(FileMappingTest, HasTheBytesOfTheFileAndItsName) {
  const std::string bytes = std::string(10'000, 'x') + "end";
  const File file = WriteFile(bytes);
  const void* address = nullptr;
  {
    ASSERT_OK_AND_ASSIGN(FileMapping first, FileMapping::Open(file));
    FileMapping mapping;
    EXPECT_FALSE(mapping.is_open());
    mapping = std::move(first);
    EXPECT_TRUE(mapping.is_open());
    EXPECT_TRUE(TextOf(mapping) == bytes);
    address = mapping.bytes().data() + 9000;
    const MappedPlace place = MappedPlaceAt(address);
    ASSERT_NE(place.name, nullptr);
    EXPECT_EQ(place.name, path_.string());
    EXPECT_EQ(place.offset, 9000U);
    EXPECT_EQ(place.descriptor, file.descriptor());
    // Advice, also past the end.
    mapping.WillRead(0, 1 << 30);
    mapping.LetGo(5000, 1 << 30);
    EXPECT_TRUE(TextOf(mapping) == bytes);
  }
  EXPECT_EQ(MappedPlaceAt(address).name, nullptr);
}

TEST_F(FileMappingTest, AnEmptyFileHasNoMapping) {
  const File file = WriteFile("");
  ASSERT_OK_AND_ASSIGN(const FileMapping mapping, FileMapping::Open(file));
  EXPECT_FALSE(mapping.is_open());
  EXPECT_TRUE(mapping.bytes().empty());
}

TEST_F(FileMappingTest, ReadsNoMoreThanIsTouchedOrAskedFor) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  constexpr std::uint64_t kBytes = std::uint64_t{8} << 20;
  const File file = WriteFile(std::string(kBytes, 'x'));
  SyncFile(path_);
  file.DropCache(0, 0);
  ASSERT_OK_AND_ASSIGN(const FileMapping mapping, FileMapping::Open(file));
  EXPECT_EQ(mapping.bytes()[kBytes / 2], std::byte{'x'});
  EXPECT_LE(CachedBytes(path_), kBytes / 8);
  // What is let go can leave the cache.
  mapping.LetGo(0, kBytes);
  file.DropBehind(0, kBytes);
  EXPECT_EQ(CachedBytes(path_), 0U);
}

}  // namespace
}  // namespace octavo
