#include "format/sealed_lines.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

EventKeys Keys() { return KeysOfEvents({R"({"event":"a","x":1})", R"({"event":"b","y":[1,{"z":2}]})"}); }

std::string WithoutEnd(const std::string& line) { return line.substr(0, line.size() - 1); }

TEST(SealLine, AddsAChecksumThatDependsOnThePlace) {
  const std::string line = SealLine(R"({"event":"a","x":1})", 5);
  EXPECT_TRUE(line.starts_with(R"({"event":"a","x":1,"checksum":")"));
  EXPECT_TRUE(line.ends_with("\"}\n"));
  EXPECT_NE(line, SealLine(R"({"event":"a","x":1})", 6));
  EXPECT_OK(SealedLines(Keys()).Check(WithoutEnd(line), 5, "f:1"));
  EXPECT_ERROR(SealedLines(Keys()).Check(WithoutEnd(line), 6, "f:1"), kCorrupt, "f:1: checksum ");
}

// Also the name of the key: the line then looks like one from before there were checksums, but has an unknown key.
TEST(SealedLines, EveryFlippedBitOfALineIsNoticed) {
  const std::string line = WithoutEnd(SealLine(R"({"event":"a","x":1})", 0));
  for (std::size_t bit = 0; bit < 8 * line.size(); ++bit) {
    std::string damaged = line;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(SealedLines(Keys()).Check(damaged, 0, "f:1").ok()) << damaged;
  }
}

TEST(SealedLines, LinesWithoutAChecksumComeFirstAndHaveKnownKeys) {
  SealedLines lines(Keys());
  EXPECT_OK(lines.Check(R"({"event":"b","y":0})", 0, "f:1"));
  EXPECT_FALSE(lines.first_sealed());
  EXPECT_ERROR(lines.Check(R"({"event":"b","x":0})", 20, "f:2"), kCorrupt, "f:2: unknown key \"x\"; expected a key of");
  EXPECT_ERROR(lines.Check(R"({"event":"c"})", 20, "f:2"), kCorrupt, "f:2: an event \"c\" without \"checksum\"");
  EXPECT_ERROR(lines.Check("{}", 20, "f:2"), kCorrupt, "f:2: an event \"\" without");
  EXPECT_ERROR(lines.Check("[]", 20, "f:2"), kCorrupt, "f:2: \"[]\"; expected a JSON object");
  EXPECT_OK(lines.Check(WithoutEnd(SealLine(R"({"event":"of another version","w":0})", 20)), 20, "f:2"));
  EXPECT_ERROR(lines.Check(R"({"event":"b","y":0})", 90, "f:3"), kCorrupt, "f:3: no \"checksum\"; expected one");
  EXPECT_FALSE(lines.first_sealed());
}

// A kill cuts a line; a damaged line end makes it longer.
TEST(HasDamagedEnd, TellsACutLineFromADamagedLineEnd) {
  const std::string line = SealLine(R"({"event":"a","x":1})", 0);
  for (std::size_t bytes = 0; bytes < line.size(); ++bytes) EXPECT_FALSE(HasDamagedEnd(line.substr(0, bytes))) << bytes;
  EXPECT_FALSE(HasDamagedEnd(WithoutEnd(line) + std::string(9, '\0')));
  for (const char byte : {'\v', 'J', '\x8a'}) EXPECT_TRUE(HasDamagedEnd(WithoutEnd(line) + byte));
}

}  // namespace
}  // namespace octavo
