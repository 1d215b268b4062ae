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
  const std::span<const Edge> edges = fixture.edges().first(6);
  ChunkKernel kernel = MakeKernel(options, fixture.graph().node_count());
  ChunkRows rows = {};
  ChunkResult result = {};
  std::vector<float> block = {};

  // Draws, and takes a block.
  void Draw() {
    work.Draw({.epoch = 0, .batch = 0}, edges, 0, result);
    block.resize(BlockFloats(options, result.shape));
    work.TakeBlock(block, result);
  }
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
    ChunkResult result;
    work.Draw({.epoch = 0, .batch = 0}, batch, c, result);
    EXPECT_EQ(result.place.edges.data(), batch.data() + 6 * c);
    EXPECT_EQ(result.place.edges_of_batch.size(), 20U);
    sizes.push_back(result.place.edges.size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{6, 6, 6, 2}));
}

TEST(ChunkWork, RowsAreThoseOfTheGatheringWhateverComesAfter) {
  FirstChunk chunk;
  auto& [options, fixture, work, edges, kernel, rows, result, block] = chunk;
  chunk.Draw();
  work.Gather(rows, result);
  ASSERT_OK(result.status);
  work.Compute(rows, kernel, result);
  const double loss = result.loss.loss;
  for (const Edge& edge : edges) fixture.SetRow(edge.head, 0.25F);
  work.Compute(rows, kernel, result);
  EXPECT_EQ(result.loss.loss, loss);
  work.Gather(rows, result);
  work.Compute(rows, kernel, result);
  EXPECT_NE(result.loss.loss, loss);
}

TEST(ChunkWork, ListsEachGradientOnce) {
  FirstChunk chunk;
  auto& [options, fixture, work, edges, kernel, rows, result, block] = chunk;
  chunk.Draw();
  GradientsByNode before, nodes;
  work.ListNodes(result, before);
  work.Gather(rows, result);
  work.Compute(rows, kernel, result);
  work.ListNodes(result, nodes);
  EXPECT_EQ(nodes.listed().size(), 2 * 6 + 2 * options.negatives);
  ASSERT_EQ(before.listed().size(), nodes.listed().size());
  for (std::size_t i = 0; i < nodes.listed().size(); ++i) {  // the gradients are at the listed addresses
    const RowGradient& one = nodes.listed()[i];
    EXPECT_EQ(before.listed()[i].node, one.node);
    EXPECT_EQ(before.listed()[i].values, one.values);
    EXPECT_EQ(before.listed()[i].product, one.product);
    EXPECT_GE(one.values, block.data());
    EXPECT_LE(one.values + options.dim, block.data() + block.size());
  }
  std::vector<RelationContribution> relations;
  work.ListRelations(result, relations);
  EXPECT_EQ(relations.size(), 2U * 6);
}

// Of queries and of groups, each with pairs that are masked.
TEST(ChunkWork, PiecesMakeTheBitsOfTheWhole) {
  for (const auto& [grouped, reciprocal] : {std::pair{false, false}, {true, true}, {true, false}}) {
    TrainOptions options = TinyOptions();
    options.dim = 256;
    options.chunk = 60;
    options.group_queries = grouped;
    options.reciprocal = reciprocal;
    options.regularizer = RegularizerKind::kN3;
    options.regularization = 0.1;
    ScheduleFixture fixture(options);
    const ChunkWork work(options, fixture.graph(), fixture.tables().embeddings(), fixture.tables().relations());
    std::vector<Edge> edges(fixture.edges().begin(), fixture.edges().begin() + 60);
    if (grouped) {  // entries: both directions, those of one query together
      for (std::size_t i = 0; i < 60; ++i) {
        const RelationId inverse{Value(edges[i].relation) + fixture.graph().relation_count()};
        edges.push_back({.head = edges[i].tail, .tail = edges[i].head, .relation = inverse, .weight = 1.0F});
      }
      std::ranges::stable_sort(edges, {}, [](const Edge& edge) { return std::pair(edge.head, edge.relation); });
    }
    ChunkKernel kernel = MakeKernel(options, fixture.graph().node_count());
    ChunkRows rows;
    ChunkResult whole;
    work.Draw({.epoch = 0, .batch = 0}, edges, 0, whole);
    std::vector<float> whole_block(BlockFloats(options, whole.shape));
    work.TakeBlock(whole_block, whole);
    work.Gather(rows, whole);
    ASSERT_FALSE(rows.tail_masks.empty());
    work.Compute(rows, kernel, whole);
    for (const std::size_t pieces : {2U, 3U, 200U}) {
      ChunkResult cut;
      work.Draw({.epoch = 0, .batch = 0}, edges, 0, cut);
      std::vector<float> block(whole_block.size());
      work.TakeBlock(block, cut);
      work.Gather(rows, cut);
      cut.pieces.assign(pieces, {});
      for (std::size_t piece = pieces; piece-- > 0;) work.ComputePiece(rows, piece, kernel, cut);
      work.Conclude(cut);
      ASSERT_OK(cut.status);
      EXPECT_NEAR(cut.loss.loss, whole.loss.loss, 1e-12 * whole.loss.loss);
      EXPECT_NEAR(cut.loss.penalty, whole.loss.penalty, 1e-12 * whole.loss.penalty);
      EXPECT_EQ(block, whole_block);
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

// No two parts of a block share a float, and all lie in it.
TEST(BlockFloats, IsWhatTheGradientsOfAShapeTake) {
  for (const bool grouped : {false, true}) {
    for (const std::uint64_t dim : {6UL, 60UL}) {  // gradients of negatives as rows, and as factors
      TrainOptions options = TinyOptions();
      options.dim = dim;
      options.reciprocal = options.group_queries = grouped;
      options.relation_prediction = 0.5;
      const ChunkShape shape{.edges = 9, .queries = grouped ? 4U : 9U, .negatives = 5, .relations = 6};
      std::vector<float> block(BlockFloats(options, shape));
      const ChunkGradients made = GradientsIn(block, options, shape);
      const std::span<float> parts[] = {made.heads,
                                        made.tails,
                                        made.relations,
                                        made.head_relations,
                                        made.tail_negatives,
                                        made.head_negatives,
                                        made.all_relations,
                                        made.tail_factors.slopes,
                                        made.tail_factors.queries,
                                        made.head_factors.slopes,
                                        made.head_factors.queries};
      std::size_t floats = 0;
      for (const std::span<float> part : parts) {
        floats += part.size();
        for (float& value : part) value += 1;
      }
      EXPECT_EQ(KeepsFactors(options), made.tail_factors.wanted());
      EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(block, 1.0F)), floats);
      EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(block, 0.0F)), block.size() - floats);
      EXPECT_LT(block.size() - floats, 11 * 16U);
      EXPECT_EQ(made.tails.size(), 9 * dim);
      EXPECT_EQ(made.head_relations.empty(), grouped);
    }
  }
}

}  // namespace
}  // namespace octavo
