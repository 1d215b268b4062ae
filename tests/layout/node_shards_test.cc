#include "layout/node_shards.h"

#include <bit>
#include <set>

#include "base/parallel.h"
#include "gtest/gtest.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

constexpr std::uint64_t kShardDim = 6;

FixtureOptions ShardedNodes(std::uint64_t nodes) {
  return {.model = {ModelKind::kDot, Norm::kL1, kShardDim},
          .nodes = nodes,
          .relations = 1,
          .edges = {1, 0, 0},
          .range = 50};
}

// Checks that the rows of each shard are those of its nodes, by id, and returns the nodes of each shard.
std::vector<std::vector<std::uint32_t>> CheckRows(const NodeShards& shards, std::uint64_t capacity,
                                                  const ScratchTable& rows, const NaiveModel& naive) {
  std::vector<std::vector<std::uint32_t>> nodes(shards.sizes.size());
  for (std::uint64_t shard = 0; shard < shards.sizes.size(); ++shard) {
    EXPECT_LE(shards.sizes[shard], capacity);
    std::vector<std::uint32_t> words(shards.sizes[shard] * (1 + kShardDim));
    EXPECT_OK(rows.Read(shard * capacity, words));
    for (std::uint64_t i = 0; i < shards.sizes[shard]; ++i) {
      const std::uint32_t id = words[i * (1 + kShardDim)];
      EXPECT_TRUE(i == 0 || nodes[shard].back() < id);
      nodes[shard].push_back(id);
      for (std::uint64_t d = 0; d < kShardDim; ++d) {
        EXPECT_EQ(std::bit_cast<float>(words[i * (1 + kShardDim) + 1 + d]), naive.embeddings[id * kShardDim + d]);
      }
    }
  }
  return nodes;
}

TEST(NodeShards, FewNodesAreOneShard) {
  const EmbeddedFixture fixture(ShardedNodes(50));
  ScratchTable rows = ScratchTable::InMemory(50, 1 + kShardDim);
  ASSERT_OK_AND_ASSIGN(const NodeShards shards, ShardNodes(fixture.Embedded(), 50, 1 << 20, rows, {}));
  EXPECT_EQ(shards.copies, 1U);
  EXPECT_EQ(shards.sizes, std::vector<std::uint64_t>{50});
  CheckRows(shards, 50, rows, fixture.naive);
}

TEST(NodeShards, EachNodeIsInTwo) {
  constexpr std::uint64_t kNodes = 3000;
  constexpr std::uint64_t kCapacity = 500;
  const EmbeddedFixture fixture(ShardedNodes(kNodes));
  std::vector<std::uint32_t> expected;
  for (const int threads : {1, 2, 3}) {
    ScratchTable rows = ScratchTable::InMemory(ShardCount(kNodes, kCapacity) * kCapacity, 1 + kShardDim);
    ASSERT_OK_AND_ASSIGN(const NodeShards shards, WithThreads(threads, [&] {
                           return ShardNodes(fixture.Embedded(), kCapacity, threads == 1 ? 1 : 1 << 20, rows, {});
                         }));
    EXPECT_EQ(shards.copies, 2U);
    const auto nodes = CheckRows(shards, kCapacity, rows, fixture.naive);
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      const std::uint32_t one = shards.of_node[2 * node];
      const std::uint32_t two = shards.of_node[2 * node + 1];
      EXPECT_NE(one, two);
      EXPECT_TRUE(std::ranges::binary_search(nodes[one], node));
      EXPECT_TRUE(std::ranges::binary_search(nodes[two], node));
    }
    if (expected.empty()) expected = shards.of_node;
    EXPECT_EQ(shards.of_node, expected) << threads;
  }
}

// All rows the same: no shard may overflow.
TEST(NodeShards, FullShardsOverflowIntoOthers) {
  EmbeddedFixture fixture(ShardedNodes(1000));
  for (std::size_t i = 0; i < fixture.naive.embeddings.size(); ++i) {
    fixture.naive.embeddings[i] = static_cast<float>(1 + i % kShardDim);
  }
  fixture.Write();
  ScratchTable rows = ScratchTable::InMemory(ShardCount(1000, 64) * 64, 1 + kShardDim);
  ASSERT_OK_AND_ASSIGN(const NodeShards shards, ShardNodes(fixture.Embedded(), 64, 1 << 20, rows, {}));
  std::uint64_t all = 0;
  for (const auto& nodes : CheckRows(shards, 64, rows, fixture.naive)) all += nodes.size();
  EXPECT_EQ(all, 2000U);
}

TEST(NodeShards, CapacityIsBoundedByMemory) {
  EXPECT_EQ(ShardCapacity(8), 65'536U);
  EXPECT_LT(ShardCapacity(400), 65'536U);
  EXPECT_EQ(ShardCapacity(100'000), 16'384U);
  EXPECT_EQ(ShardCount(1000, 1000), 1U);
  EXPECT_GE(ShardCount(1001, 1000) * 1000, 2 * 1001U);
  EXPECT_GE(ShardCount(1'000'000, 65'536) * 65'536, 2'000'000U);
}

}  // namespace
}  // namespace octavo
