#include "evaluate/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <map>

#include "base/status.h"
#include "evaluate/candidates.h"
#include "oneapi/tbb/global_control.h"
#include "tests/evaluate/fixture.h"
#include "tests/evaluate/naive_types.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const auto kEveryNode = [](std::uint64_t) { return true; };

// The report computed by double loops.
RankingReport NaiveReport(EmbeddedFixture& fixture, const std::vector<Edge>& triples,
                          const std::function<bool(std::uint64_t)>& candidate = kEveryNode) {
  RankingReport report;
  for (const Edge& triple : triples) {
    for (const Side side : {Side::kTail, Side::kHead}) {
      SideSums& sums = side == Side::kTail ? report.tail : report.head;
      sums.filtered.Add(NaiveRank(fixture.naive, triple, side, fixture.filter, candidate));
      sums.raw.Add(NaiveRank(fixture.naive, triple, side, {}, candidate));
    }
    ++report.triples;
  }
  return report;
}

void ExpectSame(const RankSums& a, const RankSums& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.hits_1, b.hits_1);
  EXPECT_EQ(a.hits_3, b.hits_3);
  EXPECT_EQ(a.hits_10, b.hits_10);
  EXPECT_NEAR(a.reciprocal_ranks, b.reciprocal_ranks, 1e-9 * (1 + b.reciprocal_ranks));
  EXPECT_EQ(a.ranks, b.ranks);  // sums of halves: exact in any order
}

void ExpectSame(const RankingReport& a, const RankingReport& b) {
  EXPECT_EQ(a.triples, b.triples);
  ExpectSame(a.head.filtered, b.head.filtered);
  ExpectSame(a.head.raw, b.head.raw);
  ExpectSame(a.tail.filtered, b.tail.filtered);
  ExpectSame(a.tail.raw, b.tail.raw);
}

RankingReport Rank(const EmbeddedFixture& fixture, const RankingOptions& options = {}) {
  absl::StatusOr<RankingReport> report = RankTriples(fixture.Embedded(), options);
  if (!report.ok()) {
    ADD_FAILURE() << report.status().message();
    return {};
  }
  return *std::move(report);
}

TEST(RankTriples, AgreesWithDoubleLoopsForEveryModel) {
  for (const ModelSpec& model : AllModels()) {
    for (const bool reciprocal : {false, true}) {
      if (reciprocal && (model.kind == ModelKind::kDot || model.kind == ModelKind::kSourceContext)) continue;
      SCOPED_TRACE(static_cast<int>(model.kind) * 10 + (reciprocal ? 1 : 0));
      EmbeddedFixture fixture({.model = model, .reciprocal = reciprocal});
      ExpectSame(Rank(fixture), NaiveReport(fixture, fixture.graph().test));
      ExpectSame(Rank(fixture, {.split = Split::kValid}), NaiveReport(fixture, fixture.graph().valid));
      ExpectSame(Rank(fixture, {.split = Split::kTrain}), NaiveReport(fixture, fixture.graph().train));
    }
  }
}

// Adds what typed candidates change, by their definition.
void AddNaiveTyped(EmbeddedFixture& fixture, const std::vector<Edge>& triples, const NaiveTypes& naive,
                   RankingReport& report) {
  for (const Edge& triple : triples) {
    for (const Side side : {Side::kTail, Side::kHead}) {
      const auto plausible = [&](std::uint64_t node) {
        return naive.Plausible(fixture.graph().train, node, triple.relation, side);
      };
      std::vector<bool> mask;
      for (std::uint64_t node = 0; node < fixture.naive.nodes; ++node) mask.push_back(plausible(node));
      const auto candidate = [&](std::uint64_t node) { return bool{mask[node]}; };
      SideSums& sums = side == Side::kTail ? report.tail : report.head;
      sums.typed.Add(NaiveRank(fixture.naive, triple, side, fixture.filter, candidate));
      report.plausible_candidates += static_cast<std::uint64_t>(std::count(mask.begin(), mask.end(), true));
      report.plausible_answers += mask[Value(side == Side::kTail ? triple.tail : triple.head)] ? 1 : 0;
    }
  }
}

