#include "layout/scratch_table.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(ScratchTable, RowsComeBackFromMemoryAndFile) {
  const TemporaryFolder folder;
  for (const bool in_file : {false, true}) {
    auto made = in_file ? ScratchTable::InFile(folder.path(), 5000, 3) : ScratchTable::InMemory(5000, 3);
    ASSERT_OK_AND_ASSIGN(ScratchTable table, std::move(made));
    EXPECT_EQ(table.in_file(), in_file);
    std::vector<std::uint32_t> words(3 * 5000);
    std::iota(words.begin(), words.end(), 7U);
    ASSERT_OK(table.Write(2500, std::span(words).subspan(7500)));
    ASSERT_OK(table.Write(0, std::span(words).first(7500)));
    std::vector<std::uint32_t> found(3 * 4000);
    ASSERT_OK(table.Read(1000, found));
    EXPECT_TRUE(std::equal(found.begin(), found.end(), words.begin() + 3000));
  }
}

TEST(ScratchTable, TheFileHasNoName) {
  const TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(ScratchTable table, ScratchTable::InFile(folder.path(), 10, 1));
  const std::vector<std::uint32_t> words(10);
  ASSERT_OK(table.Write(0, words));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchTable, AFolderThatIsMissingIsAnError) {
  const TemporaryFolder folder;
  EXPECT_FALSE(ScratchTable::InFile(folder / "none", 10, 1).ok());
}

}  // namespace
}  // namespace octavo
