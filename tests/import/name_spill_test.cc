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
  void SetUp() override { ASSERT_OK_AND_ASSIGN(file_, SpillFile::Create(folder_ / "names", use_)); }

  // Spills names with their marks as one extent. `mask` bends the hash.
  void Spill(const std::vector<std::pair<std::string, std::uint8_t>>& marked, std::uint64_t mask = ~std::uint64_t{0}) {
    NameTable table;
    std::vector<NameTable::Name> names;
    for (const auto& [text, mark] : marked) names.push_back({text, HashName(text, 0)});
    std::vector<std::uint32_t> ids(names.size());
    ASSERT_OK(table.Intern(names, ids));
    NameMarks marks(table.id_limit());
    std::vector<std::uint64_t> hashes(table.id_limit());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (marked[i].second != 0) marks.Set(ids[i], marked[i].second);
      hashes[ids[i]] = names[i].hash & mask;
    }
    ASSERT_OK_AND_ASSIGN(const SpillExtent extent, SpillNames(table, marks, hashes, *file_));
    extents_.push_back(extent);
  }

  TemporaryFolder folder_;
  SpillUse use_;
  std::unique_ptr<SpillFile> file_;
  std::vector<SpillExtent> extents_;
};

TEST_F(NameSpillTest, MergesNamesAndMarksOfAllRunsByHash) {
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
    std::uint64_t last = 0;
    ASSERT_OK_AND_ASSIGN(const bool unique, MergeNames(*file_, extents_, buffer_bytes, [&](const SpilledName& name) {
                           EXPECT_LT(last, name.hash);
                           last = name.hash;
                           EXPECT_EQ(name.hash, HashName(name.text, 0));
                           EXPECT_TRUE(found.emplace(std::string(name.text), name.marks).second);
                           return absl::OkStatus();
                         }));
    EXPECT_TRUE(unique);
    EXPECT_TRUE(found == expected);
  }
}

TEST_F(NameSpillTest, MergesOfSomeRunsTakeTheirPlace) {
  Spill({{"a", 1}, {"b", 1}, {"c", 2}});
  Spill({{"b", 2}, {"d", 1}});
  Spill({{"a", 2}, {"e", 1}});
  ASSERT_OK(file_->FinishWriting());
  std::uint64_t reported = 0;
  const auto tick = [&](std::uint64_t bytes) {
    reported += bytes;
    return absl::OkStatus();
  };
  ASSERT_OK_AND_ASSIGN(const auto merged, MergeNamesToExtent(*file_, std::span(extents_).first(2), 0, tick));
  ASSERT_TRUE(merged);
  EXPECT_EQ(reported, extents_[1].end);
  EXPECT_EQ(merged->begin, extents_[2].end);
  EXPECT_EQ(merged->end, file_->size());
  std::map<std::string, int> found;
  const auto take = [&](const SpilledName& name) {
    EXPECT_TRUE(found.emplace(std::string(name.text), name.marks).second);
    return absl::OkStatus();
  };
  ASSERT_OK_AND_ASSIGN(const bool unique, MergeNames(*file_, std::vector{extents_[2], *merged}, 0, take));
  EXPECT_TRUE(unique);
  EXPECT_EQ(found, (std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 2}, {"d", 1}, {"e", 1}}));
}

TEST_F(NameSpillTest, TwoNamesWithOneHashAreACollision) {
  const auto nothing = [](const SpilledName&) { return absl::OkStatus(); };
  Spill({{"a", 1}, {"b", 0}}, 0);  // a name without a mark is in no edge that stays
  ASSERT_OK_AND_ASSIGN(bool unique, MergeNames(*file_, extents_, 0, nothing));
  EXPECT_TRUE(unique);
  Spill({{"a", 2}}, 0);
  ASSERT_OK_AND_ASSIGN(unique, MergeNames(*file_, extents_, 0, nothing));
  EXPECT_TRUE(unique);
  Spill({{"c", 2}}, 0);  // in another extent
  ASSERT_OK_AND_ASSIGN(unique, MergeNames(*file_, extents_, 0, nothing));
  EXPECT_FALSE(unique);
  extents_.clear();
  Spill({{"a", 1}, {"b", 1}}, 0);  // in the same one
  ASSERT_OK_AND_ASSIGN(unique, MergeNames(*file_, extents_, 0, nothing));
  EXPECT_FALSE(unique);
  ASSERT_OK_AND_ASSIGN(const auto extent, MergeNamesToExtent(*file_, extents_, 0));
  EXPECT_FALSE(extent);
}

TEST_F(NameSpillTest, AnErrorOfTheVisitorEndsIt) {
  Spill({{"a", 1}, {"b", 1}});
  int visited = 0;
  const auto refuse = [&](const SpilledName&) {
    ++visited;
    return RuntimeError("enough");
  };
  EXPECT_ERROR(MergeNames(*file_, extents_, 0, refuse), kRuntime, "enough");
  EXPECT_EQ(visited, 1);
}

}  // namespace
}  // namespace octavo
