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
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/loaded_table.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MmapGradientAccumulatorTest : public ::testing::Test {
 protected:
  std::unique_ptr<MmapGradientAccumulator> Make(std::size_t dim, std::uint64_t max_rows) {
    absl::StatusOr<std::unique_ptr<MmapGradientAccumulator>> made =
        MmapGradientAccumulator::Create(Path(), dim, max_rows);
    EXPECT_OK(made);
    return *std::move(made);
  }
  fs::path Path() const { return folder_ / "gradients.map"; }
  std::unique_ptr<MmapManager> MakeTable(const std::string& name, std::uint64_t rows, std::uint64_t columns,
                                         NpyElement element = NpyElement::kFloat32) {
    return MakeLoadedTable(folder_.path(), name, rows, columns, element);
  }
  static std::vector<float> Sum(const MmapGradientAccumulator& gradients, std::uint64_t node) {
    const absl::StatusOr<std::span<const float>> sum = gradients.Gradient(NodeId{node});
    EXPECT_OK(sum);
    return sum.ok() ? std::vector<float>(sum->begin(), sum->end()) : std::vector<float>();
  }

  const TemporaryFolder folder_;
};

TEST_F(MmapGradientAccumulatorTest, SumsTheGradientsOfANode) {
  const auto gradients = Make(3, 10);
  ASSERT_OK(gradients->Accumulate(NodeId{7}, std::vector<float>{1, 2, 3}));
  ASSERT_OK(gradients->Accumulate(NodeId{2}, std::vector<float>{5, 5, 5}));
  ASSERT_OK(gradients->Accumulate(NodeId{7}, std::vector<float>{10, 20, 30}));
  EXPECT_THAT(gradients->touched(), ElementsAre(NodeId{2}, NodeId{7}));
  EXPECT_THAT(Sum(*gradients, 7), ElementsAre(11, 22, 33));
  EXPECT_THAT(Sum(*gradients, 2), ElementsAre(5, 5, 5));
  EXPECT_EQ(gradients->Gradient(NodeId{3}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(MmapGradientAccumulatorTest, ZeroStartsAWindowWithoutStaleSums) {
  const auto gradients = Make(2, 4);
  ASSERT_OK(gradients->Accumulate(NodeId{1}, std::vector<float>{1, 1}));
  ASSERT_OK(gradients->Accumulate(NodeId{9}, std::vector<float>{4, 4}));
  gradients->Zero();
  EXPECT_THAT(gradients->touched(), IsEmpty());
  EXPECT_FALSE(gradients->Gradient(NodeId{1}).ok());
  ASSERT_OK(gradients->Accumulate(NodeId{9}, std::vector<float>{2, 3}));  // takes the row that node 1 had
  EXPECT_THAT(Sum(*gradients, 9), ElementsAre(2, 3));
  EXPECT_THAT(gradients->touched(), ElementsAre(NodeId{9}));
}

TEST_F(MmapGradientAccumulatorTest, StaleGradientsDoNotSurviveAReopen) {
  {
    const auto gradients = Make(2, 4);
    ASSERT_OK(gradients->Accumulate(NodeId{1}, std::vector<float>{1, 1}));
  }
  const auto gradients = Make(2, 4);
  EXPECT_THAT(gradients->touched(), IsEmpty());
  EXPECT_FALSE(gradients->Gradient(NodeId{1}).ok());
  ASSERT_OK(gradients->Accumulate(NodeId{1}, std::vector<float>{2, 3}));
  EXPECT_THAT(Sum(*gradients, 1), ElementsAre(2, 3));
}

TEST_F(MmapGradientAccumulatorTest, AnOldOrForeignFileIsReplaced) {
  WriteFileBytes(Path(), std::string(100000, 'x'));
  const auto gradients = Make(2, 4);
  EXPECT_EQ(fs::file_size(Path()), 4096U + 4U * 8U);
  ASSERT_OK(gradients->Accumulate(NodeId{1}, std::vector<float>{2, 3}));
  EXPECT_THAT(Sum(*gradients, 1), ElementsAre(2, 3));
}

TEST_F(MmapGradientAccumulatorTest, GradientsNeverReachTheFile) {
  const auto gradients = Make(2, 4);
  const std::string before = FileBytes(Path());
  EXPECT_EQ(before.substr(0, 8), "OCTVGRAD");
  ASSERT_OK(gradients->Accumulate(NodeId{1}, std::vector<float>{2, 3}));
  EXPECT_EQ(FileBytes(Path()), before);
}

TEST_F(MmapGradientAccumulatorTest, OverflowLeavesTheWindowAsItWas) {
  const auto gradients = Make(1, 3);
  const float one = 1;
  ASSERT_OK(gradients->Accumulate(NodeId{5}, {&one, 1}));
  ASSERT_OK(gradients->Accumulate(NodeId{6}, {&one, 1}));
  const std::vector<Contribution> three = {{NodeId{1}, &one}, {NodeId{5}, &one}, {NodeId{9}, &one}};
  const absl::Status full = gradients->AccumulateBatch(three);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  EXPECT_THAT(gradients->touched(), ElementsAre(NodeId{5}, NodeId{6}));
  EXPECT_THAT(Sum(*gradients, 5), ElementsAre(1));
  // What fits still fits, and rows keep their nodes.
  ASSERT_OK(gradients->AccumulateBatch(std::span(three).first(2)));
  EXPECT_THAT(gradients->touched(), ElementsAre(NodeId{1}, NodeId{5}, NodeId{6}));
  EXPECT_THAT(Sum(*gradients, 5), ElementsAre(2));
  EXPECT_THAT(Sum(*gradients, 6), ElementsAre(1));
  EXPECT_THAT(Sum(*gradients, 1), ElementsAre(1));
  ASSERT_OK(gradients->AccumulateBatch(std::span(three).first(2)));
}

TEST_F(MmapGradientAccumulatorTest, AGradientOfAnotherWidthIsAnError) {
  const auto gradients = Make(3, 4);
  EXPECT_EQ(gradients->Accumulate(NodeId{1}, std::vector<float>{1, 2}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(gradients->Accumulate(NodeId{1}, std::vector<float>{1, 2, 3, 4}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(gradients->touched(), IsEmpty());
}

TEST_F(MmapGradientAccumulatorTest, AnEmptyBatchIsFine) {
  const auto gradients = Make(3, 0);
  EXPECT_OK(gradients->AccumulateBatch({}));
  EXPECT_THAT(gradients->touched(), IsEmpty());
  EXPECT_EQ(gradients->Accumulate(NodeId{1}, std::vector<float>{1, 2, 3}).code(), absl::StatusCode::kResourceExhausted);
}

// A merge of the touched nodes dropped the largest id there is, so that an id past the end lost its error in Apply.
TEST_F(MmapGradientAccumulatorTest, TheLargestIdIsKeptAndRefusedByApply) {
  const auto gradients = Make(1, 3);
  const float one = 1;
  const NodeId last{std::numeric_limits<std::uint64_t>::max()};
  ASSERT_OK(gradients->Accumulate(last, {&one, 1}));
  ASSERT_OK(gradients->Accumulate(NodeId{0}, {&one, 1}));
  EXPECT_THAT(gradients->touched(), ElementsAre(NodeId{0}, last));
  const auto table = MakeTable("t", 100, 1);
  const auto state = MakeTable("s", 100, 1);
  EXPECT_EQ(gradients->Apply([](auto, auto, auto) {}, *table, *state).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(MmapGradientAccumulatorTest, SizesThatOverflowAreErrors) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_ERROR(MmapGradientAccumulator::Create(Path(), kMax / 2, 3), kUsage, "too many");
  EXPECT_ERROR(MmapGradientAccumulator::Create(Path(), std::size_t{1} << 40, 1 << 30), kUsage, "too many");
  EXPECT_ERROR(MmapGradientAccumulator::Create(Path(), 4, kMax), kUsage, "too many");
  EXPECT_ERROR(MmapGradientAccumulator::Create(Path(), 4, std::uint64_t{1} << 32), kUsage, "too many");
  EXPECT_FALSE(fs::exists(Path()));
}

// A sparse file made the first store to a page of it SIGBUS where the disk (a tmpfs) was full.
TEST_F(MmapGradientAccumulatorTest, FullDiskIsAnErrorAtOnceAndNoSignal) {
  const SmallDisk disk(folder_ / "disk", std::uint64_t{1} << 20);
  if (!disk.mounted()) return;
  const ChildEnd end = RunChild([&] {
    const auto made = MmapGradientAccumulator::Create(disk.folder() / "gradients.map", 64, 1 << 14);
    if (!made.ok()) return KindOf(made.status()) == ErrorKind::kRuntime ? 0 : 1;
    const std::vector<float> gradient(64, 1.0F);
    for (std::uint64_t node = 0; node < 1 << 14; ++node) {
      if (!(*made)->Accumulate(NodeId{node}, gradient).ok()) return 2;
    }
    return 3;
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, 0);
}

TEST_F(MmapGradientAccumulatorTest, StoresOnADiskThatFilledUpSucceed) {
  const SmallDisk disk(folder_ / "disk", std::uint64_t{1} << 20);
  if (!disk.mounted()) return;
  const ChildEnd end = RunChild([&] {
    const auto made = MmapGradientAccumulator::Create(disk.folder() / "gradients.map", 64, 1 << 10);
    if (!made.ok()) return 1;
    std::ofstream filler(disk.folder() / "filler", std::ios::binary);
    while (filler << std::string(4096, 'x') << std::flush) {
    }
    const std::vector<float> gradient(64, 1.0F);
    for (std::uint64_t node = 0; node < 1 << 10; ++node) {
      if (!(*made)->Accumulate(NodeId{node}, gradient).ok()) return 2;
    }
    return 0;
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.code, 0);
}

// On an XFS that was shut down the first store to a page was SIGBUS. A file that lost its end has no pages to read
// either.
TEST_F(MmapGradientAccumulatorTest, PagesThatCannotBeReadAreAnErrorAndNoSignal) {
  const auto gradients = Make(1024, 10);
  fs::resize_file(Path(), 4096 + 4096);
  const std::vector<float> gradient(1024, 1.0F);
  EXPECT_ERROR(gradients->Accumulate(static_cast<NodeId>(1), gradient), kRuntime, "gradients.map: map ");
  EXPECT_THAT(gradients->touched(), IsEmpty());
}

TEST_F(MmapGradientAccumulatorTest, InjectedErrorsAreReported) {
  for (const std::string point : {"file.open=eio", "file.write=enospc", "file.allocate=enospc"}) {
    ASSERT_OK(SetFailpoints(point));
    EXPECT_ERROR(MmapGradientAccumulator::Create(Path(), 4, 4), kRuntime, "failpoint");
    ASSERT_OK(SetFailpoints(""));
  }
}

// ---- Determinism.

// Contributions of several batches: few nodes get many, many get one; values of very different size, so that another
// order of summation gives other bits.
struct Batches {
  static constexpr std::size_t kDim = 12;
  std::vector<std::vector<Contribution>> batches;
  std::vector<std::unique_ptr<std::vector<float>>> values;

  explicit Batches(std::uint64_t seed) {
    RandomStream random(seed, RandomPurpose::kSplit, 0, 0);
    for (int b = 0; b < 4; ++b) {
      std::vector<Contribution>& batch = batches.emplace_back();
      for (int i = 0; i < 6000; ++i) {
        auto& gradient = *values.emplace_back(std::make_unique<std::vector<float>>(kDim));
        for (float& x : gradient) x = std::ldexp(random.NextFloat() - 0.5F, static_cast<int>(random.Below(30)));
        const std::uint64_t node = random.Below(2) == 0 ? random.Below(3) : random.Below(3000);
        batch.push_back({NodeId{node}, gradient.data()});
      }
    }
  }
  // The oracle: each contribution added in turn.
  std::map<std::uint64_t, std::vector<float>> SerialSums() const {
    std::map<std::uint64_t, std::vector<float>> sums;
    for (const std::vector<Contribution>& batch : batches) {
      for (const Contribution& contribution : batch) {
        const auto [place, fresh] = sums.try_emplace(Value(contribution.node), kDim);
        for (std::size_t d = 0; d < kDim; ++d) {
          place->second[d] = fresh ? contribution.gradient[d] : place->second[d] + contribution.gradient[d];
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
      for (const std::vector<Contribution>& batch : batches.batches) ASSERT_OK(gradients->AccumulateBatch(batch));
      ASSERT_EQ(gradients->touched().size(), expected.size());
      std::size_t i = 0;
      for (const auto& [node, sum] : expected) {
        ASSERT_EQ(Value(gradients->touched()[i++]), node);
        const std::vector<float> found = Sum(*gradients, node);
        ASSERT_EQ(std::memcmp(found.data(), sum.data(), sum.size() * sizeof(float)), 0) << node;
      }
      gradients->Zero();
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
    ASSERT_OK(gradients->Accumulate(NodeId{node}, std::vector<float>{static_cast<float>(node), 1}));
  }
  std::atomic<int> calls{0};
  ASSERT_OK(gradients->Apply(
      [&](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
        ++calls;
        row_state[0] += 1;
        for (std::size_t d = 0; d < row.size(); ++d) row[d] -= gradient[d];
      },
      *table, *state));
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
  EXPECT_THAT(Sum(*gradients, 64), ElementsAre(64, 1)) << "gradients stay until Zero";
}

TEST_F(MmapGradientAccumulatorTest, ApplyWorksOnSeveralThreads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 4);
  constexpr std::uint64_t kRows = 2048;
  const auto gradients = Make(1, kRows);
  const auto table = MakeTable("t", kRows, 1);
  const auto state = MakeTable("s", kRows, 0);
  const float one = 1;
  for (std::uint64_t node = 0; node < kRows; ++node) ASSERT_OK(gradients->Accumulate(NodeId{node}, {&one, 1}));
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
      *table, *state));
  EXPECT_GE(threads.size(), 2U);
}

TEST_F(MmapGradientAccumulatorTest, ApplyToRowsThatAreNotThereUpdatesNothing) {
  const auto table = MakeTable("t", 3000, 1);
  const auto state = MakeTable("s", 3000, 1);
  const float one = 1;
  int calls = 0;
  const auto count = [&](std::span<const float>, std::span<float>, std::span<float>) { ++calls; };
  const auto gradients = Make(1, 10);
  ASSERT_OK(gradients->Accumulate(NodeId{5}, {&one, 1}));
  ASSERT_OK(gradients->Accumulate(NodeId{3000}, {&one, 1}));
  EXPECT_EQ(gradients->Apply(count, *table, *state).code(), absl::StatusCode::kOutOfRange);
  gradients->Zero();
  ASSERT_OK(gradients->Accumulate(NodeId{5}, {&one, 1}));
  ASSERT_OK(gradients->Accumulate(NodeId{1030}, {&one, 1}));
  ASSERT_OK(state->EvictPartition(static_cast<PartitionId>(1)));
  EXPECT_EQ(gradients->Apply(count, *table, *state).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(table->IsChanged(static_cast<PartitionId>(0)));
}

// Both ways of applying round a row once, where the caller says, and an update sees floats.
TEST_F(MmapGradientAccumulatorTest, RowsOfBfloat16AreRoundedOnceAnUpdate) {
  constexpr std::uint64_t kRows = 4096;
  const Batches batches(1);
  const auto update = [](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
    row_state[0] += 1;
    for (std::size_t d = 0; d < row.size(); ++d) row[d] -= gradient[d] / row_state[0];
  };
  const auto gradients = Make(Batches::kDim, 3000);
  const auto table = MakeTable("t", kRows, Batches::kDim, NpyElement::kBfloat16);
  const auto other = MakeTable("o", kRows, Batches::kDim, NpyElement::kBfloat16);
  const auto state = MakeTable("s", kRows, 1);
  const auto other_state = MakeTable("p", kRows, 1);
  std::vector<float> expected(kRows * Batches::kDim);
  ContributionsByNode by_node;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const RowRounding rounding{.seed = 5, .step = step};
    by_node.Order(batches.batches[0]);
    ASSERT_OK(by_node.UpdateAllRows(Batches::kDim, update, *table, *state, rounding));
    ASSERT_OK(gradients->AccumulateBatch(batches.batches[0]));
    ASSERT_OK(gradients->Apply(update, *other, *other_state, rounding));
    for (const NodeId node : gradients->touched()) {
      const std::span<float> row = std::span(expected).subspan(Value(node) * Batches::kDim, Batches::kDim);
      const std::vector<float> sum = Sum(*gradients, Value(node));
      for (std::size_t d = 0; d < row.size(); ++d) row[d] -= sum[d] / static_cast<float>(step);
      std::vector<std::uint16_t> words(row.size());
      RoundStochastically(rounding, node, row, words);
      Widen(words, row);
    }
    gradients->Zero();
  }
  std::vector<float> row(Batches::kDim);
  for (const MmapManager* found : {table.get(), other.get()}) {
    for (std::uint64_t node = 0; node < kRows; ++node) {
      ASSERT_OK(found->ReadRow(NodeId{node}, row));
      ASSERT_EQ(std::memcmp(row.data(), expected.data() + node * Batches::kDim, sizeof(float) * Batches::kDim), 0)
          << node;
    }
  }
  EXPECT_GT(std::ranges::count_if(expected, [](float x) { return x != 0; }), 1000);
  EXPECT_EQ(by_node.UpdateAllRows(Batches::kDim, update, *table, *state).code(), absl::StatusCode::kInvalidArgument)
      << "without a rounding";
  EXPECT_EQ(gradients->Apply(update, *table, *state).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace octavo
