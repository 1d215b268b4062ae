#include "evaluate/label_split.h"

#include <gtest/gtest.h>

#include <vector>

namespace octavo {
namespace {

// Node i of six lies at column i % 3 and has label i % 3; node 5 has all three labels.
struct Example {
  Example() : features(6, 3) {
    labels.names = {"a", "b", "c"};
    for (std::uint32_t i = 0; i < 6; ++i) {
      std::vector<float> row(3, 0.0F);
      row[i % 3] = 20;
      features.Set(i, row, false);
      labels.nodes.push_back(i);
      labels.offsets.push_back(labels.labels.size());
      for (std::uint32_t label = 0; label < 3; ++label) {
        if (i == 5 || label == i % 3) labels.labels.push_back(label);
      }
    }
    labels.offsets.push_back(labels.labels.size());
  }

  NodeLabels labels;
  FeatureRows features;
};

TEST(LabelOrder, HasRowsAndMembersInItsOrder) {
  const Example example;
  const LabelOrder order(example.labels, example.features, {5, 0, 3, 1});
  EXPECT_EQ(order.size(), 4U);
  EXPECT_EQ(order.rows().Row(0)[2], 20);
  EXPECT_EQ(order.rows().Row(2)[0], 20);
  EXPECT_EQ(order.rows().Row(2)[3], 1);
  EXPECT_EQ(order.Of(0).size(), 3U);
  const auto members = [&](std::size_t label, std::size_t end) {
    const auto found = order.Members(label, end);
    return std::vector<std::uint32_t>(found.begin(), found.end());
  };
  EXPECT_EQ(members(0, 4), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(members(0, 2), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(members(1, 4), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(members(2, 0), std::vector<std::uint32_t>());
}

// Trained on nodes 0, 1 and 3: rows like 0 are label a, like 1 label b, and nothing has label c.
TEST(LabelSplit, CountsWhatItPredicts) {
  const Example example;
  const LabelOrder order(example.labels, example.features, {0, 1, 3, 4, 2, 5});
  LabelSplit split(order, 3);
  std::size_t fitted = 0;
  split.Fit(0, 1, 1, [&] { ++fitted; });
  split.Fit(1, 3, 1, [&] { ++fitted; });
  EXPECT_EQ(fitted, 3U);
  split.Test();
  // Node 4 is b. Node 2 is c, and a or b is predicted. Node 5 has all labels, so that all are right.
  EXPECT_EQ(split.counts()[1].right, 2U);
  EXPECT_EQ(split.counts()[2].right, 1U);
  EXPECT_EQ(split.counts()[2].missed, 1U);
  EXPECT_EQ(split.counts()[0].right, 1U);
  EXPECT_EQ(split.counts()[0].wrong + split.counts()[1].wrong, 1U);
}

}  // namespace
}  // namespace octavo
