#include "evaluate/name_completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::chrono::milliseconds kLong(60'000);

NameCompletion Complete(const std::string& prefix, const std::vector<std::string>& names, std::size_t count = 50,
                        std::chrono::milliseconds time = kLong) {
  return CompleteName(
      prefix, names.size(), [&](std::uint64_t i) { return std::string_view(names[i]); }, count, time);
}

TEST(CompleteName, AgreesWithAListOfAll) {
  RandomStream random(5, RandomPurpose::kSplit, 0, 0);
  const auto word = [&] {
    std::string text(random.Below(6), 'a');
    for (char& c : text) c = static_cast<char>('a' + random.Below(2));
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::string> names(random.Below(20));
    for (std::string& name : names) name = word();
    const std::string prefix = word();
    const std::size_t count = random.Below(4);
    std::vector<std::string> matches;
    std::copy_if(names.begin(), names.end(), std::back_inserter(matches),
                 [&](const std::string& name) { return name.substr(0, prefix.size()) == prefix; });
    std::sort(matches.begin(), matches.end());
    std::string common = matches.empty() ? "" : matches.front();
    while (!common.empty() && matches.back().substr(0, common.size()) != common) common.pop_back();
    const NameCompletion completion = Complete(prefix, names, count);
    EXPECT_TRUE(completion.whole);
    EXPECT_EQ(completion.matches, matches.size());
    EXPECT_EQ(completion.common, common);
    matches.resize(std::min(count, matches.size()));
    EXPECT_EQ(completion.names, matches);
  }
}

TEST(CompleteName, CommonEndsWithACharacter) {
  EXPECT_EQ(Complete("", {"x\xC3\xA4", "x\xC3\xA5"}).common, "x");
  EXPECT_EQ(Complete("", {"x\xC3\xA4y", "x\xC3\xA4z"}).common, "x\xC3\xA4");
  EXPECT_EQ(Complete("", {"\xE2\x82\xAC"}).common, "\xE2\x82\xAC");
}

TEST(CompleteName, EndsWithTheTime) {
  std::vector<std::string> names(5000, "node");
  names[1023] = "nod";
  names[1024] = "no";
  const NameCompletion part = Complete("n", names, 2, std::chrono::milliseconds(0));
  EXPECT_FALSE(part.whole);
  EXPECT_EQ(part.matches, 1024);
  EXPECT_THAT(part.names, ElementsAre("nod", "node"));
  EXPECT_EQ(part.common, "nod");
}

TEST(CompleteName, ByShortNames) {
  const std::vector<std::string> names = {"http://a/Q4", "http://a/Q42", "http://b/R1", "Q4", "http://a/xQ4"};
  const NameCompletion found = CompleteName(
      "Q4", names.size(), [&](std::uint64_t i) { return std::string_view(names[i]); }, 50, kLong,
      CompletedPart::kShortName);
  EXPECT_THAT(found.names, ElementsAre("http://a/Q4", "http://a/Q42"));
  EXPECT_EQ(found.common, "http://a/Q4");
}

TEST(CompleteName, MergesLists) {
  NameCompletion both = Complete("h", {"host", "hosts"});
  Merge(Complete("h", {"help", "heap"}), 3, both);
  EXPECT_EQ(both.matches, 4);
  EXPECT_EQ(both.common, "h");
  EXPECT_THAT(both.names, ElementsAre("heap", "help", "host"));
  NameCompletion none = Complete("h", {});
  EXPECT_THAT(none.names, IsEmpty());
  Merge(both, 50, none);
  EXPECT_EQ(none.matches, 4);
  EXPECT_EQ(none.common, "h");
  Merge(Complete("x", {}), 50, none);
  EXPECT_EQ(none.common, "h");
}

}  // namespace
}  // namespace octavo
