#include "import/id_map.h"

#include <array>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

class IdMapTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(file_, SpillFile::Create(folder_ / "ids", use_)); }

  TemporaryFolder folder_{FastPlace()};
  SpillUse use_;
  std::unique_ptr<SpillFile> file_;
};

struct Names {
  std::vector<std::uint32_t> ids;
  std::vector<bool> in_train;
};

// Ascending numbers below `most`.
Names Random(std::size_t count, std::uint32_t most, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Names names;
  for (std::uint32_t id = 0; id < most && names.ids.size() < count; ++id) {
    if (random() % (most - id) >= count - names.ids.size()) continue;
    names.ids.push_back(id);
    names.in_train.push_back(random() % 2 == 0);
  }
  return names;
}

absl::Status Append(const Names& names, std::size_t i, IdMapWriter& writer) {
  return writer.Append(names.ids[i], names.in_train[i]);
}

TEST_F(IdMapTest, ReadsWhatWasWrittenBesideOtherMaps) {
  constexpr std::array<std::size_t, 5> kCounts = {0, 1, IdMapBlock::kNames, IdMapBlock::kNames + 1, 20000};
  std::vector<Names> names;
  std::vector<IdMapWriter> writers;
  for (const std::size_t count : kCounts) {
    names.push_back(Random(count, 50000, count));
    writers.emplace_back(*file_);
  }
  for (std::size_t i = 0; i < 20000; ++i) {
    for (std::size_t map = 0; map < names.size(); ++map) {
      if (i >= kCounts[map]) continue;
      ASSERT_OK(Append(names[map], i, writers[map]));
    }
  }
  std::vector<StoredIdMap> stored;
  for (IdMapWriter& writer : writers) {
    ASSERT_OK_AND_ASSIGN(StoredIdMap map, writer.Finish());
    stored.push_back(std::move(map));
  }
  ASSERT_OK(file_->FinishWriting());
  for (std::size_t map = 0; map < names.size(); ++map) {
    ASSERT_EQ(stored[map].names, kCounts[map]);
    ASSERT_OK_AND_ASSIGN(const IdMap ids, IdMap::Read(*file_, stored[map]));
    for (std::uint32_t i = 0; i < kCounts[map]; ++i) {
      ASSERT_EQ(ids.Id(i), names[map].ids[i]) << map << " " << i;
      ASSERT_EQ(ids.InTrain(i), names[map].in_train[i]) << map << " " << i;
    }
  }
}

TEST_F(IdMapTest, ThenGoesOnToTheNumbersOfTheMergedExtent) {
  const Names first = Random(3000, 20000, 1);
  Names second = Random(20000, 90000, 2);
  second.ids[first.ids[5]] = kNoId;
  IdMapWriter first_writer(*file_);
  for (std::size_t i = 0; i < first.ids.size(); ++i) ASSERT_OK(Append(first, i, first_writer));
  IdMapWriter second_writer(*file_);
  for (std::size_t i = 0; i < second.ids.size(); ++i) ASSERT_OK(Append(second, i, second_writer));
  ASSERT_OK_AND_ASSIGN(const StoredIdMap stored_first, first_writer.Finish());
  ASSERT_OK_AND_ASSIGN(const StoredIdMap stored_second, second_writer.Finish());
  ASSERT_OK(file_->FinishWriting());
  ASSERT_OK_AND_ASSIGN(IdMap ids, IdMap::Read(*file_, stored_first));
  ASSERT_OK(ids.Then(*file_, stored_second));
  for (std::uint32_t i = 0; i < first.ids.size(); ++i) {
    ASSERT_EQ(ids.Id(i), second.ids[first.ids[i]]) << i;
    ASSERT_EQ(ids.InTrain(i), second.in_train[first.ids[i]]) << i;
  }
  EXPECT_EQ(ids.Id(5), kNoId);
}

TEST_F(IdMapTest, ErrorsOfTheFileComeBack) {
  IdMapWriter writer(*file_);
  ASSERT_OK(SetFailpoints("file.write:1=enospc"));
  ASSERT_OK(writer.Append(1, true));
  EXPECT_ERROR(writer.Finish(), kRuntime, "No space left");
  ASSERT_OK(SetFailpoints(""));
}

}  // namespace
}  // namespace octavo
