#include "parse/name_list.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class NameListTest : public ::testing::Test {
 protected:
  absl::StatusOr<NameList> Read(const std::string& text, std::uint64_t max_bytes = UINT64_MAX) {
    WriteFileBytes(folder_ / "names", text);
    return NameList::Read((folder_ / "names").string(), max_bytes);
  }
  TemporaryFolder folder_;
};

TEST_F(NameListTest, EveryLineIsAName) {
  ASSERT_OK_AND_ASSIGN(const NameList names, Read("a\r\n# b\n c\td \n%"));
  ASSERT_EQ(names.size(), 4U);
  EXPECT_EQ(names[0], "a");
  EXPECT_EQ(names[1], "# b");
  EXPECT_EQ(names[2], " c\td ");
  EXPECT_EQ(names[3], "%");
  ASSERT_OK_AND_ASSIGN(const NameList none, Read(""));
  EXPECT_EQ(none.size(), 0U);
}

TEST_F(NameListTest, RefusesNamesByFileAndLine) {
  EXPECT_ERROR(Read("a\n\nb\n"), kInput, "names:2: found \"\", expected a name of 1 to 65536 bytes");
  EXPECT_ERROR(Read("a\n" + std::string(65537, 'x') + "\n"), kInput, "names:2: found \"xxx");
  EXPECT_ERROR(Read(std::string("a\0b\n", 4)), kInput, "names:1: found \"a\\x00b\", expected text");
  EXPECT_ERROR(Read("a\nb\na\n"), kInput, "names:3: found \"a\", the name of line 1, expected each name once");
  EXPECT_ERROR(Read("a\nb\n", 100), kUsage, "names: the first 2 names need more than 100 B of --memory");
  EXPECT_ERROR(NameList::Read((folder_ / "none").string(), 100), kUsage, "none: no such file");
}

}  // namespace
}  // namespace octavo
