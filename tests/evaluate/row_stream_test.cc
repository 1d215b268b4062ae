#include "evaluate/row_stream.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"
#include "base/status.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

constexpr std::uint64_t kColumns = 3;

class RowStreamTest : public testing::Test {
 protected:
  RowStreamTest() : values_(3000 * kColumns) {
    std::iota(values_.begin(), values_.end(), 0.0F);
    table_.emplace(WriteTable(values_, kColumns, kPartitionRowQuantum, folder_.path()));
  }

  TemporaryFolder folder_;
  std::vector<float> values_;
  std::optional<TableReader> table_;
};

TEST_F(RowStreamTest, StreamsEveryRowInOrder) {
  for (const std::uint64_t block_rows : {1, 7, 1024, 2999, 3000, 100'000}) {
    for (const auto& [begin, end] : {std::pair(0, 3000), {5, 6}, {1000, 2100}, {9, 9}}) {
      std::vector<float> seen;
      std::uint64_t next = static_cast<std::uint64_t>(begin);
      const absl::Status status = StreamRows(*table_, begin, end, block_rows, [&](const RowRun& run) {
        EXPECT_EQ(run.first, next);
        EXPECT_LE(run.values.size(), block_rows * kColumns);
        next += run.values.size() / kColumns;
        seen.insert(seen.end(), run.values.begin(), run.values.end());
        return absl::OkStatus();
      });
      ASSERT_TRUE(status.ok());
      EXPECT_EQ(seen, std::vector<float>(values_.begin() + begin * 3, values_.begin() + end * 3));
    }
  }
}

TEST_F(RowStreamTest, StopsAtTheFirstError) {
  int calls = 0;
  const absl::Status status = StreamRows(*table_, 0, 3000, 10, [&](const RowRun&) -> absl::Status {
    return ++calls == 3 ? RuntimeError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(MessageOf(status), "enough");
  EXPECT_EQ(calls, 3);
}

TEST_F(RowStreamTest, ReportsATableThatWasCut) {
  std::filesystem::resize_file(folder_.path() / "embeddings.npy", 4096 + 2000 * kColumns * sizeof(float));
  const absl::Status status = StreamRows(*table_, 0, 3000, 100, [&](const RowRun&) { return absl::OkStatus(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(KindOf(status), ErrorKind::kCorrupt);
}

TEST_F(RowStreamTest, VisitsWantedRows) {
  RandomStream random(2, RandomPurpose::kSplit, 0, 0);
  for (const std::size_t count : {0UL, 1UL, 5UL, 2000UL}) {
    std::vector<std::uint64_t> ids(count);
    for (std::uint64_t& id : ids) id = random.Below(3000);
    std::sort(ids.begin(), ids.end());
    for (const std::uint64_t max_bytes : {1, 240, 1 << 20}) {
      std::size_t next = 0;
      const absl::Status status =
          VisitRows(*table_, ids, max_bytes, [&](std::size_t begin, std::size_t end, const RowRun& run) {
            EXPECT_EQ(begin, next);
            EXPECT_LE(run.values.size_bytes(), std::max<std::uint64_t>(max_bytes, kColumns * sizeof(float)));
            next = end;
            for (std::size_t i = begin; i < end; ++i) EXPECT_EQ(run.Row(ids[i])[2], values_[ids[i] * kColumns + 2]);
            return absl::OkStatus();
          });
      ASSERT_TRUE(status.ok());
      EXPECT_EQ(next, count);
    }
  }
}

TEST_F(RowStreamTest, LeavesNothingInTheCacheOfATableThatDropsBehind) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  SyncFile(folder_.path() / "embeddings.npy");
  table_->DropBehind();
  const auto ignore = [](const RowRun&) { return absl::OkStatus(); };
  ASSERT_TRUE(StreamRows(*table_, 0, 3000, 700, ignore).ok());
  EXPECT_LE(CachedBytes(folder_.path() / "embeddings.npy"), 4096U);  // the header
  const std::vector<std::uint64_t> ids = {0, 700, 701, 2999};
  const auto ignore_ids = [](std::size_t, std::size_t, const RowRun&) { return absl::OkStatus(); };
  ASSERT_TRUE(VisitRows(*table_, ids, 64, ignore_ids).ok());
  EXPECT_LE(CachedBytes(folder_.path() / "embeddings.npy"), 4096U);
}

}  // namespace
}  // namespace octavo
