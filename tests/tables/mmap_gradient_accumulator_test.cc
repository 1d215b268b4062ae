#include "tables/mmap_gradient_accumulator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/listed_batch.h"
#include "tests/tables/loaded_table.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class MmapGradientAccumulatorTest : public ::testing::Test {
 protected:
  std::unique_ptr<MmapGradientAccumulator> Make(std::size_t dim, std::uint64_t max_rows) {
    absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> made =
        MmapGradientAccumulator::Create(Path(), dim, {.block_floats = 4096, .accumulated_rows = max_rows});
    EXPECT_OK(made);
    return *std::move(made);
  }
  fs::path Path() const { return folder_ / "gradients.map"; }
  std::unique_ptr<MmapManager> MakeTable(const std::string& name, std::uint64_t rows, std::uint64_t columns,
                                         NpyElement element = NpyElement::kFloat32) {
    return MakeLoadedTable(folder_.path(), name, rows, columns, element);
  }
  // A batch of one gradient.
  static absl::Status Add(MmapGradientAccumulator& gradients, std::uint64_t node, const std::vector<float>& gradient) {
    return AddBatch(gradients, std::vector<RowGradient>{{NodeId{node}, gradient.data()}});
  }
  using Sums = std::map<std::uint64_t, std::vector<float>>;

  const TemporaryFolder folder_;
};

TEST_F(MmapGradientAccumulatorTest, SumsTheGradientsOfANode) {
  const auto gradients = Make(3, 10);
  ASSERT_OK(Add(*gradients, 7, {1, 2, 3}));
  ASSERT_OK(Add(*gradients, 2, {5, 5, 5}));
  ASSERT_OK(Add(*gradients, 7, {10, 20, 30}));
  EXPECT_EQ(TakeSums(*gradients, 10, 3), (Sums{{2, {5, 5, 5}}, {7, {11, 22, 33}}}));
}

TEST_F(MmapGradientAccumulatorTest, ApplyLeavesNoStaleSums) {
  const auto gradients = Make(2, 4);
  const auto table = MakeTable("t", 10, 2);
  const auto state = MakeTable("s", 10, 1);
  ASSERT_OK(Add(*gradients, 1, {1, 1}));
  ASSERT_OK(Add(*gradients, 9, {4, 4}));
  ASSERT_OK(gradients->Apply([](auto, auto, auto) {}, *table, *state, {}));
  ASSERT_OK(Add(*gradients, 9, {2, 3}));  // takes the row that node 1 had
  EXPECT_EQ(TakeSums(*gradients, 10, 2), (Sums{{9, {2, 3}}}));
  EXPECT_EQ(TakeSums(*gradients, 10, 2), Sums());
}

TEST_F(MmapGradientAccumulatorTest, StaleGradientsDoNotSurviveAReopen) {
  {
    const auto gradients = Make(2, 4);
    ASSERT_OK(Add(*gradients, 1, {1, 1}));
  }
  const auto gradients = Make(2, 4);
  ASSERT_OK(Add(*gradients, 2, {2, 3}));
  EXPECT_EQ(TakeSums(*gradients, 10, 2), (Sums{{2, {2, 3}}}));
}

TEST_F(MmapGradientAccumulatorTest, AnOldOrForeignFileIsReplaced) {
  WriteFileBytes(Path(), std::string(100000, 'x'));
  const auto gradients = Make(2, 4);
  EXPECT_EQ(fs::file_size(Path()), 4096U + 4096U * 4U + 4096U);
  ASSERT_OK(Add(*gradients, 1, {2, 3}));
  EXPECT_EQ(TakeSums(*gradients, 10, 2), (Sums{{1, {2, 3}}}));
}

TEST_F(MmapGradientAccumulatorTest, GradientsNeverReachTheFile) {
  const auto gradients = Make(2, 4);
  const std::string before = FileBytes(Path());
  EXPECT_EQ(before.substr(0, 8), "OCTVGRAD");
  ASSERT_OK(Add(*gradients, 1, {2, 3}));
  EXPECT_EQ(FileBytes(Path()), before);
}

