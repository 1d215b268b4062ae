#include "walk/pair_counter.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "graph/cell_reader.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/heap_peak.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNodes = 3000;
constexpr std::uint64_t kPlenty = std::uint64_t{64} << 20;

using Pair = std::pair<std::uint32_t, std::uint32_t>;

class PairCounterTest : public ::testing::Test {
 protected:
  static PairCounterOptions Options(std::uint64_t key_bytes, std::uint64_t count_bytes, std::uint64_t write_bytes) {
    PairCounterOptions options;
    options.partitions = PartitionLayoutFor(kNodes);
    options.writers = 2;
    options.key_bytes = key_bytes;
    options.count_bytes = count_bytes;
    options.write_bytes = write_bytes;
    return options;
  }

  static std::vector<Pair> SomePairs(std::size_t count) {
    std::mt19937_64 random(1);
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < count; ++i) {
      const auto head = static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? kNodes : 50));
      pairs.emplace_back(head, static_cast<std::uint32_t>(random() % 60 == 0 ? head : random() % 200 * 15));
    }
    return pairs;
  }

  CellsHeader Layout() const {
    CellsHeader layout;
    layout.has_weights = 1;
    layout.partition_count = PartitionLayoutFor(kNodes).count;
    layout.partition_rows = PartitionLayoutFor(kNodes).rows;
    layout.node_count = kNodes;
    layout.relation_count = 1;
    return layout;
  }

  // Counts the pairs, with alternating writers, and returns train.cells.
  std::string Count(PairCounterOptions options, const std::vector<Pair>& pairs) {
    options.spill = folder_.path();
    SpillUse use;
    PairCounter counter(options, use);
    std::size_t i = 0;
    while (i < pairs.size()) {
      const std::uint64_t room = counter.Room();
      for (std::uint64_t added = 0; added < room && i < pairs.size(); ++added, ++i) {
        counter.writer(i % 3 == 0 ? 1 : 0).Add(pairs[i].first, pairs[i].second);
      }
      if (room == 0) {
        EXPECT_OK(counter.Compact());
      }
    }
    const auto written = counter.Write(GraphPaths(folder_.path()), Layout(), nullptr);
    EXPECT_OK(written);
    pairs_ = counter.pairs();
    spilled_ = use.written_bytes;
    return FileBytes(folder_ / "train.cells");
  }

  std::map<Pair, float> Weights() const {
    std::map<Pair, float> weights;
    const CellReader cells = CellReader::Open(folder_ / "train.cells").value();
    const std::vector<Edge> edges = cells.ReadAll().value();
    for (const Edge& edge : edges) {
      EXPECT_TRUE(weights.emplace(Pair(Value(edge.head), Value(edge.tail)), edge.weight).second);
    }
    return weights;
  }

  TemporaryFolder folder_;
  std::uint64_t pairs_ = 0;
  std::uint64_t spilled_ = 0;
};

TEST_F(PairCounterTest, CountsWhatAMapCounts) {
  const std::vector<Pair> pairs = SomePairs(200000);
  for (const bool both : {false, true}) {
    for (const bool keep : {false, true}) {
      std::map<Pair, float> expected;
      std::uint64_t counted = 0;
      for (const auto& [head, tail] : pairs) {
        if (head == tail && !keep) continue;
        ++counted;
        ++expected[{head, tail}];
        if (both) ++expected[{tail, head}];
      }
      PairCounterOptions options = Options(kPlenty, kPlenty, kPlenty);
      options.both_directions = both;
      options.keep_self_loops = keep;
      Count(options, pairs);
      EXPECT_EQ(pairs_, counted);
      EXPECT_EQ(spilled_, 0U);
      EXPECT_TRUE(Weights() == expected);
    }
  }
}

TEST_F(PairCounterTest, TheRoomChangesNoByte) {
  const std::vector<Pair> pairs = SomePairs(200000);
  for (const bool both : {false, true}) {
    PairCounterOptions options = Options(kPlenty, kPlenty, kPlenty);
    options.both_directions = both;
    options.keep_self_loops = true;
    const std::string whole = Count(options, pairs);
    EXPECT_EQ(spilled_, 0U);
    // Memory for some thousand keys; for few counts; for only the last merge; for everything.
    options.key_bytes = 256 << 10;
    EXPECT_TRUE(Count(options, pairs) == whole);
    EXPECT_EQ(spilled_, 0U);
    options.count_bytes = 100000;
    EXPECT_TRUE(Count(options, pairs) == whole);
    EXPECT_GT(spilled_, 16U * 100000);
    options.write_bytes = 200000;
    EXPECT_TRUE(Count(options, pairs) == whole);
    options.key_bytes = options.count_bytes = kPlenty;
    EXPECT_TRUE(Count(options, pairs) == whole);
    EXPECT_GT(spilled_, 0U);
    options.writers = 3;
    EXPECT_TRUE(Count(options, pairs) == whole);
  }
}

// A count above 2^24, where floats cannot represent every whole number, gives the same sum both ways.
TEST_F(PairCounterTest, LargeCountsAreSumsOfExactParts) {
  const std::vector<Pair> pairs((std::size_t{1} << 24) + 5, Pair(1, 2));
  PairCounterOptions options = Options(std::uint64_t{256} << 20, kPlenty, kPlenty);
  const std::string whole = Count(options, pairs);
  EXPECT_EQ(Weights(), (std::map<Pair, float>{{{1, 2}, static_cast<float>((1 << 24) + 5)}}));
  options.key_bytes = 8 << 20;
  options.count_bytes = 0;
  EXPECT_TRUE(Count(options, pairs) == whole);
  EXPECT_GT(spilled_, 0U);
}

// The bucket of a node that is the head of all pairs took several times the memory that the plan gives the counter.
TEST_F(PairCounterTest, AHubTakesNoMoreThanThePlanSays) {
  constexpr std::uint64_t kKeyBytes = 4 << 20;
  PairCounterOptions options = Options(kKeyBytes, kKeyBytes / 2, kPlenty);
  options.partitions = PartitionLayoutFor(2'400'008);
  options.both_directions = true;
  options.spill = folder_.path();
  SpillUse use;
  const HeapPeak peak;
  PairCounter counter(options, use);
  for (std::uint32_t tail = 0; tail < 1'200'000; ++tail) {
    if (counter.Room() == 0) {
      ASSERT_OK(counter.Compact());
    }
    counter.writer(tail % 2).Add(7, 8 + 2 * tail);
  }
  EXPECT_GT(use.written_bytes, 0U);
  EXPECT_LE(peak.bytes(), kKeyBytes / 2 * 7) << "PlanWalks";
}

TEST_F(PairCounterTest, AnIndexWithoutRoomIsAnError) {
  PairCounterOptions options = Options(kPlenty, kPlenty, 10000);
  options.spill = folder_.path();
  SpillUse use;
  PairCounter counter(options, use);
  for (std::uint32_t i = 0; i < 2900; ++i) counter.writer(0).Add(i, i + 1);
  EXPECT_ERROR(counter.Write(GraphPaths(folder_.path()), Layout(), nullptr), kUsage,
               "needs 64.0 KiB for their index and its buffers, and --memory leaves 9.8 KiB");
}

}  // namespace
}  // namespace octavo
