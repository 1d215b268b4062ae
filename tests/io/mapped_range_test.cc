#include "io/mapped_range.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

const char* NameAt(const void* address) { return MappedPlaceAt(address).name; }

TEST(MappedRange, IsFoundByEachOfItsBytesAndByNoOther) {
  const std::vector<char> memory(300);
  const MappedRange range(memory.data() + 100, 100, "graph/nodes.names", 7, 4096);
  for (int i = 100; i < 200; ++i) {
    const MappedPlace place = MappedPlaceAt(memory.data() + i);
    EXPECT_STREQ(place.name, "graph/nodes.names");
    EXPECT_EQ(place.descriptor, 7);
    EXPECT_EQ(place.offset, 4096U + static_cast<unsigned>(i) - 100U);
  }
  EXPECT_EQ(NameAt(memory.data() + 99), nullptr);
  EXPECT_EQ(NameAt(memory.data() + 200), nullptr);
  EXPECT_EQ(NameAt(nullptr), nullptr);
}

TEST(MappedRange, IsGoneWithItsOwner) {
  const std::vector<char> memory(200);
  MappedRange kept;
  {
    MappedRange first(memory.data(), 100, "a", 1, 0);
    const MappedRange second(memory.data() + 100, 100, "b", 1, 0);
    kept = std::move(first);
  }
  EXPECT_STREQ(NameAt(memory.data()), "a");
  EXPECT_EQ(NameAt(memory.data() + 100), nullptr);
  kept = MappedRange();
  EXPECT_EQ(NameAt(memory.data()), nullptr);
}

TEST(MappedRange, WhereThereIsNoRoomNothingIsEntered) {
  const std::vector<char> memory(1300);
  {
    std::vector<MappedRange> ranges;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      ranges.emplace_back(memory.data() + i, 1, std::to_string(i), 1, 0);
    }
    EXPECT_STREQ(NameAt(memory.data() + 1279), "1279");
    EXPECT_EQ(NameAt(memory.data() + 1280), nullptr);
  }
  const MappedRange range(memory.data(), 1, "again", 1, 0);
  EXPECT_STREQ(NameAt(memory.data()), "again");
}

TEST(MappedRange, EscapesNamesAndKeepsTheEndOfLongOnes) {
  const char byte = 0;
  {
    const MappedRange range(&byte, 1, "a\x1b[31m", 1, 0);
    EXPECT_STREQ(NameAt(&byte), "a\\x1B[31m");
  }
  const MappedRange range(&byte, 1, std::string(4000, '\x01') + "/nodes.hash", 1, 0);
  const std::string name = NameAt(&byte);
  EXPECT_LT(name.size(), 1024U);
  EXPECT_TRUE(name.starts_with("...\\x01"));
  EXPECT_TRUE(name.ends_with("\\x01/nodes.hash"));
}

}  // namespace
}  // namespace octavo