// The first page was a header of 40 bytes without a checksum: a changed byte was not noticed.
TEST_F(MmapGradientAccumulatorTest, EveryChangedByteOfTheHeaderIsNoticed) {
  const std::string whole = (Make(2, 4), FileBytes(Path()));
  EXPECT_OK(MmapGradientAccumulator::CheckFile(Path()));
  for (std::size_t at = 0; at < 4096; at += at < 64 ? 1 : 17) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    WriteFileBytes(Path(), damaged);
    EXPECT_ERROR(MmapGradientAccumulator::CheckFile(Path()), kCorrupt, "gradients.map: header: damaged");
  }
  WriteFileBytes(Path(), whole + "x");
  EXPECT_ERROR(MmapGradientAccumulator::CheckFile(Path()), kCorrupt, "does not belong to a file of 24577 bytes");
  WriteFileBytes(Path(), whole.substr(0, 100));
  EXPECT_FALSE(MmapGradientAccumulator::CheckFile(Path()).ok());
}

TEST_F(MmapGradientAccumulatorTest, AFileThatIsBeingMadeOrFromAnOlderVersionIsNotDamaged) {
  const std::string whole = (Make(2, 4), FileBytes(Path()));
  for (const std::uint64_t bytes : {0U, 4096U}) {
    WriteFileBytes(Path(), whole.substr(0, bytes));
    EXPECT_OK(MmapGradientAccumulator::CheckFile(Path()));
  }
  std::string older = whole;
  older[8] = 2;
  older.replace(40, 8, 8, '\0');  // the checksum
  WriteFileBytes(Path(), older);
  EXPECT_OK(MmapGradientAccumulator::CheckFile(Path()));
}

TEST_F(MmapGradientAccumulatorTest, OverflowLeavesTheSumsAsTheyWere) {
  const auto gradients = Make(1, 3);
  const float one = 1;
  ASSERT_OK(Add(*gradients, 5, {1}));
  ASSERT_OK(Add(*gradients, 6, {1}));
  const std::vector<RowGradient> three = {{NodeId{1}, &one}, {NodeId{5}, &one}, {NodeId{9}, &one}};
  const absl::Status full = AddBatch(*gradients, three);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  // What fits still fits, and rows keep their nodes.
  ASSERT_OK(AddBatch(*gradients, std::span(three).first(2)));
  ASSERT_OK(AddBatch(*gradients, std::span(three).first(2)));
  EXPECT_EQ(TakeSums(*gradients, 10, 1), (Sums{{1, {2}}, {5, {3}}, {6, {1}}}));
}

// ---- Blocks.

TEST_F(MmapGradientAccumulatorTest, BlocksLieOneAfterTheOtherAndHoldWhatIsWritten) {
  const auto gradients = Make(2, 0);
  for (const std::vector<std::uint64_t>& floats :
       {std::vector<std::uint64_t>{16, 4032, 48}, std::vector<std::uint64_t>{4096},
        std::vector<std::uint64_t>{32, 0, 16}}) {
    ASSERT_OK(gradients->BeginBatch(floats));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(gradients->block(i).size(), floats[i]);
      if (i > 0) {
        EXPECT_EQ(gradients->block(i).data(), gradients->block(i - 1).data() + floats[i - 1]);
      }
      std::ranges::fill(gradients->block(i), static_cast<float>(i + 1));
    }
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(gradients->block(0).data()) % 64, 0U);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      EXPECT_THAT(gradients->block(i), ::testing::Each(static_cast<float>(i + 1)));
    }
  }
  // The file keeps zeros: the pages are private.
  EXPECT_EQ(FileBytes(Path()).find_first_not_of('\0', 4096), std::string::npos);
}

TEST_F(MmapGradientAccumulatorTest, ABatchBeginsWithNothingListed) {
  const auto gradients = Make(2, 4);
  ASSERT_OK(Add(*gradients, 1, {1, 1}));
  ASSERT_OK(gradients->BeginBatch(std::vector<std::uint64_t>{16}));
  EXPECT_TRUE(gradients->batch().listed().empty());
  EXPECT_EQ(TakeSums(*gradients, 10, 2), (Sums{{1, {1, 1}}})) << "the sums stay";
}

