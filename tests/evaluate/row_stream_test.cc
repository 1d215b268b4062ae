#include "evaluate/row_stream.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"
#include "base/status.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

constexpr std::uint64_t kRowWidth = 3;

// With a table that is mapped, and with one that is not.
class RowStreamTest : public testing::TestWithParam<bool> {
 protected:
  RowStreamTest() : values_(3000 * kRowWidth) {
    std::iota(values_.begin(), values_.end(), 0.0F);
    table_.emplace(WriteTable(values_, kRowWidth, kPartitionRowQuantum, folder_.path()));
    if (GetParam()) table_->Map();
  }

  TemporaryFolder folder_;
  std::vector<float> values_;
  std::optional<TableReader> table_;
};

TEST_P(RowStreamTest, StreamsEveryRowInOrder) {
  for (const std::uint64_t block_rows : {1U, 7U, 1024U, 2999U, 3000U, 100'000U}) {
    for (const auto& [begin, end] : {std::pair(0U, 3000U), {5U, 6U}, {1000U, 2100U}, {9U, 9U}}) {
      std::vector<float> seen;
      std::uint64_t next = begin;
      const absl::Status status = StreamRows(*table_, begin, end, block_rows, [&](const RowBlock& block) {
        EXPECT_EQ(block.first, next);
        EXPECT_LE(block.values.size(), block_rows * kRowWidth);
        next += block.values.size() / kRowWidth;
        seen.insert(seen.end(), block.values.begin(), block.values.end());
        return absl::OkStatus();
      });
      ASSERT_TRUE(status.ok());
      EXPECT_EQ(seen, std::vector<float>(values_.begin() + begin * 3, values_.begin() + end * 3));
    }
  }
}

TEST_P(RowStreamTest, StopsAtTheFirstError) {
  int calls = 0;
  const absl::Status status = StreamRows(*table_, 0, 3000, 10, [&](const RowBlock&) -> absl::Status {
    return ++calls == 3 ? RuntimeError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(MessageOf(status), "enough");
  EXPECT_EQ(calls, 3);
}

TEST_P(RowStreamTest, ReportsATableThatWasCut) {
  if (GetParam()) return;  // a mapped one is SIGBUS (tests/end_to_end/other_processes)
  std::filesystem::resize_file(folder_.path() / "embeddings.npy", 4096 + 2000 * kRowWidth * sizeof(float));
  const absl::Status status = StreamRows(*table_, 0, 3000, 100, [&](const RowBlock&) { return absl::OkStatus(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(KindOf(status), ErrorKind::kCorrupt);
}

TEST_P(RowStreamTest, VisitsWantedRows) {
  RandomStream random(2, RandomPurpose::kSplit, 0, 0);
  for (const std::size_t count : {0UL, 1UL, 5UL, 2000UL}) {
    std::vector<std::uint64_t> ids(count);
    for (std::uint64_t& id : ids) id = random.Below(3000);
    std::sort(ids.begin(), ids.end());
    for (const std::uint64_t max_bytes : {1U, 240U, 1U << 20}) {
      std::size_t next = 0;
      const absl::Status status =
          VisitRows(*table_, ids, max_bytes, [&](std::size_t begin, std::size_t end, const RowBlock& block) {
            EXPECT_EQ(begin, next);
            EXPECT_LE(block.values.size_bytes(), std::max<std::uint64_t>(max_bytes, kRowWidth * sizeof(float)));
            next = end;
            for (std::size_t i = begin; i < end; ++i) EXPECT_EQ(block.Row(ids[i])[2], values_[ids[i] * kRowWidth + 2]);
            return absl::OkStatus();
          });
      ASSERT_TRUE(status.ok());
      EXPECT_EQ(next, count);
    }
  }
}

TEST_P(RowStreamTest, LeavesNothingInTheCacheOfATableThatDropsBehind) {
  OCTAVO_REQUIRE_DISK(folder_.path());
  SyncFile(folder_.path() / "embeddings.npy");
  table_->DropBehind();
  const auto ignore = [](const RowBlock&) { return absl::OkStatus(); };
  ASSERT_TRUE(StreamRows(*table_, 0, 3000, 700, ignore).ok());
  EXPECT_LE(CachedBytes(folder_.path() / "embeddings.npy"), 4096U);  // the header
  const std::vector<std::uint64_t> ids = {0, 700, 701, 2999};
  const auto ignore_ids = [](std::size_t, std::size_t, const RowBlock&) { return absl::OkStatus(); };
  ASSERT_TRUE(VisitRows(*table_, ids, 64, ignore_ids).ok());
  EXPECT_LE(CachedBytes(folder_.path() / "embeddings.npy"), 4096U);
}

INSTANTIATE_TEST_SUITE_P(Mapped, RowStreamTest, testing::Bool());

}  // namespace
}  // namespace octavo
