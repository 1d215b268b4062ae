#include "tables/contributions.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/loaded_table.h"

namespace octavo {
namespace {

constexpr std::size_t kDim = 5;
constexpr std::uint64_t kRows = 3000;

// Gradients of many sizes to few and many nodes, so that another order of addition has other bits.
struct Gradients {
  explicit Gradients(std::size_t count, std::uint64_t nodes) : values(count * kDim) {
    RandomStream random(3, RandomPurpose::kSplit, 0, 0);
    for (float& value : values) value = random.NextNormal() * static_cast<float>(1U << random.Below(20));
    for (std::size_t i = 0; i < count; ++i) {
      contributions.push_back({NodeId{random.Below(nodes)}, values.data() + i * kDim});
    }
  }
  std::vector<float> values;
  std::vector<Contribution> contributions;
};

TEST(ContributionsByNode, AreInTheOrderOfNodesAndThenAsTheyCame) {
  // 3,000 places take 12 bits: beside the last three there is just room for one, and none.
  for (const std::uint64_t nodes : {std::uint64_t{1}, std::uint64_t{40}, std::uint64_t{1} << 40, std::uint64_t{1} << 52,
                                    std::uint64_t{1} << 53, ~std::uint64_t{0}}) {
    const Gradients gradients(3000, nodes);
    std::map<std::uint64_t, std::vector<const float*>> expected;
    for (const Contribution& one : gradients.contributions) expected[Value(one.node)].push_back(one.gradient);
    ContributionsByNode by_node;
    by_node.Order(gradients.contributions);
    ASSERT_EQ(by_node.segments().size(), expected.size());
    auto at = expected.begin();
    for (const ContributionsByNode::Segment& segment : by_node.segments()) {
      EXPECT_EQ(Value(segment.node), at->first);
      std::vector<const float*> found;
      for (std::uint32_t i = segment.begin; i < segment.end; ++i) found.push_back(by_node.gradient(i));
      EXPECT_EQ(found, (at++)->second);
    }
  }
}

TEST(ContributionsByNode, NothingIsLeftOfTheLastOrder) {
  const Gradients many(500, 100);
  const Gradients few(3, 100);
  ContributionsByNode by_node;
  by_node.Order(many.contributions);
  by_node.Order(few.contributions);
  EXPECT_LE(by_node.segments().size(), 3U);
  by_node.Order({});
  EXPECT_TRUE(by_node.segments().empty());
}

TEST(ContributionsByNode, UpdatesEachRowOnceByTheSumInOrder) {
  const Gradients gradients(5000, kRows);
  std::map<std::uint64_t, std::vector<float>> sums;
  for (const Contribution& one : gradients.contributions) {
    std::vector<float>& sum = sums[Value(one.node)];
    if (sum.empty()) {
      sum.assign(one.gradient, one.gradient + kDim);
    } else {
      for (std::size_t d = 0; d < kDim; ++d) sum[d] += one.gradient[d];
    }
  }
  const TemporaryFolder folder;
  const auto table = MakeLoadedTable(folder.path(), "t", kRows, kDim);
  const auto state = MakeLoadedTable(folder.path(), "s", kRows, 1);
  ContributionsByNode by_node;
  by_node.Order(gradients.contributions);
  const auto update = [](std::span<const float> gradient, std::span<float> row, std::span<float> row_state) {
    row_state[0] += 1;
    std::memcpy(row.data(), gradient.data(), gradient.size_bytes());
  };
  ASSERT_OK(by_node.UpdateAllRows(kDim, update, *table, *state));
  std::vector<float> row(kDim);
  std::vector<float> count(1);
  for (std::uint64_t node = 0; node < kRows; ++node) {
    ASSERT_OK(table->ReadRow(NodeId{node}, row));
    ASSERT_OK(state->ReadRow(NodeId{node}, count));
    const auto sum = sums.find(node);
    EXPECT_EQ(count[0], sum == sums.end() ? 0 : 1) << node;
    EXPECT_EQ(row, sum == sums.end() ? std::vector<float>(kDim, 0.0F) : sum->second) << node;
  }
}

TEST(ContributionsByNode, RowsThatAreNotThereUpdateNothing) {
  const TemporaryFolder folder;
  const auto table = MakeLoadedTable(folder.path(), "t", kRows, 1);
  const auto state = MakeLoadedTable(folder.path(), "s", kRows, 1);
  const float one = 1;
  int calls = 0;
  const auto count = [&](std::span<const float>, std::span<float>, std::span<float>) { ++calls; };
  ContributionsByNode by_node;
  const std::vector<Contribution> past_the_end = {{NodeId{5}, &one}, {NodeId{kRows}, &one}};
  by_node.Order(past_the_end);
  EXPECT_EQ(by_node.UpdateAllRows(1, count, *table, *state).code(), absl::StatusCode::kOutOfRange);
  ASSERT_OK(state->EvictPartition(static_cast<PartitionId>(1)));
  const std::vector<Contribution> evicted = {{NodeId{5}, &one}, {NodeId{1030}, &one}};
  by_node.Order(evicted);
  EXPECT_EQ(by_node.UpdateAllRows(1, count, *table, *state).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace octavo