TEST(RankTriples, TypedAgreesWithDoubleLoops) {
  for (const double share : {0.3, 0.9}) {
    EmbeddedFixture fixture({.nodes = 50, .relations = 5, .edges = {60, 10, 30}});
    RankingReport expected = NaiveReport(fixture, fixture.graph().test);
    AddNaiveTyped(fixture, fixture.graph().test, {.share = share}, expected);
    ASSERT_GT(expected.plausible_answers, 0U);
    ASSERT_LT(expected.plausible_answers, 2 * fixture.graph().test.size());
    for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{1}}) {
      for (const std::uint64_t rows : {0U, 3U}) {
        const RankingReport found =
            Rank(fixture, {.types = TypeRuleOptions{.share = share}, .memory_bytes = memory, .block_rows = rows});
        ExpectSame(found, expected);
        ExpectSame(found.head.typed, expected.head.typed);
        ExpectSame(found.tail.typed, expected.tail.typed);
        EXPECT_EQ(found.plausible_answers, expected.plausible_answers);
        EXPECT_EQ(found.plausible_candidates, expected.plausible_candidates);
      }
    }
  }
}

TEST(RankTriples, WithoutTypesNothingIsTyped) {
  EmbeddedFixture fixture({});
  EXPECT_EQ(Rank(fixture).Both().typed.count, 0U);
  EXPECT_EQ(Rank(fixture).plausible_candidates, 0U);
}

TEST(RankTriples, ManyKnownAnswersAndManyTriplesOfOneQuestion) {
  // One hub that answers nearly every node, so that questions have more answers than the limit of the vectorised
  // passes.
  EmbeddedFixture fixture({.nodes = 150, .relations = 1, .edges = {0, 0, 0}});
  for (std::uint64_t i = 0; i < 150; ++i) {
    std::vector<Edge>& split = i % 3 == 0 ? fixture.graph().train : fixture.graph().test;
    if (i != 7) split.push_back({NodeId{7}, NodeId{i}, RelationId{0}, 1.0F});
  }
  fixture.Write();
  ExpectSame(Rank(fixture), NaiveReport(fixture, fixture.graph().test));
}

TEST(RankTriples, SeveralPartitions) {
  EmbeddedFixture fixture({.nodes = 2500, .edges = {600, 30, 30}, .range = 1});
  ASSERT_EQ(fixture.opened().description().partition_count, 3U);
  const RankingReport naive = NaiveReport(fixture, fixture.graph().test);
  ExpectSame(Rank(fixture), naive);
  // Too little memory for all partitions' filters at once and for more than a few triples at a time.
  ExpectSame(Rank(fixture, {.memory_bytes = 8192}), naive);
}

TEST(RankTriples, AllRowsEqualRankInTheMiddle) {
  EmbeddedFixture fixture({.nodes = 31, .edges = {0, 0, 1}});
  std::fill(fixture.naive.embeddings.begin(), fixture.naive.embeddings.end(), 0.25F);
  fixture.Write();
  const RankingReport report = Rank(fixture);
  EXPECT_EQ(report.tail.raw.MeanRank(), 16.0);
  EXPECT_EQ(report.tail.filtered.MeanRank(), 16.0);
  EXPECT_EQ(report.head.filtered.MeanRank(), 16.0);
  EXPECT_EQ(report.Both().filtered.count, 2U);
}

TEST(RankTriples, OneNode) {
  EmbeddedFixture fixture({.nodes = 1, .relations = 1, .edges = {0, 0, 1}});
  const RankingReport report = Rank(fixture);
  EXPECT_EQ(report.triples, 1U);
  EXPECT_EQ(report.candidates, 1U);
  EXPECT_EQ(report.Both().filtered.MeanRank(), 1.0);
  EXPECT_EQ(report.Both().raw.MeanRank(), 1.0);
}

