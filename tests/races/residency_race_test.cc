// Workers use the resident partitions of a plan while the next ones are loaded and the previous ones leave, for the
// thread sanitizer. Each row is counted up in every state that has it: a row that was lost, or changed while it was on
// disk, has a wrong count at the end.
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "plan/epoch_plan.h"
#include "prefetch/partition_loader.h"
#include "tables/mmap_manager.h"
#include "tables/table_file.h"
#include "tests/races/race.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPartitionRows = 1024;
constexpr std::uint32_t kPartitions = 7;
constexpr std::uint64_t kRows = kPartitionRows * kPartitions - 100;
constexpr std::size_t kColumns = 3;

class ResidencyRace : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<MmapManager> MakeTable() const {
    const TableLayout layout{.slots = {folder_ / "t.npy", folder_ / "t.other.npy"},
                             .shape = {.rows = kRows, .columns = kColumns},
                             .partition_rows = kPartitionRows};
    EXPECT_OK(CreateTableFile(layout.slots[0], layout.shape));
    auto table = MmapManager::Open(layout, std::vector<std::uint8_t>(kPartitions, 0));
    EXPECT_OK(table);
    return *std::move(table);
  }

  const TemporaryFolder folder_{FastPlace()};
};

void CountUp(MmapManager& table, std::span<const PartitionId> partitions) {
  ParallelRanges(0, partitions.size() * kPartitionRows, 128, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const NodeId node{Value(partitions[i / kPartitionRows]) * kPartitionRows + i % kPartitionRows};
      if (Value(node) >= kRows) continue;
      const WriterStripeLock lock(table.LockFor(node));
      table.UpdateRow(node, {}, {}, [](std::span<float> row) {
        for (float& value : row) value += 1;
      });
    }
  });
}

TEST_P(ResidencyRace, NoRowIsLostOnItsWay) {
  const std::unique_ptr<MmapManager> table = MakeTable();
  std::vector<float> counts(kPartitions, 0.0F);
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  int loads = 0;  // in each way in turn
  PartitionLoader loader(
      [&](PartitionId p) { return table->LoadPartition(p, std::nullopt, static_cast<Loading>(loads++ % 3)); },
      [&](PartitionId p) { return table->EvictPartition(p); });
  EpochPlanner planner(kPartitions, {.partitions = 5, .resident = 2}, BucketOrder::kBeta, 3, /*first_epoch=*/0,
                       /*ahead=*/GetParam());
  std::uint64_t epoch = 0;
  for (const Clock::time_point end = Clock::now() + kRaceDuration; Clock::now() < end; ++epoch) {
    const EpochPlan& plan = planner.Plan(epoch);
    ASSERT_OK(loader.Begin(plan, 0));
    for (std::size_t state = 0; state < plan.states.size(); ++state) {
      if (state > 0) {
        ASSERT_OK(loader.Advance());
      }
      CountUp(*table, plan.states[state].resident);
      for (const PartitionId partition : plan.states[state].resident) counts[Value(partition)] += 1;
      if (random.Below(5) == 0) {
        ASSERT_OK(loader.Wait());  // as before a commit
      }
    }
  }
  ASSERT_OK(loader.Wait());
  for (std::uint32_t p = 0; p < kPartitions; ++p) ASSERT_OK(table->LoadPartition(static_cast<PartitionId>(p)));
  std::vector<float> row(kColumns);
  for (std::uint64_t node = 0; node < kRows; ++node) {
    ASSERT_OK(table->ReadRow(NodeId{node}, row));
    ASSERT_EQ(row, std::vector<float>(kColumns, counts[node / kPartitionRows])) << node;
  }
  EXPECT_GT(epoch, 1U);
}

INSTANTIATE_TEST_SUITE_P(Ahead, ResidencyRace, ::testing::Bool());

}  // namespace
}  // namespace octavo
