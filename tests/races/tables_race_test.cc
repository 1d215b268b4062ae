// Threads use the tables for about a second. The assertions catch torn rows; the thread sanitizer catches the rest.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "oneapi/tbb/global_control.h"
#include "tables/atomic_bitmap.h"
#include "tables/mmap_gradient_accumulator.h"
#include "tables/mmap_manager.h"
#include "tables/stripe_locks.h"
#include "tests/races/race.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/listed_batch.h"
#include "tests/tables/loaded_table.h"

namespace octavo {
namespace {

class TablesRace : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kRows = 3000;
  static constexpr std::size_t kColumns = 24;  // a row is more than a cache line

  std::unique_ptr<MmapManager> MakeTable(const std::string& name, std::uint64_t columns,
                                         NpyElement element = NpyElement::kFloat32) const {
    return MakeLoadedTable(folder_.path(), name, kRows, columns, element);
  }
  // Reads rows until `stop`; no row may be torn.
  static void ReadRows(const MmapManager& table, const std::atomic<bool>& stop, std::uint64_t first,
                       std::uint64_t rows) {
    std::vector<float> row(table.columns());
    for (std::uint64_t i = 0; !stop.load(std::memory_order_relaxed); i = (i + 13) % rows) {
      ASSERT_OK(table.ReadRow(NodeId{first + i}, row));
      for (const float x : row) ASSERT_EQ(x, row[0]) << "a torn row";
    }
  }