TEST(RankTriples, SameNumbersForAnyThreadsBlocksAndMemory) {
  EmbeddedFixture fixture(
      {.model = {ModelKind::kTransE, Norm::kL2, 16}, .nodes = 1100, .edges = {900, 50, 90}, .range = 7});
  // Fractions, so that scores are not exact: a score that depends on its position would show.
  for (float& x : fixture.naive.embeddings) x *= 0.137F;
  fixture.Write();
  const RankingReport first = Rank(fixture);
  ExpectSame(first, NaiveReport(fixture, fixture.graph().test));
  const auto expect_bits = [&](const RankingReport& report) {
    for (const auto& [a, b] : {std::pair(report.head.filtered, first.head.filtered),
                               {report.head.raw, first.head.raw},
                               {report.tail.filtered, first.tail.filtered},
                               {report.tail.raw, first.tail.raw}}) {
      EXPECT_EQ(a.reciprocal_ranks, b.reciprocal_ranks);
      EXPECT_EQ(a.ranks, b.ranks);
      EXPECT_EQ(a.hits_10, b.hits_10);
    }
  };
  for (const std::size_t threads : {1U, 2U, 4U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    expect_bits(Rank(fixture));
  }
  for (const std::uint64_t rows : {1U, 7U, 64U, 1023U, 5000U}) expect_bits(Rank(fixture, {.block_rows = rows}));
  for (const std::uint64_t memory : {4096U, 65536U, 1U << 30}) expect_bits(Rank(fixture, {.memory_bytes = memory}));
}

TEST(RankTriples, PerRelationSumsToTheWhole) {
  EmbeddedFixture fixture({.nodes = 20, .relations = 5, .edges = {60, 0, 40}});
  const RankingReport report = Rank(fixture, {.per_relation = true});
  std::map<std::uint32_t, std::vector<Edge>> by_relation;
  for (const Edge& edge : fixture.graph().test) by_relation[Value(edge.relation)].push_back(edge);
  ASSERT_EQ(report.relations.size(), by_relation.size());
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const RankingReport::Relation& relation : report.relations) {
    const RankingReport naive = NaiveReport(fixture, by_relation[Value(relation.relation)]);
    ExpectSame(relation.tail.filtered, naive.tail.filtered);
    ExpectSame(relation.head.raw, naive.head.raw);
    EXPECT_EQ(relation.triples, relation.tail.raw.count);
    EXPECT_LE(relation.triples, last);
    last = relation.triples;
  }
  EXPECT_TRUE(Rank(fixture).relations.empty());
}

TEST(RankTriples, CandidatesAreTheSameSampleForAllTriples) {
  EmbeddedFixture fixture({.nodes = 60, .edges = {100, 0, 30}});
  const RankingOptions options{.candidates = 20, .seed = 9};
  const CandidateSet sample(60, 20, 9);
  const RankingReport report = Rank(fixture, options);
  EXPECT_EQ(report.candidates, 20U);
  EXPECT_FALSE(report.all_candidates);
  ExpectSame(report,
             NaiveReport(fixture, fixture.graph().test, [&](std::uint64_t node) { return sample.Contains(node); }));
  RankingOptions small = options;
  small.block_rows = 3;
  ExpectSame(report, Rank(fixture, small));
  RankingOptions all = options;
  all.candidates = 60;
  ExpectSame(Rank(fixture, all), Rank(fixture));
  EXPECT_TRUE(Rank(fixture, all).all_candidates);
}

// The regions of Countries: tails are ranked among a few given nodes, and heads, which are not among them, are not
// ranked.
TEST(RankTriples, GivenCandidates) {
  EmbeddedFixture fixture({.nodes = 60, .relations = 3, .edges = {100, 0, 40}});
  RankingOptions options{.per_relation = true};
  for (std::uint64_t node = 3; node < 60; node += 4) options.candidate_nodes.push_back(node);
  const auto is_candidate = [](std::uint64_t node) { return node % 4 == 3; };
  std::vector<Edge> tails;
  std::vector<Edge> heads;
  std::uint64_t triples = 0;
  for (const Edge& edge : fixture.graph().test) {
    if (is_candidate(Value(edge.tail))) tails.push_back(edge);
    if (is_candidate(Value(edge.head))) heads.push_back(edge);
    triples += is_candidate(Value(edge.tail)) || is_candidate(Value(edge.head)) ? 1 : 0;
  }
  const RankingReport report = Rank(fixture, options);
  EXPECT_EQ(report.triples, triples);
  EXPECT_EQ(report.candidates, options.candidate_nodes.size());
  EXPECT_FALSE(report.all_candidates);
  ExpectSame(report.tail.filtered, NaiveReport(fixture, tails, is_candidate).tail.filtered);
  ExpectSame(report.tail.raw, NaiveReport(fixture, tails, is_candidate).tail.raw);
  ExpectSame(report.head.filtered, NaiveReport(fixture, heads, is_candidate).head.filtered);
  std::uint64_t sum = 0;
  for (const RankingReport::Relation& relation : report.relations) sum += relation.triples;
  EXPECT_EQ(sum, triples);
}

