#include "train/chunk_block.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

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
