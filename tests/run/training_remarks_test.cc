#include "run/training_remarks.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace octavo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GraphDescription Described(std::uint32_t relations) {
  return {.node_count = 2034, .relation_count = relations, .has_relations = relations > 1, .train_edges = 400};
}

TEST(TrainingText, NamesModelLossNegativesAndOptimizer) {
  TrainOptions options;
  EXPECT_EQ(TrainingText(options), "complex, dim 100, 10 epochs: softmax against 512 negatives, row-adagrad at 0.1");
  options.negatives = 0;
  options.epochs = 1;
  EXPECT_THAT(TrainingText(options), HasSubstr("1 epoch: softmax against all negatives"));
  EXPECT_EQ(GraphText(Described(3)), "2034 nodes, 3 relations, 400 train, 0 valid and 0 test edges");
}

TEST(TrainingRemarks, AreAboutModelsThatDoNotFitTheRelations) {
  TrainOptions options;
  EXPECT_THAT(TrainingRemarks(Described(42), options), IsEmpty());
  EXPECT_THAT(TrainingRemarks(Described(1), options), IsEmpty());
  options.model = ModelKind::kTransE;
  EXPECT_THAT(TrainingRemarks(Described(1), options),
              ElementsAre(HasSubstr("no relations for model transe; complex predicts edges of such graphs")));
  options.model = ModelKind::kDot;
  EXPECT_THAT(TrainingRemarks(Described(1), options), IsEmpty());
  EXPECT_THAT(TrainingRemarks(Described(42), options),
              ElementsAre(HasSubstr("model dot ignores which of the 42 relations")));
}

TEST(TrainingRemarks, AreAboutProductsOfBf16WithoutAmx) {
  TrainOptions options;
  options.negatives = 10;
  options.precision = Precision::kBf16;
  EXPECT_EQ(TrainingRemarks(Described(42), options).size(), ActiveBf16Backend() == Bf16Backend::kAmx ? 0U : 1U);
  EXPECT_THAT(TrainingText(options), testing::HasSubstr("products of bf16"));
  options.precision = Precision::kFloat32;
  EXPECT_THAT(TrainingRemarks(Described(42), options), IsEmpty());
}

TEST(TrainingRemarks, AreAboutMoreNegativesThanNodes) {
  TrainOptions options;
  options.negatives = 2034;
  EXPECT_THAT(TrainingRemarks(Described(42), options), IsEmpty());
  options.negatives = 3600;
  EXPECT_THAT(TrainingRemarks(Described(42), options),
              ElementsAre("negatives is 3600, more than the 2034 nodes; --negatives all takes each node once, which is "
                          "less work"));
  options.known_negatives = true;
  EXPECT_THAT(TrainingRemarks(Described(42), options),
              ElementsAre(HasSubstr("--negatives all --known-negatives=false takes")));
}

}  // namespace
}  // namespace octavo
