#include "train/chunk_work.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

// The first chunk of a tiny training, and what it needs.
struct FirstChunk {
  const TrainOptions options = TinyOptions();
  ScheduleFixture fixture{options};
  const ChunkWork work{options, fixture.graph(), fixture.tables().embeddings(), fixture.tables().relations()};
  const ChunkPlace place = work.PlaceOf({.epoch = 0, .batch = 0}, fixture.edges().first(6), 0);
  ChunkScratch scratch{options};
  ChunkRows rows = {};
  ChunkResult result = {};
};

TEST(ChunkWork, PlacesCoverTheBatch) {
  TrainOptions options = TinyOptions();
  options.chunk = 6;
  ScheduleFixture fixture(options);
  const ChunkWork work(options, fixture.graph(), fixture.tables().embeddings(), fixture.tables().relations());
  const std::span<const Edge> batch = fixture.edges().first(20);
  ASSERT_EQ(work.ChunkCount(batch.size()), 4U);
  std::vector<std::size_t> sizes;
  for (std::size_t c = 0; c < 4; ++c) {
    const ChunkPlace place = work.PlaceOf({.epoch = 0, .batch = 0}, batch, c);
    EXPECT_EQ(place.edges.data(), batch.data() + 6 * c);
    EXPECT_EQ(place.edges_of_batch.size(), 20U);
    sizes.push_back(place.edges.size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{6, 6, 6, 2}));
}

TEST(ChunkWork, RowsAreThoseOfTheGatheringWhateverComesAfter) {
  FirstChunk chunk;
  auto& [options, fixture, work, place, scratch, rows, result] = chunk;
  work.Draw(place, result);
  work.Gather(place, rows, result);
  ASSERT_OK(result.status);
  work.Compute(place, rows, scratch, result);
  const double loss = result.loss.loss;
  for (const Edge& edge : place.edges) fixture.SetRow(edge.head, 0.25F);
  work.Compute(place, rows, scratch, result);
  EXPECT_EQ(result.loss.loss, loss);
  work.Gather(place, rows, result);
  work.Compute(place, rows, scratch, result);
  EXPECT_NE(result.loss.loss, loss);
}

