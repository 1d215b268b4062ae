#include "tables/mmap_gradient_accumulator.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/support/temporary_folder.h"
#include "tests/tables/listed_batch.h"
#include "tests/tables/loaded_table.h"

namespace octavo {
namespace {

// Addresses that are never read.
std::vector<RowGradient> Somewhere(std::size_t count, std::uint64_t nodes) {
  static const std::vector<float> memory(10'000);
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  std::vector<RowGradient> gradients;
  for (std::size_t i = 0; i < count; ++i) gradients.push_back({NodeId{random.Below(nodes)}, memory.data() + i});
  return gradients;
}

TEST(GradientsByNode, AreInTheOrderOfNodesAndThenAsTheyCame) {
  // 3,000 places take 12 bits. In a word, ids below 2^52 leave just enough room for them; larger ids do not.
  for (const std::uint64_t nodes : {std::uint64_t{1}, std::uint64_t{40}, std::uint64_t{1} << 40, std::uint64_t{1} << 52,
                                    std::uint64_t{1} << 53, ~std::uint64_t{0}}) {
    const std::vector<RowGradient> gradients = Somewhere(3000, nodes);
    std::map<std::uint64_t, std::vector<const float*>> expected;
    for (const RowGradient& one : gradients) expected[Value(one.node)].push_back(one.values);
    GradientsByNode by_node;
    ListAndOrder(gradients, by_node);
    ASSERT_EQ(by_node.segments().size(), expected.size());
    auto at = expected.begin();
    for (const GradientsByNode::Segment& segment : by_node.segments()) {
      EXPECT_EQ(Value(segment.node), at->first);
      std::vector<const float*> found;
      for (std::uint32_t i = segment.begin; i < segment.end; ++i) found.push_back(by_node.gradient(i));
      EXPECT_EQ(found, (at++)->second);
    }
  }
}

TEST(GradientsByNode, ArrivalsOfARangeAreAsTheyCame) {
  const std::vector<RowGradient> gradients = Somewhere(2000, 300);
  GradientsByNode by_node;
  ListAndOrder(gradients, by_node);
  const std::size_t last = by_node.segments().size();
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 120}, {120, last}}) {
    std::vector<std::uint64_t> expected;
    std::set<std::size_t> seen;
    for (std::uint64_t place = 0; place < gradients.size(); ++place) {
      for (std::size_t i = begin; i < end; ++i) {
        if (by_node.segments()[i].node != gradients[place].node) continue;
        expected.push_back(place << 32 | (seen.insert(i).second ? kFirstArrival : 0) | (i - begin));
      }
    }
    EXPECT_TRUE(std::ranges::equal(by_node.Arrivals(begin, end), expected)) << begin;
  }
}

TEST(GradientsByNode, NothingIsLeftOfTheLastOrder) {
  GradientsByNode by_node;
  std::vector<RowGradient> many = Somewhere(500, 100);
  const GradientProduct product;
  many.back().product = &product;
  ListAndOrder(many, by_node);
  EXPECT_TRUE(by_node.has_products());
  ListAndOrder(Somewhere(3, 100), by_node);
  EXPECT_LE(by_node.segments().size(), 3U);
  EXPECT_FALSE(by_node.has_products());
  ListAndOrder({}, by_node);
  EXPECT_TRUE(by_node.segments().empty());
}

TEST(GradientsByNode, RowsThatAreNotThereAreAnError) {
  const TemporaryFolder folder;
  const auto table = MakeLoadedTable(folder.path(), "t", 3000, 1);
  const auto state = MakeLoadedTable(folder.path(), "s", 3000, 1);
  const float one = 1;
  GradientsByNode by_node;
  const auto check = [&](std::vector<RowGradient> gradients) {
    ListAndOrder(gradients, by_node);
    return by_node.CheckRows(*table, *state).code();
  };
  EXPECT_EQ(check({{NodeId{5}, &one}, {NodeId{2999}, &one}}), absl::StatusCode::kOk);
  EXPECT_EQ(check({{NodeId{5}, &one}, {NodeId{3000}, &one}}), absl::StatusCode::kOutOfRange);
  ASSERT_OK(state->EvictPartition(static_cast<PartitionId>(1)));
  EXPECT_EQ(check({{NodeId{5}, &one}, {NodeId{1030}, &one}}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(check({{NodeId{5}, &one}, {NodeId{2999}, &one}}), absl::StatusCode::kOk);
}

}  // namespace
}  // namespace octavo
