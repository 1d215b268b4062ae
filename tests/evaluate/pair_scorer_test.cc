#include "evaluate/pair_scorer.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

TEST(PairScorer, GivesThePairsOfManyThreadsTheBitsOfOneAtATime) {
  constexpr std::size_t kPairs = 333;
  std::vector<ModelSpec> models = AllModels();
  models.push_back({ModelKind::kDot, Norm::kL1, 5000});
  for (const ModelSpec& model : models) {
    const std::size_t dim = model.dim;
    RandomStream random(7, RandomPurpose::kSplit, 0, 0);
    std::vector<float> values(2 * kPairs * dim);
    for (float& value : values) value = random.NextFloat() - 0.4F;
    const auto row = [&](std::size_t i) { return std::span<const float>(values).subspan(i * dim, dim); };
    std::vector<float> scores(kPairs);
    PairScorer scorer(model);
    WithThreads(
        3, [&] { ParallelEach(0, kPairs, [&](std::size_t i) { scorer.Add(row(2 * i), row(2 * i + 1), scores[i]); }); });
    scorer.Finish();
    for (std::size_t i = 0; i < kPairs; ++i) {
      ScoreScratch scratch;
      float score = 0.0F;
      ScoreBlock(model, row(2 * i), 1, row(2 * i + 1), 1, scratch, std::span(&score, 1));
      ASSERT_EQ(scores[i], score) << i << " of model " << static_cast<int>(model.kind) << ", dim " << dim;
    }
  }
}

}  // namespace
}  // namespace octavo