TEST(ChunkWork, ListsEachGradientOnce) {
  FirstChunk chunk;
  auto& [options, fixture, work, place, scratch, rows, result] = chunk;
  work.Draw(place, result);
  std::vector<Contribution> before;
  work.ListNodes(place, result, before);
  work.Gather(place, rows, result);
  work.Compute(place, rows, scratch, result);
  std::vector<Contribution> nodes;
  work.ListNodes(place, result, nodes);
  EXPECT_EQ(nodes.size(), 2 * 6 + 2 * options.negatives);
  ASSERT_EQ(before.size(), nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {  // the gradients are made where they were said to be
    EXPECT_EQ(before[i].node, nodes[i].node);
    EXPECT_EQ(before[i].gradient, nodes[i].gradient);
    EXPECT_EQ(before[i].product, nodes[i].product);
  }
  std::vector<RelationContribution> relations;
  work.ListRelations(place, result, relations);
  EXPECT_EQ(relations.size(), 2U * 6);
}

// Of queries and of groups, each with pairs that are masked.
TEST(ChunkWork, PiecesMakeTheBitsOfTheWhole) {
  for (const bool grouped : {false, true}) {
    TrainOptions options = TinyOptions();
    options.dim = 256;
    options.chunk = 60;
    options.reciprocal = options.group_queries = grouped;
    options.regularizer = RegularizerKind::kN3;
    options.regularization = 0.1;
    ScheduleFixture fixture(options);
    const ChunkWork work(options, fixture.graph(), fixture.tables().embeddings(), fixture.tables().relations());
    std::vector<Edge> edges(fixture.edges().begin(), fixture.edges().begin() + 60);
    if (grouped) {  // entries: both ways, those of one question together
      for (std::size_t i = 0; i < 60; ++i) {
        edges.push_back({.head = edges[i].tail, .tail = edges[i].head, .relation = edges[i].relation, .weight = 1.0F});
      }
      std::ranges::stable_sort(edges, {}, [](const Edge& edge) { return std::pair(edge.head, edge.relation); });
    }
    const ChunkPlace place = work.PlaceOf({.epoch = 0, .batch = 0}, edges, 0);
    ChunkScratch scratch(options);
    ChunkRows rows;
    ChunkResult whole;
    work.Draw(place, whole);
    work.Gather(place, rows, whole);
    ASSERT_FALSE(rows.tail_masks.empty());
    work.Compute(place, rows, scratch, whole);
    for (const std::size_t pieces : {2U, 3U, 200U}) {
      ChunkResult cut;
      work.Draw(place, cut);
      work.Gather(place, rows, cut);
      work.Prepare(place, pieces, rows, cut);
      for (std::size_t piece = pieces; piece-- > 0;) work.ComputePiece(place, rows, piece, scratch, cut);
      work.Conclude(cut);
      ASSERT_OK(cut.status);
      EXPECT_NEAR(cut.loss.loss, whole.loss.loss, 1e-12 * whole.loss.loss);
      EXPECT_NEAR(cut.loss.penalty, whole.loss.penalty, 1e-12 * whole.loss.penalty);
      for (const auto part : {&ChunkResult::heads, &ChunkResult::tails, &ChunkResult::relations,
                              &ChunkResult::head_relations, &ChunkResult::tail_negatives, &ChunkResult::head_negatives,
                              &ChunkResult::tail_queries, &ChunkResult::head_queries}) {
        EXPECT_EQ(cut.*part, whole.*part);
      }
    }
  }
}

TEST(PiecesOf, FewChunksOfManyQueries) {
  TrainOptions options = TinyOptions();
  options.dim = 256;
  options.chunk = 100;
  EXPECT_EQ(PiecesOf(options, 1), 2U);
  EXPECT_EQ(PiecesOf(options, 4), 2U);
  EXPECT_EQ(PiecesOf(options, 5), 1U);
  options.chunk = 79;
  EXPECT_EQ(PiecesOf(options, 1), 1U);
  options.group_queries = true;
  options.dim = 320;
  EXPECT_EQ(PiecesOf(options, 1), 2U);
  options.chunk = 80;
  EXPECT_EQ(PiecesOf(options, 1), 4U);
  options.dropout = 0.1;
  EXPECT_EQ(PiecesOf(options, 1), 1U);
}

TEST(KeepsFactors, WhereQueriesAreFewBesideDimensionsAndGradientsAreSummedAtOnce) {
  TrainOptions options = TinyOptions();
  options.dim = 2 * options.chunk;
  EXPECT_TRUE(KeepsFactors(options));
  for (const auto& [name, value] : {std::pair{"chunk", "9"},
                                    {"group-queries", "true"},
                                    {"model", "transe"},
                                    {"accumulate", "2"},
                                    {"schedule", "async"}}) {
    TrainOptions other = options;
    ASSERT_TRUE(FindTrainOption(name)->parse(other, value)) << name;
    EXPECT_FALSE(KeepsFactors(other)) << name;
  }
}

TEST(ChunkWork, NamesTheEdgeWhoseLossIsNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& [bad, storage] :
       {std::pair(kNan, NpyElement::kFloat32), std::pair(kInfinity, NpyElement::kFloat32),
        std::pair(kNan, NpyElement::kBfloat16), std::pair(kInfinity, NpyElement::kBfloat16)}) {
    TrainOptions options = TinyOptions();
    options.storage = storage;
    options.model = ModelKind::kDistMult;
    options.negatives = 1;
    ScheduleFixture fixture(options);
    const Edge& edge = fixture.edges()[13];
    fixture.SetRow(edge.head, bad);
    const auto result =
        fixture.schedule().Train({.place = {.epoch = 4, .batch = 6}, .edges = std::span(&edge, 1), .step = 1});
    EXPECT_ERROR(result, kRuntime, "epoch 5, batch 7");
    const std::string message(MessageOf(result.status()));
    for (const std::string_view name :
         {fixture.graph().nodes().Name(edge.head), fixture.graph().nodes().Name(edge.tail),
          fixture.graph().RelationName(edge.relation)}) {
      EXPECT_NE(message.find('"' + std::string(name) + '"'), std::string::npos) << message;
    }
    EXPECT_NE(message.find("the last commit stands"), std::string::npos) << message;
  }
}

// Among edges whose loss is finite.
TEST(ChunkWork, FindsTheEdgeAmongOthers) {
  TrainOptions options = TinyOptions();
  options.model = ModelKind::kDistMult;
  options.chunk = 20;
  options.negatives = 1;  // or the row would be among them
  ScheduleFixture fixture(options);
  const Edge& culprit = fixture.edges()[11];
  fixture.SetRow(culprit.head, std::numeric_limits<float>::quiet_NaN());
  const Edge* first = nullptr;
  for (const Edge& edge : fixture.edges().first(20)) {
    if (first == nullptr && (edge.head == culprit.head || edge.tail == culprit.head)) first = &edge;
  }
  ASSERT_NE(first, fixture.edges().data());  // what is named where none is found
  const auto result =
      fixture.schedule().Train({.place = {.epoch = 0, .batch = 0}, .edges = fixture.edges().first(20), .step = 1});
  EXPECT_ERROR(result, kRuntime,
               fmt::format("\"{}\" \"{}\" \"{}\"", fixture.graph().nodes().Name(first->head),
                           fixture.graph().RelationName(first->relation), fixture.graph().nodes().Name(first->tail)));
}

}  // namespace
}  // namespace octavo
