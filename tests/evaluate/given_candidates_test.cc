#include "evaluate/given_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/status.h"
#include "oneapi/tbb/global_control.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

// By the definition: one question after the other, in double.
struct NaiveRanks {
  RankSums head, tail;
};

// Writes random questions to `path` and ranks them.
NaiveRanks WriteQuestions(const EmbeddedFixture& fixture, const std::filesystem::path& path, std::size_t questions,
                          std::size_t candidates) {
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  const NaiveModel& naive = fixture.naive;
  const auto name = [&](std::uint64_t node) { return fixture.opened().nodes().Name(NodeId{node}); };
  std::string text;
  NaiveRanks ranks;
  for (std::size_t q = 0; q < questions; ++q) {
    const bool tail = random.Below(3) > 0;
    const std::uint64_t anchor = random.Below(naive.nodes);
    const std::uint64_t answer = random.Below(naive.nodes);
    const auto relation = static_cast<std::uint32_t>(random.Below(naive.relation_count));
    const std::string_view relation_name = fixture.opened().RelationName(RelationId{relation});
    text += tail ? fmt::format("{}\t{}\t?\t{}", name(anchor), relation_name, name(answer))
                 : fmt::format("?\t{}\t{}\t{}", relation_name, name(anchor), name(answer));
    const auto score = [&](std::uint64_t node) {
      if (tail) return naive.Score(anchor, relation, node);
      return naive.reciprocal ? naive.Score(anchor, relation + naive.relation_count, node)
                              : naive.Score(node, relation, anchor);
    };
    double best = 1;
    double worst = 1;
    for (std::size_t i = 0; i < candidates; ++i) {
      const std::uint64_t node = random.Below(naive.nodes);
      text += fmt::format("\t{}", name(node));
      best += score(node) > score(answer) ? 1 : 0;
      worst += score(node) >= score(answer) ? 1 : 0;
    }
    text += '\n';
    (tail ? ranks.tail : ranks.head).Add((best + worst) / 2);
  }
  WriteFileBytes(path, text);
  return ranks;
}

void ExpectEqual(const RankSums& found, const RankSums& expected) {
  EXPECT_EQ(found.count, expected.count);
  EXPECT_EQ(found.hits_1, expected.hits_1);
  EXPECT_EQ(found.hits_3, expected.hits_3);
  EXPECT_EQ(found.hits_10, expected.hits_10);
  EXPECT_NEAR(found.reciprocal_ranks, expected.reciprocal_ranks, 1e-9);
  EXPECT_NEAR(found.ranks, expected.ranks, 1e-9);
}

TEST(RankGivenCandidates, OfEveryModelAreThoseOfTheDefinition) {
  for (const ModelSpec& model : AllModels()) {
    for (const bool reciprocal : {false, true}) {
      if (reciprocal && model.RelationWidth() == 0) continue;
      SCOPED_TRACE(ModelName(model.kind));
      const EmbeddedFixture fixture({.model = model, .reciprocal = reciprocal, .nodes = 30});
      const std::filesystem::path path = fixture.folder().path() / "questions";
      const NaiveRanks expected = WriteQuestions(fixture, path, 60, 12);
      ASSERT_OK_AND_ASSIGN(const GivenCandidatesReport report,
                           RankGivenCandidates(fixture.Embedded(), path.string(), kMemory));
      ExpectEqual(report.tail, expected.tail);
      ExpectEqual(report.head, expected.head);
      EXPECT_EQ(report.candidates, 60U * 12U);
    }
  }
}

TEST(RankGivenCandidates, AreTheSameForAnyMemoryAndThreads) {
  const EmbeddedFixture fixture({.nodes = 50});
  const std::filesystem::path path = fixture.folder().path() / "questions";
  const NaiveRanks expected = WriteQuestions(fixture, path, 900, 30);
  for (const std::size_t threads : {1U, 3U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    for (const std::uint64_t memory : {std::uint64_t{0}, kMemory}) {
      std::uint64_t calls = 0;
      ASSERT_OK_AND_ASSIGN(
          const GivenCandidatesReport report,
          RankGivenCandidates(fixture.Embedded(), path.string(), memory, [&](std::uint64_t) { ++calls; }));
      ExpectEqual(report.tail, expected.tail);
      ExpectEqual(report.head, expected.head);
      EXPECT_EQ(calls > 1, memory == 0);
    }
  }
}

TEST(RankGivenCandidates, NeedsAQuestionOfTheGraph) {
  const EmbeddedFixture fixture({.nodes = 12});
  const std::string path = (fixture.folder().path() / "questions").string();
  WriteFileBytes(path, "# none\n");
  EXPECT_EQ(MessageOf(RankGivenCandidates(fixture.Embedded(), path, kMemory).status()), path + ": found no question");
  WriteFileBytes(path, "x\tr1000\t?\tn1\tn2\n");
  const std::string message(MessageOf(RankGivenCandidates(fixture.Embedded(), path, kMemory).status()));
  EXPECT_NE(message.find("in 1 lines; \"x\" is the first unknown name"), std::string::npos) << message;
}

}  // namespace
}  // namespace octavo
