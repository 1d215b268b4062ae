// MmapManager with embeddings in bf16.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "gtest/gtest.h"
#include "tables/mmap_manager.h"
#include "tables/table_file.h"
#include "tests/support/expect_status.h"
#include "tests/tables/mmap_manager_fixture.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Makes a bf16 table with 1 in row 0 and the next larger word in each following row.
class Bfloat16TableTest : public MmapManagerTest {
 protected:
  static constexpr std::uint64_t kRows = 2500;
  static constexpr std::uint64_t kColumns = 20;

  TableLayout WordLayout(std::uint64_t rows = kRows, std::uint64_t columns = kColumns) const {
    TableLayout layout = Layout(rows, columns);
    layout.shape.element = NpyElement::kBfloat16;
    return layout;
  }
  static float FirstValue(std::uint64_t row) { return 1.0F + static_cast<float>(row % 128) / 128.0F; }
  std::unique_ptr<MmapManager> MakeWords() {
    const TableLayout layout = WordLayout();
    absl::StatusOr<File> file = CreateTableFile(layout.slots[0], layout.shape);
    EXPECT_OK(file);
    std::vector<std::uint16_t> words;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      words.insert(words.end(), kColumns, static_cast<std::uint16_t>(0x3F80 + row % 128));
    }
    EXPECT_OK(file->WriteAt(kNpyHeaderBytes, std::as_bytes(std::span<const std::uint16_t>(words))));
    absl::StatusOr<std::unique_ptr<MmapManager>> table = MmapManager::Open(layout, AllInSlot(0, kRows));
    EXPECT_OK(table);
    return *std::move(table);
  }
  // Adds to each value of a row.
  static void Add(MmapManager& table, std::uint64_t row, float value, std::uint64_t step) {
    const NodeId node{row};
    std::vector<float> wide(kColumns);
    const WriterStripeLock lock(table.LockFor(node));
    table.UpdateRow(node, {.seed = 3, .step = step}, wide, [&](std::span<float> floats) {
      EXPECT_EQ(floats.size(), kColumns);
      for (float& x : floats) x += value;
    });
  }
};

TEST_F(Bfloat16TableTest, RowsAreReadAsFloatsAndTakeHalfTheBytes) {
  const std::unique_ptr<MmapManager> table = MakeWords();
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p)));
  EXPECT_EQ(table->resident_bytes(), kRows * kColumns * 2);
  EXPECT_EQ(table->bytes_read(), kRows * kColumns * 2);
  for (std::uint64_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(RowOf(*table, row), std::vector<float>(kColumns, FirstValue(row))) << row;
  }
}

TEST_F(Bfloat16TableTest, AnUpdateIsRoundedAtItsSeedStepAndNode) {
  const std::unique_ptr<MmapManager> table = MakeWords();
  ASSERT_OK(table->LoadPartition(P(1)));
  const std::vector<float> before = RowOf(*table, 1500);
  constexpr float kLittle = 0.001F;  // an eighth of the last place
  EXPECT_FALSE(table->IsChanged(P(1)));
  std::vector<float> expected = before;
  for (std::uint64_t step = 1; step <= 50; ++step) {
    Add(*table, 1500, kLittle, step);
    for (float& x : expected) x += kLittle;
    std::vector<std::uint16_t> words(kColumns);
    RoundStochastically({.seed = 3, .step = step}, NodeId{1500}, expected, words);
    Widen(words, expected);
    ASSERT_EQ(RowOf(*table, 1500), expected) << step;
  }
  EXPECT_TRUE(table->IsChanged(P(1)));
  // Rounded to the nearest, the row would not change.
  const float mean = std::accumulate(expected.begin(), expected.end(), 0.0F) / kColumns;
  EXPECT_NEAR(mean, before[0] + 50 * kLittle, 0.02);
  EXPECT_EQ(RowOf(*table, 1499), std::vector<float>(kColumns, FirstValue(1499)));
  EXPECT_EQ(RowOf(*table, 1501), std::vector<float>(kColumns, FirstValue(1501)));
}

TEST_F(Bfloat16TableTest, IsWrittenCommittedEvictedAndOpenedAgain) {
  std::uint64_t checksum = 0;
  std::vector<float> changed;
  {
    const std::unique_ptr<MmapManager> table = MakeWords();
    for (std::uint32_t p = 0; p < 3; ++p) ASSERT_OK(table->LoadPartition(P(p)));
    Add(*table, 2047, 2.0F, 1);
    Add(*table, 2499, 2.0F, 1);
    changed = RowOf(*table, 2047);
    ASSERT_OK_AND_ASSIGN(checksum, table->WritePartition(P(1)));
    EXPECT_EQ(table->bytes_written(), kPartitionRows * kColumns * 2);
    ASSERT_OK(table->EvictPartition(P(1)));
    ASSERT_OK(table->EvictPartition(P(2)));
    EXPECT_EQ(table->NewestSlot(P(1)), 1);
    ASSERT_OK(table->LoadPartition(P(1), checksum));
    EXPECT_EQ(RowOf(*table, 2047), changed);
    EXPECT_EQ(RowOf(*table, 1024), std::vector<float>(kColumns, FirstValue(1024)));
    table->MarkCommitted();
  }
  EXPECT_EQ(fs::file_size(folder_ / "t.other.npy"), 4096 + kRows * kColumns * 2);
  ASSERT_OK_AND_ASSIGN(const auto table, MmapManager::Open(WordLayout(), {0, 1, 1}));
  ASSERT_OK(table->LoadPartition(P(1), checksum));
  EXPECT_EQ(RowOf(*table, 2047), changed);
  EXPECT_ERROR(table->LoadPartition(P(2), checksum), kCorrupt, "partition 2 (byte 86016 on)");
}

// With an odd number of words per row a partition ends within a page, which it would share with the next one.
TEST_F(Bfloat16TableTest, PartitionsThatShareAPageAreRefused) {
  EXPECT_ERROR(MmapManager::Open(WordLayout(kRows, 7), AllInSlot(0, kRows)), kUsage, "7 columns of bf16");
  ASSERT_OK(CreateTableFile(folder_ / "t.npy", WordLayout(1000, 7).shape));
  EXPECT_OK(MmapManager::Open(WordLayout(1000, 7), AllInSlot(0, 1000))) << "there is one only";
}

TEST_F(Bfloat16TableTest, AFileOfFloatsIsRefused) {
  MakeTable(kRows, kColumns).reset();
  EXPECT_ERROR(MmapManager::Open(WordLayout(), AllInSlot(0, kRows)), kCorrupt, "expected");
  fs::remove(folder_ / "t.other.npy");
  ASSERT_OK(CreateTableFile(folder_ / "t.npy", {.rows = kRows, .columns = kColumns / 2}));  // of the same size
  EXPECT_ERROR(MmapManager::Open(WordLayout(), AllInSlot(0, kRows)), kCorrupt, "values of float32; expected bf16");
}

}  // namespace
}  // namespace octavo
