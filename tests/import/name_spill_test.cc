#include "import/name_spill.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class NameSpillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(file_, SpillFile::Create(folder_ / "names", use_));
    ASSERT_OK_AND_ASSIGN(ids_, SpillFile::Create(folder_ / "ids", use_));
  }

  // Spills names with their marks as one extent. With `bent` they all have the hash 7.
  void Spill(const std::vector<std::pair<std::string, std::uint8_t>>& marked, bool bent = false) {
    NameTable table;
    std::vector<NameTable::Name> names;
    for (const auto& [text, mark] : marked) names.push_back({text, HashName(text, 0)});
    std::vector<std::uint32_t> ids(names.size());
    ASSERT_OK(table.Intern(names, ids));
    NameMarks marks(table.id_limit());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (marked[i].second != 0) marks.Set(ids[i], marked[i].second);
    }
    const NameHash hash = bent ? [](std::string_view, std::uint64_t) -> std::uint64_t { return 7; } : HashName;
    const auto ranking = RankNodesWithSeed(table, marks, /*only_train=*/false, hash, 0);
    ASSERT_TRUE(ranking);
    std::vector<std::string>& places = places_.emplace_back();
    for (const std::uint32_t id : ranking->by_rank) places.emplace_back(table.Text(id));
    ASSERT_OK_AND_ASSIGN(const SpillExtent extent, SpillNames(table, marks, *ranking, *file_));
    extents_.push_back(extent);
  }

  TemporaryFolder folder_{FastPlace()};
  SpillUse use_;
  std::unique_ptr<SpillFile> file_;
  std::unique_ptr<SpillFile> ids_;
  std::vector<SpillExtent> extents_;
  std::vector<std::vector<std::string>> places_;  // the names of each extent
};

TEST_F(NameSpillTest, MergesNamesAndMarksOfAllExtentsByHashAndMapsTheirPlaces) {
  std::mt19937_64 random(1);
  std::map<std::string, std::uint8_t> expected;
  for (int extent = 0; extent < 7; ++extent) {
    std::map<std::string, std::uint8_t> mine;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t number = random() % 5000;
      std::string name = "name " + std::to_string(number);
      if (number % 1000 == 1) name.assign(65536 - number / 1000, 'x');
      mine[name] = static_cast<std::uint8_t>(mine[name] | random() % 4);
    }
    Spill({mine.begin(), mine.end()});
    for (const auto& [name, marks] : mine) {
      if (marks != 0) expected[name] |= marks;
    }
  }
  Spill({});
  ASSERT_OK(file_->FinishWriting());
  for (const std::uint64_t buffer_bytes : {std::uint64_t{0}, std::uint64_t{1} << 30}) {
    std::map<std::string, std::uint8_t> found;
    std::map<std::string, std::uint32_t> ids;
    std::uint64_t last = 0;
    const auto visit = [&](const SpilledName& name) -> absl::StatusOr<std::uint32_t> {
      EXPECT_LT(last, name.hash);
      last = name.hash;
      EXPECT_EQ(name.hash, HashName(name.text, 0));
      EXPECT_TRUE(found.emplace(std::string(name.text), name.marks).second);
      const std::uint32_t id = found.size() % 10 == 0 ? kNoId : static_cast<std::uint32_t>(2 * found.size());
      ids.emplace(std::string(name.text), id);
      return id;
    };
    ASSERT_OK_AND_ASSIGN(const auto maps, MergeNames(*file_, extents_, *ids_, buffer_bytes, visit));
    EXPECT_TRUE(found == expected);
    ASSERT_TRUE(maps);
    ASSERT_EQ(maps->size(), 8U);
    for (std::size_t extent = 0; extent < maps->size(); ++extent) {
      ASSERT_EQ(maps->at(extent).names, places_[extent].size());
      ASSERT_OK_AND_ASSIGN(const IdMap map, IdMap::Read(*ids_, maps->at(extent)));
      for (std::uint32_t i = 0; i < places_[extent].size(); ++i) {
        ASSERT_EQ(map.Id(i), ids[places_[extent][i]]);
        ASSERT_EQ(map.InTrain(i), (expected[places_[extent][i]] & NameMarks::kInTrain) != 0);
      }
    }
  }
}