TEST(RankTriples, GivenCandidatesWithoutAnAnswerAreAUsageError) {
  EmbeddedFixture fixture({.nodes = 60, .edges = {100, 0, 1}});
  const Edge& edge = fixture.graph().test[0];
  std::uint64_t other = 0;
  while (NodeId{other} == edge.head || NodeId{other} == edge.tail) ++other;
  RankingOptions options;
  options.candidate_nodes = {other};
  EXPECT_ERROR(RankTriples(fixture.Embedded(), options), kUsage,
               "none of the 1 candidates is an end of one of the 1 test edges");
}

TEST(RankTriples, SampleOfTheSplit) {
  EmbeddedFixture fixture({.nodes = 30, .edges = {50, 0, 60}});
  const RankingReport a = Rank(fixture, {.sample = 11, .seed = 3});
  EXPECT_EQ(a.triples, 11U);
  ExpectSame(a, Rank(fixture, {.sample = 11, .seed = 3}));
  ExpectSame(Rank(fixture, {.sample = 1000}), Rank(fixture));
}

TEST(RankTriples, EmptySplitIsAUsageError) {
  EmbeddedFixture fixture({.edges = {10, 0, 0}});
  const auto report = RankTriples(fixture.Embedded(), {});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(KindOf(report.status()), ErrorKind::kUsage);
  EXPECT_THAT(std::string(MessageOf(report.status())), AllOf(HasSubstr("test.cells"), HasSubstr("no test edges")));
}

TEST(RankTriples, NanNamesItsPlace) {
  EmbeddedFixture fixture({});
  fixture.naive.embeddings[6 * 5 + 2] = std::nanf("");
  fixture.Write();
  auto report = RankTriples(fixture.Embedded(), {});
  ASSERT_FALSE(report.ok());
  const std::string name(fixture.opened().nodes().Name(NodeId{5}));
  EXPECT_THAT(std::string(MessageOf(report.status())),
              AllOf(HasSubstr("row 5"), HasSubstr("\"" + name + "\""), HasSubstr("nan"), HasSubstr("column 2")));

  fixture.naive.embeddings[6 * 5 + 2] = 0;
  fixture.naive.relations[6 + 1] = std::numeric_limits<float>::infinity();
  fixture.Write();
  report = RankTriples(fixture.Embedded(), {});
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(std::string(MessageOf(report.status())),
              AllOf(HasSubstr("relations: row 1"), HasSubstr("r1001"), HasSubstr("inf")));
}

TEST(RankTriples, OverflowOfAScoreIsAnError) {
  EmbeddedFixture fixture({.model = {ModelKind::kDot, Norm::kL1, 2}});
  std::fill(fixture.naive.embeddings.begin(), fixture.naive.embeddings.end(), 3e38F);
  fixture.Write();
  const auto report = RankTriples(fixture.Embedded(), {});
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(std::string(MessageOf(report.status())), HasSubstr("too large for single precision"));
}

TEST(RankTriples, ProgressEndsAtOne) {
  EmbeddedFixture fixture({.nodes = 1500, .edges = {10, 0, 10}});
  std::atomic<double> most{0};
  RankingOptions options{.block_rows = 100};
  options.progress = [&](double share) {
    double before = most.load();
    while (share > before && !most.compare_exchange_weak(before, share)) {
    }
  };
  Rank(fixture, options);
  EXPECT_NEAR(most.load(), 1.0, 1e-9);
}

TEST(LeastRankingMemory, GrowsWithWhatIsAskedFor) {
  EmbeddedFixture fixture({.nodes = 3000, .edges = {3000, 10, 1000}});
  const EmbeddedGraph embedded = fixture.Embedded();
  const std::uint64_t least = LeastRankingMemory(embedded.graph, embedded.model, {}, 1);
  EXPECT_GT(LeastRankingMemory(embedded.graph, embedded.model, {}, 2), least);
  EXPECT_GT(LeastRankingMemory(embedded.graph, embedded.model, {.sample = 500}, 1), least);
  EXPECT_GT(LeastRankingMemory(embedded.graph, embedded.model, {.candidates = 500}, 1), least);
  EXPECT_GT(LeastRankingMemory(embedded.graph, embedded.model, {.per_relation = true}, 1), least);
  EXPECT_EQ(LeastRankingMemory(embedded.graph, embedded.model, {.candidates = 3000}, 1), least);
  // The minimum gives the same result as plenty of memory.
  ExpectSame(Rank(fixture, {.memory_bytes = least}), Rank(fixture));
}

}  // namespace
}  // namespace octavo
