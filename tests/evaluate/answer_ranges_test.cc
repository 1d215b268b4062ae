#include "evaluate/answer_ranges.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

// Edges with an end in [begin, end), counted one by one.
std::uint64_t EdgesAt(const EdgeSet& edges, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t count = 0;
  for (const auto& [head, relation, tail] : edges) {
    count += (head >= begin && head < end) || (tail >= begin && tail < end) ? 1 : 0;
  }
  return count;
}

TEST(MakeAnswerRanges, CoverTheNodesByPartitionsWithFewEnoughEdges) {
  EmbeddedFixture fixture({.nodes = 7000, .edges = {4000, 50, 50}});
  EXPECT_EQ(MakeAnswerRanges(fixture.opened(), UINT64_MAX), (std::vector<AnswerRange>{{0, 7000}}));
  for (const std::uint64_t most : {0U, 2000U, 5000U}) {
    std::uint64_t next = 0;
    for (const AnswerRange& range : MakeAnswerRanges(fixture.opened(), most)) {
      EXPECT_EQ(range.first, next);
      next = range.last;
      EXPECT_EQ(range.first % kPartitionRowQuantum, 0U);
      EXPECT_TRUE(range.size() <= kPartitionRowQuantum || 2 * EdgesAt(fixture.filter, range.first, range.last) <= most);
    }
    EXPECT_EQ(next, 7000U);
  }
}

TEST(VisitKnownAnswers, HalvesUntilTheAnswersFit) {
  EmbeddedFixture fixture({.nodes = 1500, .relations = 1, .edges = {0, 0, 0}});
  std::vector<std::uint64_t> expected;
  for (std::uint64_t tail = 3; tail < 1500; tail += 7) {
    fixture.graph().train.push_back({NodeId{0}, NodeId{tail}, RelationId{0}, 1.0F});
    expected.push_back(tail);
  }
  fixture.Write();
  const QuestionIndex question({{NodeId{0}, RelationId{0}, Side::kTail}});
  for (const std::uint64_t most : {0U, 1U, 10U, 100U, 1000U}) {
    std::vector<std::uint64_t> found;
    std::uint64_t next = 0;
    const auto visit = [&](const AnswerRange& nodes, const KnownAnswers& known) -> absl::Status {
      EXPECT_EQ(nodes.first, next);
      next = nodes.last;
      const auto answers = known.Of(0);
      EXPECT_LE(answers.size(), std::max<std::uint64_t>(1, most));
      found.insert(found.end(), answers.begin(), answers.end());
      return absl::OkStatus();
    };
    ASSERT_TRUE(VisitKnownAnswers(fixture.opened(), question, {0, 1500}, most, visit).ok());
    EXPECT_EQ(next, 1500U);
    EXPECT_EQ(found, expected) << most;
  }
}

TEST(VisitKnownAnswers, StopsAtTheFirstError) {
  EmbeddedFixture fixture({});
  const Edge& edge = fixture.graph().train[0];
  const QuestionIndex question({{edge.head, edge.relation, Side::kTail}});
  int calls = 0;
  const auto visit = [&](const AnswerRange&, const KnownAnswers&) {
    ++calls;
    return RuntimeError("enough");
  };
  EXPECT_EQ(MessageOf(VisitKnownAnswers(fixture.opened(), question, {0, 12}, 0, visit)), "enough");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace octavo
