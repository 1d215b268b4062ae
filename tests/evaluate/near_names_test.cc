#include "evaluate/near_names.h"

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

// Optimal string alignment over the whole table.
std::size_t NaiveDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

TEST(SpellingDistance, AgreesWithTheWholeTable) {
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  const auto word = [&] {
    std::string text(random.Below(8), 'a');
    for (char& c : text) c = static_cast<char>('a' + random.Below(3));
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = word();
    const std::string b = word();
    for (const std::size_t limit : {0UL, 1UL, 2UL, 3UL}) {
      ASSERT_EQ(SpellingDistance(a, b, limit), std::min(NaiveDistance(a, b), limit + 1))
          << a << " " << b << " " << limit;
    }
  }
}

std::vector<std::string> Near(const std::string& wanted, const std::vector<std::string>& names) {
  return NearNames(wanted, names.size(), [&](std::uint64_t i) { return std::string_view(names[i]); });
}

TEST(NearNames, CaseThenDistanceThenPrefix) {
  const std::vector<std::string> names = {"python3-numpy", "PYTHON3", "pythn3", "pyhton3", "perl", "python3x", "zsh"};
  EXPECT_THAT(Near("python3", names), ElementsAre("PYTHON3", "pyhton3", "pythn3"));
  EXPECT_THAT(Near("python3-n", names), ElementsAre("python3x", "python3-numpy"));
}

// A label was not suggested for its last word, nor for its beginning in small letters.
TEST(NearNames, ThenPartsThatBeginAWordInAnyCase) {
  const std::vector<std::string> names = {"Douglas Adams", "Adamsville", "McAdams", "John Quincy Adams",
                                          "caf\xC3\xA9"
                                          "adams"};
  EXPECT_THAT(Near("adams", names), ElementsAre("Adamsville", "Douglas Adams", "John Quincy Adams"));
  EXPECT_THAT(Near("douglas", names), ElementsAre("Douglas Adams"));
  EXPECT_THAT(Near("john q", names), ElementsAre("John Quincy Adams"));
  EXPECT_THAT(Near("person 7", {"Person Nr. 70", "Person Nr. 7", "Person Nr. 17"}),
              ElementsAre("Person Nr. 7", "Person Nr. 70"));
  EXPECT_THAT(Near("adams john", names), ElementsAre("John Quincy Adams"));
  EXPECT_THAT(Near("adams henry", names), IsEmpty());
  EXPECT_THAT(Near("ad", {"to ad", "x"}), IsEmpty());
  EXPECT_THAT(Near("transe", {"fb15k-237-transe", "fb15k-237-rotate"}), ElementsAre("fb15k-237-transe"));
}

TEST(NearNames, ShortNamesAndStrangersHaveNone) {
  EXPECT_THAT(Near("a", {"b", "c"}), IsEmpty());
  EXPECT_THAT(Near("firefox", {"gimp", "inkscape"}), IsEmpty());
  EXPECT_THAT(Near("", {"gimp"}), IsEmpty());
  EXPECT_THAT(Near("gimp", {}), IsEmpty());
}

// A help flag that two commands have was suggested twice, and a preset's name instead of itself.
TEST(NearNames, EachOnceAndNeverWhatIsWanted) {
  EXPECT_THAT(Near("--hepl", {"--help", "--version", "--help"}), ElementsAre("--help"));
  EXPECT_THAT(Near("umls", {"umls-complex", "umls-x", "umls-complex", "umls-y"}),
              ElementsAre("umls-x", "umls-y", "umls-complex"));
  EXPECT_THAT(Near("-k", {"-h", "-k", "-h"}), ElementsAre("-h"));
}

TEST(ShortName, FollowsTheLastSlashOrHash) {
  EXPECT_EQ(ShortName("http://www.wikidata.org/entity/Q42"), "Q42");
  EXPECT_EQ(ShortName("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), "type");
  EXPECT_EQ(ShortName("/m/027rn"), "027rn");
  EXPECT_EQ(ShortName("http://example.org/"), "");
  EXPECT_EQ(ShortName("Q42"), "");
}

TEST(FindNamesEnding, CountsAllAndNamesThree) {
  const std::vector<std::string> names = {"a/C3", "b#C3", "C3", "a/C31", "c/C3/x", "c/C3", "d/C3"};
  const auto find = [&](std::string_view wanted, std::chrono::milliseconds time = std::chrono::minutes(1)) {
    return FindNamesEnding(
        wanted, names.size(), [&](std::uint64_t i) { return std::string_view(names[i]); }, time);
  };
  EXPECT_EQ(find("C3").matches, 4U);
  EXPECT_THAT(find("C3").names, ElementsAre("a/C3", "b#C3", "c/C3"));
  EXPECT_THAT(find("x").names, ElementsAre("c/C3/x"));
  EXPECT_THAT(find("C3/x").names, ElementsAre("c/C3/x"));
  EXPECT_THAT(find("").names, IsEmpty());
  EXPECT_TRUE(find("C4").whole);
  const auto part = FindNamesEnding(
      "C3", 5000, [](std::uint64_t i) -> std::string_view { return i < 1024 ? "x" : "a/C3"; },
      std::chrono::milliseconds(0));
  EXPECT_EQ(part.matches, 0U);
  EXPECT_FALSE(part.whole);
}

}  // namespace
}  // namespace octavo
