#include "evaluate/known_answers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "oneapi/tbb/global_control.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

TEST(QuestionIndex, SortsAndDropsRepeats) {
  const LinkQuestion a{NodeId{1}, RelationId{2}, Side::kTail};
  const LinkQuestion b{NodeId{1}, RelationId{2}, Side::kHead};
  const LinkQuestion c{NodeId{2}, RelationId{1}, Side::kTail};
  const QuestionIndex index({c, a, b, a});
  ASSERT_EQ(index.size(), 3U);
  for (const LinkQuestion& question : {a, b, c}) EXPECT_EQ(index[index.Find(question)], question);
  EXPECT_EQ(index.Find({NodeId{2}, RelationId{2}, Side::kTail}), QuestionIndex::kAbsent);
  EXPECT_EQ(QuestionIndex({}).size(), 0U);
}

TEST(QuestionIndex, FindsAllOfManyOnAnyNumberOfThreads) {
  RandomStream random(11, RandomPurpose::kSplit, 0, 0);
  std::vector<LinkQuestion> questions(20'000);
  for (LinkQuestion& question : questions) {
    question = {NodeId{random.Below(3000)}, RelationId{static_cast<std::uint32_t>(random.Below(5))},
                random.Below(2) == 0 ? Side::kTail : Side::kHead};
  }
  const std::set<LinkQuestion> different(questions.begin(), questions.end());
  for (const int threads : {1, 4}) {
    const QuestionIndex index = WithThreads(threads, [&] { return QuestionIndex(questions); });
    ASSERT_EQ(index.size(), different.size());
    std::uint32_t next = 0;
    for (const LinkQuestion& question : different) EXPECT_EQ(index.Find(question), next++);
    for (std::uint32_t r = 0; r < 5; ++r) {
      EXPECT_EQ(index.Find({NodeId{3000}, RelationId{r}, Side::kTail}), QuestionIndex::kAbsent);
    }
  }
}

// The answers to `question` in [begin, end), found by checking every edge.
std::vector<std::uint64_t> NaiveAnswers(const EdgeSet& edges, const LinkQuestion& question, std::uint64_t begin,
                                        std::uint64_t end) {
  std::set<std::uint64_t> answers;
  for (const auto& [head, relation, tail] : edges) {
    if (relation != Value(question.relation)) continue;
    const std::uint64_t known = question.side == Side::kTail ? head : tail;
    const std::uint64_t answer = question.side == Side::kTail ? tail : head;
    if (known == Value(question.known) && answer >= begin && answer < end) answers.insert(answer);
  }
  return {answers.begin(), answers.end()};
}

TEST(KnownAnswers, AreThoseOfAllSplitsInTheAskedRange) {
  EmbeddedFixture fixture({.nodes = 2500, .relations = 2, .edges = {4000, 500, 500}});
  std::vector<LinkQuestion> questions;
  for (const Edge& edge : fixture.graph().test) {
    questions.push_back({edge.head, edge.relation, Side::kTail});
    questions.push_back({edge.tail, edge.relation, Side::kHead});
  }
  questions.push_back({NodeId{0}, RelationId{0}, Side::kTail});
  const QuestionIndex index(questions);
  for (const std::size_t threads : {1UL, 2UL, 4UL}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    for (const auto& [first, last] :
         {std::pair(0U, 2500U), {0U, 1024U}, {1024U, 2500U}, {7U, 1500U}, {1100U, 1101U}, {2048U, 2048U}}) {
      const auto gathered = KnownAnswers::Gather(fixture.opened(), index, {first, last}, UINT64_MAX);
      ASSERT_TRUE(gathered.ok());
      const std::optional<KnownAnswers>& known = *gathered;
      ASSERT_TRUE(known.has_value());
      for (std::size_t i = 0; i < index.size(); ++i) {
        const auto answers = known->Of(i);
        EXPECT_EQ(std::vector<std::uint64_t>(answers.begin(), answers.end()),
                  NaiveAnswers(fixture.filter, index[i], first, last));
      }
    }
  }
}

// Each thread has thousands of answers to one question, and counts and places them together with the others.
TEST(KnownAnswers, OfAHubAreCountedByAllThreads) {
  EmbeddedFixture fixture({.nodes = 30'000, .relations = 1, .edges = {0, 0, 1}});
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    fixture.graph().train.push_back({NodeId{7}, NodeId{i}, RelationId{0}, 1.0F});
  }
  fixture.Write();
  const QuestionIndex index({{NodeId{7}, RelationId{0}, Side::kTail}});
  for (const std::size_t threads : {1UL, 2UL, 4UL}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const auto gathered = KnownAnswers::Gather(fixture.opened(), index, {0, 30'000}, UINT64_MAX);
    ASSERT_TRUE(gathered.ok() && gathered->has_value());
    const auto answers = (*gathered)->Of(0);
    ASSERT_EQ(answers.size(), 30'000U);
    for (std::uint64_t i = 0; i < 30'000; ++i) ASSERT_EQ(answers[i], i);
  }
}

TEST(KnownAnswers, RepeatedEdgesCountOnce) {
  EmbeddedFixture fixture({.edges = {0, 0, 0}});
  const Edge edge{NodeId{1}, NodeId{2}, RelationId{0}, 1.0F};
  fixture.graph().train = {edge, edge};
  fixture.graph().test = {edge};
  fixture.Write();
  const auto known =
      KnownAnswers::Gather(fixture.opened(), QuestionIndex({{NodeId{1}, RelationId{0}, Side::kTail}}), {0, 12}, 3);
  ASSERT_TRUE(known.ok() && known->has_value());
  EXPECT_EQ((*known)->Of(0).size(), 1U);
}

TEST(KnownAnswers, DamagedCellsAreAnError) {
  EmbeddedFixture fixture({.edges = {20, 0, 0}});
  {
    std::fstream file(fixture.opened().paths().Cells(Split::kTrain), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kCellsHeaderBytes + 3);
    file.put('\x7f');
  }
  const Edge& edge = fixture.graph().train[0];
  const auto known = KnownAnswers::Gather(fixture.opened(), QuestionIndex({{edge.head, edge.relation, Side::kTail}}),
                                          {0, 12}, UINT64_MAX);
  ASSERT_FALSE(known.ok());
  EXPECT_EQ(KindOf(known.status()), ErrorKind::kCorrupt);
}

TEST(KnownAnswers, GivesUpAboveTheMost) {
  EmbeddedFixture fixture({.edges = {0, 0, 0}});
  for (std::uint64_t tail = 1; tail < 6; ++tail) {
    fixture.graph().train.push_back({NodeId{0}, NodeId{tail}, RelationId{0}, 1.0F});
  }
  fixture.Write();
  const QuestionIndex question({{NodeId{0}, RelationId{0}, Side::kTail}});
  const auto gather = [&](const AnswerRange& nodes, std::uint64_t most) {
    return *KnownAnswers::Gather(fixture.opened(), question, nodes, most);
  };
  EXPECT_EQ(gather({0, 12}, 5)->Of(0).size(), 5U);
  EXPECT_FALSE(gather({0, 12}, 4).has_value());
  EXPECT_EQ(gather({0, 5}, 4)->Of(0).size(), 4U);
  EXPECT_EQ(gather({6, 12}, 0)->Of(0).size(), 0U);
}

}  // namespace
}  // namespace octavo
