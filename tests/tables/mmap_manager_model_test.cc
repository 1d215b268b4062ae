// MmapManager against a model in memory: random rounds of loads in each way, changes, evictions, commits and kills.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tables/mmap_manager.h"
#include "tables/table_file.h"
#include "tables/table_reader.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/mmap_manager_fixture.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// A table and what it must hold: the newest rows, and those of the last commit.
class TwoSlotModel {
 public:
  TwoSlotModel(const fs::path& folder, std::uint64_t rows, std::uint64_t columns, std::uint64_t seed)
      : layout_{.slots = {folder / "t.npy", folder / "t.other.npy"},
                .shape = {.rows = rows, .columns = columns},
                .partition_rows = 1024},
        random_(seed, RandomPurpose::kSplit, 0, 0),
        newest_(rows * columns),
        committed_(newest_),
        slots_((rows + 1023) / 1024) {
    EXPECT_OK(CreateTableFile(layout_.slots[0], layout_.shape));
    Reopen();
  }

  void Round() {
    const auto p = P(static_cast<std::uint32_t>(random_.Below(slots_.size())));
    switch (random_.Below(12)) {
      case 0:
        Commit();
        break;
      case 1:
        if (random_.Below(4) == 0) Reopen();
        break;
      case 2:
      case 3:
        EXPECT_OK(table_->EvictPartition(p));
        break;
      case 4:
        if (table_->IsResident(p)) CheckWrite(p);
        break;
      default:
        EXPECT_OK(table_->LoadPartition(p, ChecksumOf(newest_, p), static_cast<Loading>(random_.Below(3))));
        Modify(p);
    }
    CheckFiles();
    EXPECT_OK(table_->CheckLoaded());
  }

 private:
  std::uint64_t columns() const { return layout_.shape.columns; }
  std::span<const float> ValuesOf(const std::vector<float>& rows, PartitionId p) const {
    const std::uint64_t begin = Value(p) * 1024 * columns();
    return std::span(rows).subspan(begin, std::min<std::uint64_t>(1024 * columns(), rows.size() - begin));
  }
  std::uint64_t ChecksumOf(const std::vector<float>& rows, PartitionId p) const {
    return Checksum64(std::as_bytes(ValuesOf(rows, p)));
  }

  void Modify(PartitionId p) {
    const std::uint64_t in_partition = ValuesOf(newest_, p).size() / columns();
    for (std::uint64_t i = random_.Below(6); i > 0; --i) {
      const std::uint64_t row = Value(p) * 1024 + random_.Below(in_partition);
      std::vector<float> before(columns());
      EXPECT_OK(table_->ReadRow(NodeId{row}, before));
      EXPECT_TRUE(
          std::equal(before.begin(), before.end(), newest_.begin() + static_cast<std::ptrdiff_t>(row * columns())));
      const WriterStripeLock lock(table_->LockFor(NodeId{row}));
      table_->UpdateRow(NodeId{row}, {}, {}, [&](std::span<float> values) {
        for (std::uint64_t c = 0; c < columns(); ++c) values[c] = newest_[row * columns() + c] = random_.NextFloat();
      });
    }
  }
  void CheckWrite(PartitionId p) {
    const absl::StatusOr<std::uint64_t> checksum = table_->WritePartition(p);
    ASSERT_OK(checksum);
    EXPECT_EQ(*checksum, ChecksumOf(newest_, p));
    EXPECT_NE(table_->NewestSlot(p), slots_[Value(p)]) << "the committed slot is never the target";
  }
  void Commit() {
    for (std::uint32_t p = 0; p < slots_.size(); ++p) {
      if (table_->IsChanged(P(p))) CheckWrite(P(p));
    }
    EXPECT_OK(table_->Sync());
    for (std::uint32_t p = 0; p < slots_.size(); ++p) slots_[p] = table_->NewestSlot(P(p));
    table_->MarkCommitted();
    committed_ = newest_;
  }
  // As after a kill: what was not committed is gone.
  void Reopen() {
    table_.reset();
    absl::StatusOr<std::unique_ptr<MmapManager>> table = MmapManager::Open(layout_, slots_);
    ASSERT_OK(table);
    table_ = *std::move(table);
    newest_ = committed_;
  }
  // Both files are whole .npy files at all times, and the committed slots hold the committed rows to the bit.
  void CheckFiles() {
    for (const fs::path& slot : layout_.slots) {
      const absl::StatusOr<NpyShape> shape = ReadTableShape(slot);
      ASSERT_OK(shape);
      EXPECT_EQ(*shape, layout_.shape);
    }
    const absl::StatusOr<TableReader> reader = TableReader::Open(layout_.slots, layout_.shape, 1024, slots_);
    ASSERT_OK(reader);
    std::vector<float> rows(committed_.size());
    ASSERT_OK(reader->ReadRows(0, rows));
    EXPECT_TRUE(rows == committed_);
  }

  const TableLayout layout_;
  RandomStream random_;
  std::vector<float> newest_;
  std::vector<float> committed_;
  std::vector<std::uint8_t> slots_;  // of the last commit
  std::unique_ptr<MmapManager> table_;
};

class TwoSlots : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(TwoSlots, RandomRoundsMatchAModelInMemory) {
  for (const std::uint64_t columns : {1U, 3U, 10U}) {
    const TemporaryFolder folder;
    TwoSlotModel model(folder.path(), 2 * 1024 + 301, columns, GetParam() * 100 + columns);
    for (int round = 0; round < 250 && !::testing::Test::HasFailure(); ++round) {
      SCOPED_TRACE(round);
      model.Round();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TwoSlots, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace octavo
