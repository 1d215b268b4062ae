// Rows of a table that several processes write, each its own: ReadStored, WriteStored, Follow and FreeStored.
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/tables/mmap_manager_fixture.h"

namespace octavo {
namespace {

class MmapManagerMovingTest : public MmapManagerTest {
 protected:
  static constexpr std::uint64_t kRows = 3 * 1024 + 100;
  static constexpr std::uint64_t kColumns = 6;

  static std::vector<std::byte> RowsOf(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  // All rows of the partition, by ReadStored in pieces of any length.
  static std::vector<std::byte> Stored(const MmapManager& table, PartitionId partition, std::size_t piece) {
    std::vector<std::byte> bytes(table.BytesOfPartition(partition));
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      EXPECT_OK(table.ReadStored(partition, at, std::span(bytes).subspan(at, std::min(piece, bytes.size() - at))));
    }
    return bytes;
  }
  static std::vector<std::byte> Filled(const MmapManager& table, PartitionId partition, float value) {
    return RowsOf(std::vector<float>(table.BytesOfPartition(partition) / sizeof(float), value));
  }
  std::uint64_t BlocksOf(const std::string& name) const {
    struct stat info {};
    EXPECT_EQ(::stat((folder_ / name).c_str(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks);
  }
};

TEST_F(MmapManagerMovingTest, ReadStoredHasTheNewestRows) {
  const auto table = MakeTable(kRows, kColumns);
  for (const std::uint32_t p : {0U, 2U, 3U}) {
    for (const std::size_t piece : {4096U, 1000U, 24U, 1U << 20}) {
      if (p == 0 && piece == 24) continue;
      const std::vector<std::byte> bytes = Stored(*table, P(p), piece);
      ASSERT_EQ(bytes.size(), (p == 3 ? 100 : 1024) * kColumns * sizeof(float));
      std::vector<float> values(bytes.size() / sizeof(float));
      std::memcpy(values.data(), bytes.data(), bytes.size());
      EXPECT_EQ(values.front(), InitialValue(p * 1024));
      EXPECT_EQ(values.back(), InitialValue(p == 3 ? kRows - 1 : p * 1024 + 1023, kColumns - 1));
    }
  }
  // Evicted, not committed: in the other slot.
  ASSERT_OK(table->LoadPartition(P(1)));
  for (std::uint64_t row = 1024; row < 2048; ++row) SetRow(*table, row, 7);
  ASSERT_OK(table->EvictPartition(P(1)));
  EXPECT_EQ(table->NewestSlot(P(1)), 1);
  EXPECT_EQ(Stored(*table, P(1), 5000), Filled(*table, P(1), 7));
}

// What arrives in pieces goes to the slot that no commit names, and counts only when it is followed.
TEST_F(MmapManagerMovingTest, WhatArrivesIsLoadedAfterFollow) {
  const auto table = MakeTable(kRows, kColumns);
  for (const std::uint32_t p : {1U, 3U}) {
    const std::vector<std::byte> rows = Filled(*table, P(p), 30 + static_cast<float>(p));
    for (std::size_t at = 0; at < rows.size(); at += 3000) {
      ASSERT_OK(
          table->WriteStored(P(p), at, std::span(rows).subspan(at, std::min<std::size_t>(3000, rows.size() - at))));
    }
    EXPECT_EQ(table->NewestSlot(P(p)), 0);
    ASSERT_OK(table->LoadPartition(P(p)));
    EXPECT_EQ(RowOf(*table, p * 1024)[0], InitialValue(p * 1024)) << "not yet";
    ASSERT_OK(table->EvictPartition(P(p)));
    table->Follow(P(p), 1, /*here=*/true);
    EXPECT_EQ(table->NewestSlot(P(p)), 1);
    EXPECT_EQ(table->CommittedSlot(P(p)), 0);
    ASSERT_OK(table->LoadPartition(P(p), Checksum64(rows)));
    EXPECT_EQ(RowOf(*table, p * 1024 + 99), std::vector<float>(kColumns, 30 + static_cast<float>(p)));
    EXPECT_FALSE(table->IsChanged(P(p)));
    // Changed here, it is written over what arrived: only the changed group of rows.
    SetRow(*table, p * 1024, -1);
    ASSERT_OK(table->EvictPartition(P(p)));
    EXPECT_EQ(RowInFile(1, {.rows = kRows, .columns = kColumns}, p * 1024)[0], -1);
    EXPECT_EQ(RowInFile(1, {.rows = kRows, .columns = kColumns}, p * 1024 + 99)[0], 30 + static_cast<float>(p));
    EXPECT_EQ(RowInFile(0, {.rows = kRows, .columns = kColumns}, p * 1024)[0], InitialValue(p * 1024));
  }
  EXPECT_EQ(RowInFile(1, {.rows = kRows, .columns = kColumns}, 2048)[0], 0) << "its neighbours were not written";
}

// After a commit in which another process wrote the partition, all of it has to be written here again.
TEST_F(MmapManagerMovingTest, AfterAnotherProcessHadItAllRowsAreWritten) {
  for (const bool here : {false, true}) {
    const auto table = MakeTable(kRows, kColumns);
    const NpyShape shape{.rows = kRows, .columns = kColumns};
    const auto evict_with = [&](std::uint64_t row, float value) {
      EXPECT_OK(table->LoadPartition(P(0)));
      SetRow(*table, row, value);
      EXPECT_OK(table->EvictPartition(P(0)));
    };
    evict_with(0, 1);
    table->MarkCommitted();
    evict_with(1, 2);
    table->MarkCommitted();  // now both slots are known here: of the next eviction only changed rows are written
    // Another process changes all rows, in slot 1, in the common folder or its own.
    if (here) {
      ASSERT_OK(table->WriteStored(P(0), 0, Filled(*table, P(0), 50)));
      table->Follow(P(0), 1, here);
      table->MarkCommitted();
      evict_with(5, 60);
      EXPECT_EQ(RowInFile(0, shape, 4)[0], 50) << "not what the slot had two commits ago";
      EXPECT_EQ(RowInFile(0, shape, 5)[0], 60);
    } else {
      table->Follow(P(0), 1, here);
      table->MarkCommitted();
      // Back again: what arrives is for slot 0, where older rows of this process are.
      ASSERT_OK(table->WriteStored(P(0), 0, Filled(*table, P(0), 70)));
      table->Follow(P(0), 0, /*here=*/true);
      evict_with(5, 80);
      EXPECT_EQ(RowInFile(0, shape, 4)[0], 70);
      table->MarkCommitted();
      evict_with(6, 90);
      EXPECT_EQ(RowInFile(1, shape, 4)[0], 70) << "slot 1 had nothing that is known here";
      EXPECT_EQ(RowInFile(1, shape, 5)[0], 80);
      EXPECT_EQ(RowInFile(1, shape, 6)[0], 90);
    }
  }
}

// A random course of moves, changes and commits against a table in memory.
TEST_F(MmapManagerMovingTest, AnyCourseOfMovesKeepsTheRows) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 20; ++trial) {
    const auto table = MakeTable(2048, 2);
    std::vector<float> expected;
    for (std::uint64_t row = 0; row < 2048; ++row) expected.push_back(InitialValue(row));
    bool away = false;  // partition 1 is with another process, which has `expected`
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t what = random() % 4;
      if (what == 0) {
        table->MarkCommitted();
        if (away) {
          // It was written there, to the slot that was free.
          table->Follow(P(1), static_cast<std::uint8_t>(1 - table->CommittedSlot(P(1))), /*here=*/false);
          table->MarkCommitted();
        }
      } else if (what == 1 && !away) {
        away = true;
        for (std::uint64_t row = 1024; row < 2048; ++row) {
          if (random() % 3 == 0) expected[row] = static_cast<float>(random() % 1000);
        }
      } else if (what == 2 && away) {
        away = false;
        std::vector<float> rows;
        for (std::uint64_t row = 1024; row < 2048; ++row) {
          rows.push_back(expected[row]);
          rows.push_back(expected[row]);
        }
        const std::vector<std::byte> bytes = RowsOf(rows);
        for (std::size_t at = 0; at < bytes.size(); at += 4096) {
          ASSERT_OK(table->WriteStored(P(1), at, std::span(bytes).subspan(at, 4096)));
        }
        table->Follow(P(1), static_cast<std::uint8_t>(1 - table->CommittedSlot(P(1))), /*here=*/true);
      } else if (!away) {
        ASSERT_OK(table->LoadPartition(P(1)));
        for (std::uint64_t i = 0; i < 1 + random() % 5; ++i) {
          const std::uint64_t row = 1024 + random() % 1024;
          expected[row] = static_cast<float>(random() % 1000);
          SetRow(*table, row, expected[row]);
        }
        ASSERT_OK(table->EvictPartition(P(1)));
      }
      if (away) continue;
      ASSERT_OK(table->LoadPartition(P(1)));
      for (std::uint64_t row = 1024; row < 2048; row += 1 + random() % 40) {
        ASSERT_EQ(RowOf(*table, row)[0], expected[row]) << "row " << row << " after step " << step;
      }
      ASSERT_OK(table->EvictPartition(P(1)));
    }
  }
}

// Of a run in several folders: holes for the partitions of others, filled when they arrive, freed when they leave.
TEST_F(MmapManagerMovingTest, SpaceIsTakenForWhatIsHere) {
  TableLayout layout = Layout(kRows, kColumns);
  layout.here = {true, false, false, false};
  ASSERT_OK(CreateTableFile(layout.slots[0], layout.shape, /*sparse=*/true));
  ASSERT_OK_AND_ASSIGN(const auto table, MmapManager::Open(layout, AllInSlot(0, kRows)));
  ASSERT_OK(table->LoadPartition(P(0)));
  SetRow(*table, 5, 4);
  ASSERT_OK(table->EvictPartition(P(0)));
  const std::uint64_t before = BlocksOf("t.npy") + BlocksOf("t.other.npy");
  const std::vector<std::byte> rows = Filled(*table, P(2), 9);
  ASSERT_OK(table->WriteStored(P(2), 0, rows));
  EXPECT_GE(BlocksOf("t.npy") + BlocksOf("t.other.npy"), before + rows.size() / 512);
  table->Follow(P(2), 1, /*here=*/true);
  EXPECT_EQ(Stored(*table, P(2), 4096), rows);
  table->Follow(P(2), 0, /*here=*/false);
  table->FreeStored(P(2));
  EXPECT_LE(BlocksOf("t.npy") + BlocksOf("t.other.npy"), before);
  EXPECT_EQ(RowInFile(1, layout.shape, 5)[0], 4) << "the others' rows stay";
  EXPECT_EQ(RowInFile(1, layout.shape, 2048)[0], 0);
}

TEST_F(MmapManagerMovingTest, WhatArrivedIsSyncedWithTheTable) {
  const auto table = MakeTable(kRows, kColumns);
  EXPECT_OK(table->WriteStored(P(0), 0, Filled(*table, P(0), 1)));
  EXPECT_EQ(table->bytes_written(), table->BytesOfPartition(P(0)));
  EXPECT_OK(table->Sync());
}

}  // namespace
}  // namespace octavo
