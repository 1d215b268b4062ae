#include "io/mapped_range.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(MappedRange, IsFoundByEachOfItsBytesAndByNoOther) {
  const std::vector<char> memory(300);
  const MappedRange range(memory.data() + 100, 100, "graph/nodes.names");
  for (int i = 100; i < 200; ++i) EXPECT_STREQ(MappedFileAt(memory.data() + i), "graph/nodes.names");
  EXPECT_EQ(MappedFileAt(memory.data() + 99), nullptr);
  EXPECT_EQ(MappedFileAt(memory.data() + 200), nullptr);
  EXPECT_EQ(MappedFileAt(nullptr), nullptr);
}

TEST(MappedRange, IsGoneWithItsOwner) {
  const std::vector<char> memory(200);
  MappedRange kept;
  {
    MappedRange first(memory.data(), 100, "a");
    const MappedRange second(memory.data() + 100, 100, "b");
    kept = std::move(first);
  }
  EXPECT_STREQ(MappedFileAt(memory.data()), "a");
  EXPECT_EQ(MappedFileAt(memory.data() + 100), nullptr);
  kept = MappedRange();
  EXPECT_EQ(MappedFileAt(memory.data()), nullptr);
}

TEST(MappedRange, WhereThereIsNoRoomNothingIsEntered) {
  const std::vector<char> memory(100);
  {
    std::vector<MappedRange> ranges;
    for (std::size_t i = 0; i < memory.size(); ++i) ranges.emplace_back(memory.data() + i, 1, std::to_string(i));
    EXPECT_STREQ(MappedFileAt(memory.data() + 63), "63");
    EXPECT_EQ(MappedFileAt(memory.data() + 64), nullptr);
  }
  const MappedRange range(memory.data(), 1, "again");
  EXPECT_STREQ(MappedFileAt(memory.data()), "again");
}

TEST(MappedRange, EscapesNamesAndKeepsTheEndOfLongOnes) {
  const char byte = 0;
  {
    const MappedRange range(&byte, 1, "a\x1b[31m");
    EXPECT_STREQ(MappedFileAt(&byte), "a\\x1B[31m");
  }
  const MappedRange range(&byte, 1, std::string(4000, '\x01') + "/nodes.hash");
  const std::string name = MappedFileAt(&byte);
  EXPECT_LT(name.size(), 1024U);
  EXPECT_TRUE(name.starts_with("...\\x01"));
  EXPECT_TRUE(name.ends_with("\\x01/nodes.hash"));
}

}  // namespace
}  // namespace octavo
