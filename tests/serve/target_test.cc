#include "serve/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace octavo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(TargetTest, SplitsAndDecodes) {
  const auto target = ParseTarget("/api/v1/node?name=a%20b%26c&edges=3&flag&x=1+2&name=%FF%00");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->path, "/api/v1/node");
  EXPECT_THAT(target->values, ElementsAre(Pair("name", "a b&c"), Pair("edges", "3"), Pair("flag", ""), Pair("x", "1 2"),
                                          Pair("name", std::string("\xff\0", 2))));
}

TEST(TargetTest, PathsAreNotDecoded) {
  EXPECT_EQ(ParseTarget("/%2e%2e/etc/passwd")->path, "/%2e%2e/etc/passwd");
  EXPECT_EQ(ParseTarget("/a#b?c=d")->path, "/a");
  EXPECT_THAT(ParseTarget("/a?")->values, IsEmpty());
  EXPECT_THAT(ParseTarget("/a?&&")->values, IsEmpty());
}

TEST(TargetTest, RefusesWhatItCannotRead) {
  for (const std::string text : {"", "a", "http://x/", "*"}) {
    EXPECT_THAT(std::string(MessageOf(ParseTarget(text).status())), HasSubstr("begins with /")) << text;
  }
  for (const std::string text : {"/?a=%", "/?a=%4", "/?a=%4g", "/?%zz=1"}) {
    EXPECT_THAT(std::string(MessageOf(ParseTarget(text).status())), HasSubstr("two hexadecimal digits")) << text;
  }
  EXPECT_TRUE(ParseTarget("/?a=%41").ok());  // at the very end
  std::string many = "/?";
  for (std::size_t i = 0; i <= kMostValues; ++i) many += "a=1&";
  EXPECT_THAT(std::string(MessageOf(ParseTarget(many).status())), HasSubstr("found more than 2000 values"));
}

TEST(TargetTest, EncodesEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const auto target = ParseTarget("/?" + PercentEncode(all) + "=" + PercentEncode(all));
  ASSERT_TRUE(target.ok());
  EXPECT_THAT(target->values, ElementsAre(Pair(all, all)));
}

}  // namespace
}  // namespace octavo
