#include "tables/node_rows.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(NodeRows, AreHandedOutInTheOrderOfFirstComing) {
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  NodeRows rows;
  std::map<NodeId, std::uint32_t> expected;
  for (int batch = 0; batch < 20; ++batch) {
    std::set<NodeId> nodes;
    for (int i = 0; i < 30; ++i) nodes.insert(NodeId{random.Below(300)});
    if (batch == 7) nodes.insert(NodeId{std::numeric_limits<std::uint64_t>::max()});
    const std::vector<NodeId> sorted(nodes.begin(), nodes.end());
    const std::span<const NodeRows::Place> places = rows.Find(sorted);
    ASSERT_EQ(places.size(), sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const auto [place, fresh] = expected.try_emplace(sorted[i], expected.size());
      EXPECT_EQ(places[i].row, place->second);
      EXPECT_EQ(places[i].fresh, fresh);
    }
    EXPECT_EQ(rows.rows_found(), expected.size());
    rows.Keep();
    ASSERT_EQ(rows.nodes().size(), expected.size());
    auto at = expected.begin();
    for (std::size_t i = 0; i < rows.nodes().size(); ++i, ++at) {
      EXPECT_EQ(rows.nodes()[i], at->first);
      EXPECT_EQ(rows.row(i), at->second);
    }
  }
}

TEST(NodeRows, WhatIsNotKeptChangesNothing) {
  NodeRows rows;
  const std::vector<NodeId> some = {NodeId{5}, NodeId{7}}, others = {NodeId{1}, NodeId{7}, NodeId{9}};
  rows.Find(some);
  rows.Keep();
  rows.Find(others);
  EXPECT_EQ(rows.rows_found(), 4U);
  EXPECT_TRUE(std::ranges::equal(rows.nodes(), some));
  EXPECT_EQ(rows.Find(others)[0].row, 2U);
}

TEST(NodeRows, ClearBeginsAnew) {
  NodeRows rows;
  rows.Find(std::vector<NodeId>{NodeId{5}});
  rows.Keep();
  rows.Clear();
  EXPECT_TRUE(rows.nodes().empty());
  const std::span<const NodeRows::Place> places = rows.Find(std::vector<NodeId>{NodeId{5}});
  EXPECT_EQ(places[0].row, 0U);
  EXPECT_TRUE(places[0].fresh);
}

}  // namespace
}  // namespace octavo