TEST_F(NameSpillTest, MergesOfSomeExtentsTakeTheirPlace) {
  Spill({{"a", 1}, {"b", 1}, {"c", 2}});
  Spill({{"b", 2}, {"d", 1}});
  Spill({{"a", 2}, {"e", 1}});
  ASSERT_OK(file_->FinishWriting());
  std::uint64_t reported = 0;
  const auto tick = [&](std::uint64_t bytes) {
    reported += bytes;
    return absl::OkStatus();
  };
  ASSERT_OK_AND_ASSIGN(const auto merged, MergeNamesToExtent(*file_, std::span(extents_).first(2), *ids_, 0, tick));
  ASSERT_TRUE(merged);
  EXPECT_EQ(reported, extents_[1].end);
  EXPECT_EQ(merged->extent.begin, extents_[2].end);
  EXPECT_EQ(merged->extent.end, file_->size());
  std::map<std::string, int> found;
  std::vector<std::string> ids;
  const auto take = [&](const SpilledName& name) -> absl::StatusOr<std::uint32_t> {
    EXPECT_TRUE(found.emplace(std::string(name.text), name.marks).second);
    ids.emplace_back(name.text);
    return static_cast<std::uint32_t>(ids.size() - 1);
  };
  ASSERT_OK_AND_ASSIGN(const auto maps, MergeNames(*file_, std::vector{extents_[2], merged->extent}, *ids_, 0, take));
  EXPECT_EQ(found, (std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 2}, {"d", 1}, {"e", 1}}));
  // The places in the second extent lead to places in the merged one, and these to the ids.
  ASSERT_TRUE(maps);
  ASSERT_EQ(merged->maps.size(), 2U);
  ASSERT_OK_AND_ASSIGN(IdMap map, IdMap::Read(*ids_, merged->maps[1]));
  ASSERT_OK(map.Then(*ids_, maps->at(1)));
  for (std::uint32_t i = 0; i < places_[1].size(); ++i) EXPECT_EQ(ids[map.Id(i)], places_[1][i]);
}

TEST_F(NameSpillTest, TwoNamesWithOneHashAreACollision) {
  const auto nothing = [](const SpilledName&) -> absl::StatusOr<std::uint32_t> { return 0; };
  Spill({{"a", 1}, {"b", 0}}, true);  // a name without a mark is in no edge that stays
  ASSERT_OK_AND_ASSIGN(auto maps, MergeNames(*file_, extents_, *ids_, 0, nothing));
  EXPECT_TRUE(maps);
  Spill({{"a", 2}}, true);
  ASSERT_OK_AND_ASSIGN(maps, MergeNames(*file_, extents_, *ids_, 0, nothing));
  EXPECT_TRUE(maps);
  Spill({{"c", 2}}, true);
  ASSERT_OK_AND_ASSIGN(maps, MergeNames(*file_, extents_, *ids_, 0, nothing));
  EXPECT_FALSE(maps);
  ASSERT_OK_AND_ASSIGN(const auto merged, MergeNamesToExtent(*file_, extents_, *ids_, 0));
  EXPECT_FALSE(merged);
}

TEST_F(NameSpillTest, AnErrorOfTheVisitorEndsIt) {
  Spill({{"a", 1}, {"b", 1}});
  int visited = 0;
  const auto refuse = [&](const SpilledName&) -> absl::StatusOr<std::uint32_t> {
    ++visited;
    return RuntimeError("enough");
  };
  EXPECT_ERROR(MergeNames(*file_, extents_, *ids_, 0, refuse), kRuntime, "enough");
  EXPECT_EQ(visited, 1);
}

}  // namespace
}  // namespace octavo
