#include "report/node_survey.h"

#include <cmath>
#include <limits>
#include <map>

#include "base/random.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kNodes = 3 * kPartitionRowQuantum + 17;
constexpr std::uint64_t kDim = 3;

// Four partitions; node i has norm 1 + i / 1000 and random edges, most of them at the first nodes.
class NodeSurveyTest : public ::testing::Test {
 protected:
  NodeSurveyTest() : degrees_(kNodes), values_(kNodes * kDim) {
    SmallGraph graph = {.names = NumberedNames(kNodes)};
    RandomStream random(1, RandomPurpose::kGenerate, 0, 0);
    for (int i = 0; i < 5000; ++i) {
      const std::uint64_t head = random.Below(1 + random.Below(kNodes));
      const std::uint64_t tail = i % 50 == 0 ? head : random.Below(kNodes);
      graph.train.push_back({NodeId{head}, NodeId{tail}});
      ++degrees_[head];
      ++degrees_[tail];
    }
    for (std::uint64_t i = 0; i < kNodes; ++i) values_[i * kDim + i % kDim] = 1 + static_cast<float>(i) / 1000;
    graph_ = WriteGraph(graph, folder_ / "graph");
    table_.emplace(WriteTable(values_, kDim, kPartitionRowQuantum, folder_.path()));
  }

  EmbeddedGraph embedded() const { return {*graph_, *table_, {}, {.kind = ModelKind::kDot, .dim = kDim}}; }

  TemporaryFolder folder_;
  std::vector<std::uint64_t> degrees_;
  std::vector<float> values_;
  std::unique_ptr<Graph> graph_;
  std::optional<TableReader> table_;
};

TEST_F(NodeSurveyTest, NamesTheNodesOfTheHighestDegreeWhateverTheMemory) {
  std::vector<SurveyedNode> expected;
  for (std::uint64_t i = 0; i < kNodes; ++i) expected.push_back({i, degrees_[i]});
  const std::vector<std::uint64_t> first = {5, 3000};
  const auto is_first = [&](const SurveyedNode& node) { return node.node == 5 || node.node == 3000; };
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.degree > b.degree; });
  std::stable_sort(expected.begin(), expected.end(),
                   [&](const auto& a, const auto& b) { return is_first(a) > is_first(b); });
  for (const std::uint64_t top : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{40}, 2 * kNodes}) {
    for (const std::uint64_t memory : {std::uint64_t{1} << 30, LeastSurveyMemory(embedded(), top), std::uint64_t{1}}) {
      const SurveyOptions options = {.top = top, .first = first, .memory_bytes = memory};
      ASSERT_OK_AND_ASSIGN(const NodeSurvey survey, SurveyNodes(embedded(), options));
      ASSERT_EQ(survey.top.size(), std::min(top, kNodes));
      EXPECT_TRUE(std::equal(survey.top.begin(), survey.top.end(), expected.begin())) << top << " " << memory;
    }
  }
}

TEST_F(NodeSurveyTest, CountsEveryNodeWhereItsDegreeAndNormAre) {
  ASSERT_OK_AND_ASSIGN(const NodeSurvey survey, SurveyNodes(embedded(), {.memory_bytes = 1}));
  EXPECT_EQ(survey.norms.zeros(), 0U);
  for (const std::size_t most : {1, 7, 40, 10'000}) {
    std::uint64_t nodes = 0;
    std::map<double, int> ranges;
    for (const DegreeNorms::Cell& cell : survey.norms.Cells(most)) {
      ++ranges[cell.norm_from];
      nodes += cell.nodes;
      std::uint64_t counted = 0;
      for (std::uint64_t i = 0; i < kNodes; ++i) {
        const double norm = 1.0F + static_cast<float>(i) / 1000;
        counted += degrees_[i] >= DegreeNorms::LeastDegree(cell.degree_range) &&
                   degrees_[i] < DegreeNorms::LeastDegree(cell.degree_range + 1) && norm >= cell.norm_from &&
                   norm < cell.norm_to;
      }
      EXPECT_EQ(cell.nodes, counted) << cell.degree_range << " " << cell.norm_from;
    }
    EXPECT_EQ(nodes, kNodes);
    EXPECT_LE(ranges.size(), most);
    EXPECT_GE(ranges.size(), std::min<std::size_t>(most, 8) / 2 + 1 - (most == 1));
  }
}

TEST_F(NodeSurveyTest, NamesANaN) {
  values_[2500 * kDim + 1] = std::numeric_limits<float>::quiet_NaN();
  table_.emplace(WriteTable(values_, kDim, kPartitionRowQuantum, folder_.path()));
  const auto survey = SurveyNodes(embedded(), {.memory_bytes = 1});
  ASSERT_FALSE(survey.ok());
  EXPECT_NE(MessageOf(survey.status()).find("row 2500"), std::string::npos) << survey.status();
}

TEST(DegreeNorms, RangesOfDegreesFollowEachOther) {
  std::vector<std::uint64_t> least;
  for (std::size_t range = 0; range < 9; ++range) least.push_back(DegreeNorms::LeastDegree(range));
  EXPECT_THAT(least, ElementsAre(0, 1, 2, 3, 4, 6, 8, 12, 16));
  for (std::size_t range = 1; range < 128; ++range) {
    const std::uint64_t from = DegreeNorms::LeastDegree(range);
    EXPECT_EQ(DegreeNorms::DegreeRange(from), range);
    EXPECT_EQ(DegreeNorms::DegreeRange(from - 1), range - 1);
  }
  EXPECT_LE(DegreeNorms::DegreeRange(UINT64_MAX), 128U);
}

TEST(DegreeNorms, NormsBeyondTheRangeAndZeroAreCounted) {
  DegreeNorms norms;
  for (const double norm : {0.0, 1e-300, 1e300, 1.0}) norms.Add(1, norm);
  EXPECT_EQ(norms.zeros(), 1U);
  EXPECT_EQ(norms.Cells(1'000'000).size(), 3U);
  EXPECT_TRUE(DegreeNorms().Cells(5).empty());
}

}  // namespace
}  // namespace octavo