TEST_F(MmapGradientAccumulatorTest, MoreThanTheBlocksHoldIsAnError) {
  const auto gradients = Make(2, 0);
  for (const std::vector<std::uint64_t>& floats :
       {std::vector<std::uint64_t>{4097}, std::vector<std::uint64_t>{4096, 1},
        std::vector<std::uint64_t>{1, std::numeric_limits<std::uint64_t>::max()}}) {
    EXPECT_EQ(gradients->BeginBatch(floats).code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_OK(gradients->BeginBatch(std::vector<std::uint64_t>{4096}));
}

// If each batch is an update nothing is copied: rows are updated by sums over the blocks.
TEST_F(MmapGradientAccumulatorTest, AppliesTheBatchWhereNothingIsAccumulated) {
  const auto gradients = Make(2, 0);
  const auto table = MakeTable("t", 100, 2);
  const auto state = MakeTable("s", 100, 1);
  ASSERT_OK(gradients->BeginBatch(std::vector<std::uint64_t>{16, 16}));
  gradients->batch().Add({NodeId{7}, gradients->block(0).data()});
  gradients->batch().Add({NodeId{3}, gradients->block(0).data() + 2});
  gradients->batch().Add({NodeId{7}, gradients->block(1).data()});
  gradients->batch().Order();
  std::ranges::fill(gradients->block(0), 1.0F);  // after the order
  std::ranges::fill(gradients->block(1), 5.0F);
  std::atomic<int> calls = 0;
  ASSERT_OK(gradients->Apply(
      [&](std::span<const float> gradient, std::span<float> row, std::span<float>) {
        ++calls;
        std::ranges::copy(gradient, row.begin());
      },
      *table, *state, {}));
  EXPECT_EQ(calls, 2);
  std::vector<float> row(2);
  ASSERT_OK(table->ReadRow(NodeId{7}, row));
  EXPECT_THAT(row, ElementsAre(6, 6));
  ASSERT_OK(table->ReadRow(NodeId{3}, row));
  EXPECT_THAT(row, ElementsAre(1, 1));
}

// ---- Sums over several batches.

TEST_F(MmapGradientAccumulatorTest, AnEmptyBatchIsFine) {
  const auto gradients = Make(3, 0);
  EXPECT_OK(AddBatch(*gradients, {}));
  EXPECT_EQ(TakeSums(*gradients, 10, 3), Sums());
  EXPECT_OK(gradients->BeginBatch({}));
  EXPECT_EQ(Add(*gradients, 1, {1, 2, 3}).code(), absl::StatusCode::kResourceExhausted);
}

// A merge of the touched nodes dropped the largest possible id, so Apply did not report an id past the end.
TEST_F(MmapGradientAccumulatorTest, TheLargestIdIsKeptAndRefusedByApply) {
  const auto gradients = Make(1, 3);
  const float one = 1;
  const NodeId last{std::numeric_limits<std::uint64_t>::max()};
  ASSERT_OK(AddBatch(*gradients, std::vector<RowGradient>{{last, &one}}));
  ASSERT_OK(Add(*gradients, 0, {1}));
  const auto table = MakeTable("t", 100, 1);
  const auto state = MakeTable("s", 100, 1);
  EXPECT_EQ(gradients->Apply([](auto, auto, auto) {}, *table, *state, {}).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(MmapGradientAccumulatorTest, SizesThatOverflowAreErrors) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [dim, capacity] : {std::pair{kMax / 2, GradientCapacity{0, 3}},
                                      {std::uint64_t{1} << 40, GradientCapacity{0, std::uint64_t{1} << 30}},
                                      {std::uint64_t{4}, GradientCapacity{0, kMax}},
                                      {std::uint64_t{4}, GradientCapacity{0, std::uint64_t{1} << 32}},
                                      {std::uint64_t{4}, GradientCapacity{kMax, 0}},
                                      {std::uint64_t{4}, GradientCapacity{kMax / 4, 0}},
                                      {std::uint64_t{4}, GradientCapacity{kMax / 8, kMax / 32}}}) {
    EXPECT_ERROR(MmapGradientAccumulator::Create(Path(), dim, capacity), kUsage, "too many");
  }
  EXPECT_FALSE(fs::exists(Path()));
}

// With a sparse file the first store to a page raised SIGBUS if the disk (a tmpfs) was full.
TEST_F(MmapGradientAccumulatorTest, FullDiskIsAnErrorAtOnceAndNoSignal) {
  const SmallDisk disk(folder_ / "disk", std::uint64_t{1} << 20);
  if (!disk.mounted()) return;
  const ChildEnd end = RunChild([&] {
    const auto made = MmapGradientAccumulator::Create(disk.folder() / "gradients.map", 64,
                                                      {.block_floats = 64 << 14, .accumulated_rows = 0});
    if (!made.ok()) return KindOf(made.status()) == ErrorKind::kRuntime ? 0 : 1;
    if (!(*made)->BeginBatch(std::vector<std::uint64_t>{64 << 14}).ok()) return 2;
    std::ranges::fill((*made)->block(0), 1.0F);
    return 3;
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, 0);
}

TEST_F(MmapGradientAccumulatorTest, StoresOnADiskThatFilledUpSucceed) {
  const SmallDisk disk(folder_ / "disk", std::uint64_t{1} << 20);
  if (!disk.mounted()) return;
  const ChildEnd end = RunChild([&] {
    const auto made = MmapGradientAccumulator::Create(disk.folder() / "gradients.map", 64,
                                                      {.block_floats = 64 << 10, .accumulated_rows = 1 << 10});
    if (!made.ok()) return 1;
    std::ofstream filler(disk.folder() / "filler", std::ios::binary);
    while (filler << std::string(4096, 'x') << std::flush) {
    }
    if (!(*made)->BeginBatch(std::vector<std::uint64_t>{64 << 10}).ok()) return 2;
    std::ranges::fill((*made)->block(0), 1.0F);
    for (std::uint64_t node = 0; node < 1 << 10; ++node) (*made)->batch().Add({NodeId{node}, (*made)->block(0).data()});
    (*made)->batch().Order();
    return (*made)->Accumulate().ok() ? 0 : 3;
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, 0);
}

// On an XFS that was shut down the first store to a page raised SIGBUS. A truncated file has no pages to read either.
TEST_F(MmapGradientAccumulatorTest, PagesThatCannotBeReadAreAnErrorAndNoSignal) {
  const auto gradients = Make(1024, 10);
  fs::resize_file(Path(), 4096 + 4096);
  EXPECT_ERROR(gradients->BeginBatch(std::vector<std::uint64_t>{4096}), kRuntime, "gradients.map: map ");
  EXPECT_ERROR(Add(*gradients, 1, std::vector<float>(1024, 1.0F)), kRuntime, "gradients.map: map ");
  EXPECT_EQ(TakeSums(*gradients, 10, 1024), Sums());
}

// The clean pages of the file would be a second copy of the gradients.
TEST_F(MmapGradientAccumulatorTest, NothingOfTheFileStaysInThePageCache) {
  ASSERT_OK_AND_ASSIGN(const auto gradients, MmapGradientAccumulator::Create(
                                                 Path(), 64, {.block_floats = 16 << 20, .accumulated_rows = 1024}));
  ASSERT_OK(gradients->BeginBatch(std::vector<std::uint64_t>{16 << 20}));
  std::ranges::fill(gradients->block(0), 1.0F);
  EXPECT_LT(CachedBytes(Path()), std::uint64_t{1} << 20);
}

TEST_F(MmapGradientAccumulatorTest, InjectedErrorsAreReported) {
  for (const std::string point : {"file.open=eio", "file.write=enospc", "file.allocate=enospc"}) {
    ASSERT_OK(SetFailpoints(point));
    EXPECT_ERROR(MmapGradientAccumulator::Create(Path(), 4, {.block_floats = 64, .accumulated_rows = 4}), kRuntime,
                 "failpoint");
    ASSERT_OK(SetFailpoints(""));
  }
}

// ---- Determinism.

// Contributions of several batches: few nodes get many, many get one. The values differ much in size, so another order
// of summation gives other bits.
struct Batches {
  static constexpr std::size_t kDim = 12;
  std::vector<std::vector<RowGradient>> batches;
  std::vector<std::unique_ptr<std::vector<float>>> values;

  explicit Batches(std::uint64_t seed) {
    RandomStream random(seed, RandomPurpose::kSplit, 0, 0);
    for (int b = 0; b < 4; ++b) {
      std::vector<RowGradient>& batch = batches.emplace_back();
      for (int i = 0; i < 6000; ++i) {
        auto& gradient = *values.emplace_back(std::make_unique<std::vector<float>>(kDim));
        for (float& x : gradient) x = std::ldexp(random.NextFloat() - 0.5F, static_cast<int>(random.Below(30)));
        const std::uint64_t node = random.Below(2) == 0 ? random.Below(3) : random.Below(3000);
        batch.push_back({NodeId{node}, gradient.data()});
      }
    }
  }
  // The oracle: each one added in turn.
  std::map<std::uint64_t, std::vector<float>> SerialSums() const {
    std::map<std::uint64_t, std::vector<float>> sums;
    for (const std::vector<RowGradient>& batch : batches) {
      for (const RowGradient& one : batch) {
        const auto [place, fresh] = sums.try_emplace(Value(one.node), kDim);
        for (std::size_t d = 0; d < kDim; ++d) {
          place->second[d] = fresh ? one.values[d] : place->second[d] + one.values[d];
        }
      }
    }
    return sums;
  }
};

TEST_F(MmapGradientAccumulatorTest, SumsAreTheSerialOnesToTheBitForAnyNumberOfThreads) {
  const Batches batches(3);
  const std::map<std::uint64_t, std::vector<float>> expected = batches.SerialSums();
  for (const std::size_t threads : {1U, 2U, 4U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const auto gradients = Make(Batches::kDim, 3000);
    for (int window = 0; window < 2; ++window) {
      for (const std::vector<RowGradient>& batch : batches.batches) ASSERT_OK(AddBatch(*gradients, batch));
      const Sums found = TakeSums(*gradients, 3000, Batches::kDim);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [node, sum] : expected) {
        ASSERT_EQ(std::memcmp(found.at(node).data(), sum.data(), sum.size() * sizeof(float)), 0) << node;
      }
    }
  }
}

// ---- Apply.

TEST_F(MmapGradientAccumulatorTest, AppliesToTouchedRowsOnlyAndOnce) {
  constexpr std::uint64_t kRows = 5000;
  const auto gradients = Make(2, 100);
  const auto table = MakeTable("t", kRows, 2);
  const auto state = MakeTable("s", kRows, 1);
  const std::set<std::uint64_t> nodes = {0, 1, 64, 1023, 1024, 3000, 4999};
  for (const std::uint64_t node : nodes) {
    ASSERT_OK(Add(*gradients, node, {static_cast<float>(node), 1}));
  }
  std::atomic<int> calls{0};
  ASSERT_OK(gradients->Apply(
      [&](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
        ++calls;
        row_state[0] += 1;
        for (std::size_t d = 0; d < row.size(); ++d) row[d] -= gradient[d];
      },
      *table, *state, {}));
  EXPECT_EQ(calls, static_cast<int>(nodes.size()));
  std::vector<float> row(2);
  std::vector<float> row_state(1);
  for (std::uint64_t node = 0; node < kRows; ++node) {
    ASSERT_OK(table->ReadRow(NodeId{node}, row));
    ASSERT_OK(state->ReadRow(NodeId{node}, row_state));
    const bool touched = nodes.contains(node);
    ASSERT_EQ(row[0], touched ? -static_cast<float>(node) : 0.0F);
    ASSERT_EQ(row_state[0], touched ? 1.0F : 0.0F);
  }
  // Only what was applied is dirty: partition 1 has group 16 and group 46.
  EXPECT_FALSE(table->IsChanged(static_cast<PartitionId>(3)));
}

TEST_F(MmapGradientAccumulatorTest, ApplyWorksOnSeveralThreads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
  constexpr std::uint64_t kRows = 2048;
  const auto gradients = Make(1, kRows);
  const auto table = MakeTable("t", kRows, 1);
  const auto state = MakeTable("s", kRows, 0);
  for (std::uint64_t node = 0; node < kRows; ++node) ASSERT_OK(Add(*gradients, node, {1}));
  std::mutex mutex;
  std::set<std::thread::id> threads;
  ASSERT_OK(gradients->Apply(
      [&](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
        EXPECT_TRUE(row_state.empty());
        row[0] += gradient[0];
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        const std::lock_guard<std::mutex> lock(mutex);
        threads.insert(std::this_thread::get_id());
      },
      *table, *state, {}));
  EXPECT_GE(threads.size(), 2U);
}

TEST_F(MmapGradientAccumulatorTest, ApplyToRowsThatAreNotThereUpdatesNothing) {
  const auto table = MakeTable("t", 3000, 1);
  const auto state = MakeTable("s", 3000, 1);
  int calls = 0;
  const auto count = [&](std::span<const float>, std::span<float>, std::span<float>) { ++calls; };
  const auto gradients = Make(1, 10);
  ASSERT_OK(Add(*gradients, 5, {1}));
  ASSERT_OK(Add(*gradients, 3000, {1}));
  EXPECT_EQ(gradients->Apply(count, *table, *state, {}).code(), absl::StatusCode::kOutOfRange);
  const auto others = Make(1, 10);
  ASSERT_OK(Add(*others, 5, {1}));
  ASSERT_OK(Add(*others, 1030, {1}));
  ASSERT_OK(state->EvictPartition(static_cast<PartitionId>(1)));
  EXPECT_EQ(others->Apply(count, *table, *state, {}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(table->IsChanged(static_cast<PartitionId>(0)));
}

// All kinds of update compute the same sums, round a row once, with the caller's rounding, and pass floats to the
// update.
TEST_F(MmapGradientAccumulatorTest, RowsOfBfloat16AreRoundedOnceAnUpdate) {
  constexpr std::uint64_t kRows = 4096;
  const Batches batches(1);
  const auto update = [](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
    row_state[0] += 1;
    for (std::size_t d = 0; d < row.size(); ++d) row[d] -= gradient[d] / row_state[0];
  };
  const auto gradients = Make(Batches::kDim, 3000);
  std::vector<std::unique_ptr<MmapManager>> tables, states;  // by the batch, by accumulated sums, under the locks
  for (const std::string name : {"b", "w", "l"}) {
    tables.push_back(MakeTable(name, kRows, Batches::kDim, NpyElement::kBfloat16));
    states.push_back(MakeTable(name + "s", kRows, 1));
  }
  GradientsByNode chunk;
  ListAndOrder(batches.batches[0], chunk);
  ASSERT_OK(AddBatch(*gradients, batches.batches[0]));
  const Sums sums = TakeSums(*gradients, kRows, Batches::kDim);
  std::vector<float> expected(kRows * Batches::kDim);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const RowRounding rounding{.seed = 5, .step = step};
    ListAndOrder(batches.batches[0], gradients->batch());
    ASSERT_OK(gradients->Apply(update, *tables[0], *states[0], rounding));
    ASSERT_OK(AddBatch(*gradients, batches.batches[0]));
    for (const auto& [node, sum] : sums) {
      const std::span<float> row = std::span(expected).subspan(node * Batches::kDim, Batches::kDim);
      for (std::size_t d = 0; d < row.size(); ++d) row[d] -= sum[d] / static_cast<float>(step);
      std::vector<std::uint16_t> words(row.size());
      RoundStochastically(rounding, NodeId{node}, row, words);
      Widen(words, row);
    }
    ASSERT_OK(gradients->Apply(update, *tables[1], *states[1], rounding));
    ASSERT_OK(gradients->UpdateUnderLocks(chunk, update, *tables[2], *states[2], rounding));
  }
  std::vector<float> row(Batches::kDim);
  for (const std::unique_ptr<MmapManager>& found : tables) {
    for (std::uint64_t node = 0; node < kRows; ++node) {
      ASSERT_OK(found->ReadRow(NodeId{node}, row));
      ASSERT_EQ(std::memcmp(row.data(), expected.data() + node * Batches::kDim, sizeof(float) * Batches::kDim), 0)
          << node;
    }
  }
  EXPECT_GT(std::ranges::count_if(expected, [](float x) { return x != 0; }), 1000);
}

// Only the row's own lock is held while it is updated.
TEST_F(MmapGradientAccumulatorTest, UpdatesOfAChunkWaitForTheLockOfTheirRow) {
  const auto gradients = Make(1, 0);
  const auto table = MakeTable("t", 3000, 1);
  const auto state = MakeTable("s", 3000, 1);
  const float one = 1;
  GradientsByNode chunk;
  ListAndOrder(std::vector<RowGradient>{{NodeId{5}, &one}}, chunk);
  std::atomic<int> calls = 0;
  StripeMutex& lock = table->LockFor(NodeId{5});
  lock.Lock();
  std::thread worker(
      [&] { EXPECT_OK(gradients->UpdateUnderLocks(chunk, [&](auto, auto, auto) { ++calls; }, *table, *state, {})); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(calls, 0);
  lock.Unlock();
  worker.join();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace octavo
