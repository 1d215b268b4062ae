#include "serve/run_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(RunEventsTest, PlacesAreTextAndBack) {
  const EventPlace place = ParseEventPlace(FormatEventPlace({12, 34, 56}));
  EXPECT_EQ(place.bytes, 12U);
  EXPECT_EQ(place.generation, 34U);
  EXPECT_EQ(place.run, 56U);
  for (const char* text : {"", "-", "1", "1-", "-1", "a-b", "1-2", "1-2-3-4", "1-2-x", "99999999999999999999-1-1"}) {
    EXPECT_EQ(ParseEventPlace(text).bytes, 0U) << text;
    EXPECT_EQ(ParseEventPlace(text).generation, 0U) << text;
  }
}

// A training that is just writing a line must not show half of it.
TEST(RunEventsTest, WholeLinesEndAtTheLastLineEnd) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "metrics.jsonl";
  EXPECT_EQ(*WholeLines(path), 0U);
  const auto write = [&](const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  write("");
  EXPECT_EQ(*WholeLines(path), 0U);
  write("{\"event\"");
  EXPECT_EQ(*WholeLines(path), 0U);
  write("{}\n{\"event");
  EXPECT_EQ(*WholeLines(path), 3U);
  write(std::string(10000, 'x') + "\n" + std::string(9000, 'y'));
  EXPECT_EQ(*WholeLines(path), 10001U);
}

}  // namespace
}  // namespace octavo
