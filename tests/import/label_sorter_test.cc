#include "import/label_sorter.h"

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Tuple = std::tuple<std::uint64_t, std::string, std::uint64_t, std::string>;

// Records with few keys and names, so that all parts of the order matter.
std::vector<Tuple> ManyRecords() {
  std::mt19937_64 random(1);
  std::vector<Tuple> records;
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    records.emplace_back(random() % 3000, std::string(random() % 3, static_cast<char>('a' + random() % 2)), i,
                         std::string(random() % 60, 'x'));
  }
  return records;
}

class LabelSorterTest : public ::testing::Test {
 protected:
  std::vector<Tuple> Sorted(const std::vector<Tuple>& records, std::uint64_t memory, std::uint64_t merge_memory) {
    LabelSorter sorter(folder_ / "spill", memory, use_);
    for (const auto& [key, name, number, label] : records) EXPECT_OK(sorter.Add({key, number, name, label}));
    EXPECT_EQ(sorter.count(), records.size());
    EXPECT_OK(sorter.Finish(merge_memory));
    std::vector<Tuple> sorted;
    while (sorter.Next().value()) {
      const LabelRecord& record = sorter.record();
      sorted.emplace_back(record.key, std::string(record.name), record.number, std::string(record.label));
    }
    return sorted;
  }
  TemporaryFolder folder_;
  SpillUse use_;
};

TEST_F(LabelSorterTest, SortsInMemoryOrThroughFilesAlike) {
  std::vector<Tuple> records = ManyRecords();
  std::vector<Tuple> expected = records;
  std::ranges::sort(expected);
  EXPECT_TRUE(Sorted(records, UINT64_MAX, UINT64_MAX) == expected);
  EXPECT_EQ(use_.written_bytes, 0U);
  EXPECT_TRUE(Sorted(records, std::uint64_t{1} << 20, std::uint64_t{8} << 20) == expected);
  EXPECT_GT(use_.written_bytes, 0U);
}

// With room for two buffers the many extents are first merged into fewer.
TEST_F(LabelSorterTest, MergesInManyStepsIfThereIsLittleMemory) {
  std::vector<Tuple> records = ManyRecords();
  std::vector<Tuple> expected = records;
  std::ranges::sort(expected);
  EXPECT_TRUE(Sorted(records, 100 << 10, 1) == expected);
}

TEST_F(LabelSorterTest, TakesRecordsOfAnySizeAndNone) {
  EXPECT_TRUE(Sorted({}, 1 << 20, 1 << 20).empty());
  std::vector<Tuple> records = {
      {2, std::string(kMaxLabelRecordBytes / 2, 'n'), 0, std::string(kMaxLabelRecordBytes / 2, 'l')}, {1, "", 0, ""}};
  const std::vector<Tuple> found = Sorted(records, 1, 1);
  std::ranges::sort(records);
  EXPECT_TRUE(found == records);
}

TEST_F(LabelSorterTest, EndsWhenAsked) {
  use_.stop = [] { return true; };
  LabelSorter sorter(folder_ / "spill", 1 << 10, use_);
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = sorter.Add({1, 1, "name", "label"});
  EXPECT_TRUE(absl::IsCancelled(status));
}

}  // namespace
}  // namespace octavo