  const TemporaryFolder folder_;
};

// Chunks that update the same rows at the same time: no update is lost, and no row is torn.
TEST_F(TablesRace, NoUpdateOfChunksIsLost) {
  const std::unique_ptr<MmapManager> table = MakeTable("t", kColumns);
  const std::unique_ptr<MmapManager> state = MakeTable("s", 1);
  ASSERT_OK_AND_ASSIGN(const auto gradients, MmapGradientAccumulator::Create(folder_ / "g", kColumns, {}));
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kChunks = 60;
  constexpr std::uint64_t kNodes = 40;
  const std::vector<float> one(kColumns, 1.0F);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<RowGradient> listed;
      for (std::uint64_t i = 0; i < 2 * kNodes; ++i) listed.push_back({NodeId{(i * (2 * t + 1)) % kNodes}, one.data()});
      GradientsByNode by_node;
      for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
        ListAndOrder(listed, by_node);
        ASSERT_OK(
            gradients->UpdateUnderLocks(by_node,
                                        [](std::span<const float> sum, std::span<float> row, std::span<float> count) {
                                          count[0] += 1;
                                          for (std::size_t d = 0; d < row.size(); ++d) row[d] += sum[d];
                                        },
                                        *table, *state, {}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<float> row(kColumns);
  std::vector<float> count(1);
  float sums = 0;
  for (std::uint64_t node = 0; node < kNodes; ++node) {
    ASSERT_OK(table->ReadRow(NodeId{node}, row));
    ASSERT_OK(state->ReadRow(NodeId{node}, count));
    sums += row[0];
    for (const float x : row) EXPECT_EQ(x, row[0]) << "a torn row";
    EXPECT_LE(count[0], kThreads * kChunks);
  }
  EXPECT_EQ(sums, 2 * kNodes * kThreads * kChunks);
}

TEST_F(TablesRace, ReadersNeverSeeATornRow) {
  const std::unique_ptr<MmapManager> table = MakeTable("t", kColumns);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) threads.emplace_back([&] { ReadRows(*table, stop, 0, 200); });
  for (std::uint64_t w = 1; w <= 2; ++w) {
    threads.emplace_back([&, w] {
      for (std::uint64_t i = w; !stop.load(std::memory_order_relaxed); ++i) {
        const NodeId node{i % 200};
        const WriterStripeLock lock(table->LockFor(node));
        table->UpdateRow(node, {}, {},
                         [&](std::span<float> row) { std::ranges::fill(row, static_cast<float>(i * w)); });
      }
    });
  }
  std::this_thread::sleep_for(kRaceDuration);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(table->IsChanged(static_cast<PartitionId>(0)));
}

// A row of words is widened and rounded under its lock too.
TEST_F(TablesRace, ReadersNeverSeeATornRowOfBfloat16) {
  const std::unique_ptr<MmapManager> table = MakeTable("t", kColumns, NpyElement::kBfloat16);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) threads.emplace_back([&] { ReadRows(*table, stop, 0, 200); });
  for (std::uint64_t w = 1; w <= 2; ++w) {
    threads.emplace_back([&, w] {
      std::vector<float> wide(kColumns);
      for (std::uint64_t i = w; !stop.load(std::memory_order_relaxed); ++i) {
        const NodeId node{i % 200};
        const WriterStripeLock lock(table->LockFor(node));
        table->UpdateRow(node, {.seed = w, .step = i}, wide, [&](std::span<float> row) {
          const float next = row[0] < 100 ? row[0] + 1 : 0;  // whole numbers, which are exact as bf16
          std::ranges::fill(row, next);
        });
      }
    });
  }
  std::this_thread::sleep_for(kRaceDuration);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(table->IsChanged(static_cast<PartitionId>(0)));
}

TEST_F(TablesRace, UpdatesUnderTheLockAreNeverLost) {
  const std::unique_ptr<MmapManager> table = MakeTable("t", kColumns);
  constexpr int kThreads = 4;
  constexpr int kRounds = 3000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const NodeId node{static_cast<std::uint64_t>(i) % 130};
        const WriterStripeLock lock(table->LockFor(node));
        table->UpdateRow(node, {}, {}, [](std::span<float> row) {
          for (float& x : row) x += 1;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  double sum = 0;
  std::vector<float> row(kColumns);
  for (std::uint64_t node = 0; node < 130; ++node) {
    ASSERT_OK(table->ReadRow(NodeId{node}, row));
    sum += row[kColumns - 1];
  }
  EXPECT_EQ(sum, kThreads * kRounds);
}

// A partition is written and evicted while others are in use.
TEST_F(TablesRace, LoadingAndEvictingBesideWorkOnOtherPartitions) {
  const std::unique_ptr<MmapManager> table = MakeTable("t", kColumns);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  threads.emplace_back([&] { ReadRows(*table, stop, 0, 1000); });
  threads.emplace_back([&] {
    for (std::uint64_t i = 0; !stop.load(std::memory_order_relaxed); ++i) {
      const NodeId node{i % 1000};
      const WriterStripeLock lock(table->LockFor(node));
      table->UpdateRow(node, {}, {}, [&](std::span<float> row) { std::ranges::fill(row, static_cast<float>(i)); });
    }
  });
  const Clock::time_point end = Clock::now() + kRaceDuration;
  for (std::uint64_t i = 1; Clock::now() < end; ++i) {
    const auto p = static_cast<PartitionId>(1 + i % 2);
    const NodeId node{Value(p) * 1024 + i % 900};
    ASSERT_OK(table->LoadPartition(p));
    {
      const WriterStripeLock lock(table->LockFor(node));
      table->UpdateRow(node, {}, {}, [&](std::span<float> row) { std::ranges::fill(row, static_cast<float>(i)); });
    }
    ASSERT_OK(table->EvictPartition(p));
    ASSERT_OK(table->LoadPartition(p));
    std::vector<float> row(kColumns);
    ASSERT_OK(table->ReadRow(node, row));
    ASSERT_EQ(row[0], static_cast<float>(i));
    if (i % 8 == 0) table->MarkCommitted();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// Blocks that threads write beside the ordering, and updates of disjoint rows by many threads, which take no locks.
TEST_F(TablesRace, UpdatesOfDisjointRowsTakeNoLocks) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
  const std::unique_ptr<MmapManager> table = MakeTable("t", kColumns);
  const std::unique_ptr<MmapManager> state = MakeTable("s", 1);
  constexpr std::size_t kBlocks = 8;
  constexpr std::uint64_t kBlockRows = kRows / 6;
  ASSERT_OK_AND_ASSIGN(
      const auto gradients,
      MmapGradientAccumulator::Create(folder_ / "g", kColumns,
                                      {.block_floats = kBlocks * kBlockRows * kColumns, .accumulated_rows = kRows}));
  const std::vector<std::uint64_t> floats(kBlocks, kBlockRows * kColumns);
  std::vector<float> expected(kRows);
  int updates = 0;
  for (const Clock::time_point end = Clock::now() + kRaceDuration; Clock::now() < end; ++updates) {
    for (int batch = 0; batch < 1 + updates % 2; ++batch) {  // of one batch and of two
      ASSERT_OK(gradients->BeginBatch(floats));
      const auto node_of = [&](std::size_t b, std::uint64_t i) { return (b * kBlockRows / 2 + i) % kRows; };
      const auto compute = [&] {
        ParallelEach(0, kBlocks, [&](std::size_t b) { std::ranges::fill(gradients->block(b), 1.0F); });
      };
      const auto order = [&] {
        for (std::size_t b = 0; b < kBlocks; ++b) {
          for (std::uint64_t i = 0; i < kBlockRows; ++i) {
            gradients->batch().Add({NodeId{node_of(b, i)}, gradients->block(b).data() + i * kColumns});
            expected[node_of(b, i)] += 1;
          }
        }
        gradients->batch().Order();
      };
      ParallelBoth(compute, order);
      if (updates % 2 == 1) {
        ASSERT_OK(gradients->Accumulate());
      }
    }
    ASSERT_OK(gradients->Apply(
        [](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
          row_state[0] += 1;
          for (std::size_t d = 0; d < row.size(); ++d) row[d] += gradient[d];
        },
        *table, *state, {}));
  }
  std::vector<float> row(kColumns);
  std::vector<float> row_state(1);
  for (std::uint64_t node = 0; node < kRows; ++node) {
    ASSERT_OK(table->ReadRow(NodeId{node}, row));
    ASSERT_OK(state->ReadRow(NodeId{node}, row_state));
    ASSERT_EQ(row[0], expected[node]);
    ASSERT_EQ(row_state[0], static_cast<float>(expected[node] > 0 ? updates : 0));
  }
}

TEST(AtomicBitmapRace, WhoDrainsABitSeesWhatWasWrittenBeforeIt) {
  constexpr std::size_t kBits = 130;
  AtomicBitmap bitmap(kBits);
  std::vector<std::uint64_t> values(kBits);  // not atomic: the bitmap orders the accesses
  std::vector<std::atomic<std::uint32_t>> owner(kBits);
  std::atomic<bool> stop{false};
  std::uint64_t written = 0;
  std::thread writer([&] {
    for (std::uint64_t i = 0; !stop.load(std::memory_order_relaxed); ++i) {
      const std::size_t bit = i % kBits;
      if (owner[bit].load(std::memory_order_acquire) != 0) continue;
      ++values[bit];
      ++written;
      owner[bit].store(1, std::memory_order_relaxed);  // only the bitmap orders the value
      bitmap.Set(bit);
    }
  });
  std::uint64_t drained = 0;
  const auto drain = [&] {
    bitmap.Drain(0, kBits, [&](std::size_t bit) {
      values[bit] += std::uint64_t{1} << 32;
      ++drained;
      owner[bit].store(0, std::memory_order_release);
    });
  };
  for (const Clock::time_point end = Clock::now() + kRaceDuration; Clock::now() < end;) drain();
  stop = true;
  writer.join();
  drain();
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) sum += value & 0xFFFFFFFF;
  EXPECT_EQ(sum, written);
  EXPECT_EQ(drained, written);
}

}  // namespace
}  // namespace octavo
