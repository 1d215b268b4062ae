#include "choose/choice.h"

#include <set>
#include <utility>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/footprint.h"
#include "run/option_rules.h"
#include "run/trained_edges.h"
#include "tests/choose/made_up_facts.h"
#include "tests/support/expect_status.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMuchMemory = std::uint64_t{16} << 30;

Choice Choose(const GraphFacts& facts, const TrainOptions& options = {}, const GivenOptions& given = {},
              std::uint64_t memory = kMuchMemory) {
  return ChooseOptions(facts, DescriptionOf(facts), memory, options, given);
}

TEST(ChooseOptionsTest, AKnowledgeGraphGetsComplExWithReciprocalRelations) {
  const TrainOptions options = Choose(Facts(15'000, 270'000, 237)).options;
  EXPECT_EQ(options.model, ModelKind::kComplEx);
  EXPECT_TRUE(options.reciprocal);
  EXPECT_TRUE(options.group_queries);
  EXPECT_EQ(options.optimizer, OptimizerKind::kAdagrad);
  EXPECT_EQ(options.learning_rate_schedule, LearningRateSchedule::kLinear);
  EXPECT_OK(ValidateTrainOptions(options));
}

// In few epochs a low rate leaves the rows near where they began; in many a high one forgets what was learnt.
TEST(ChooseOptionsTest, FewEpochsGetAHighRate) {
  EXPECT_EQ(Choose(Facts(1'000'000, 100'000'000, 10)).options.learning_rate, 0.4);
  EXPECT_EQ(Choose(Facts(15'000, 270'000, 237)).options.learning_rate, 0.25);
  EXPECT_EQ(Choose(Facts(135, 5'216, 46)).options.learning_rate, 0.2);  // few updates
  EXPECT_EQ(Choose(Facts(2'500, 5'216, 1), {.model = ModelKind::kComplEx}, {"model"}).options.learning_rate, 0.1);
  TrainOptions given;
  given.epochs = 30;
  EXPECT_EQ(Choose(Facts(1'000'000, 100'000'000, 10), given, {"epochs"}).options.learning_rate, 0.2);
  given.lanes = 4;
  EXPECT_EQ(Choose(Facts(1'000'000, 100'000'000, 10), given, {"epochs", "lanes"}).options.learning_rate, 0.2);
  EXPECT_EQ(Choose(Facts(135, 5'216, 46), given, {"lanes"}).options.learning_rate, 0.2);  // without groups
  given.reciprocal = false;
  const TrainOptions one_way =
      Choose(Facts(1'000'000, 100'000'000, 10), given, {"epochs", "lanes", "reciprocal"}).options;
  EXPECT_TRUE(one_way.group_queries);
  EXPECT_EQ(one_way.learning_rate, 0.4);
  given.lanes = 1;
  given.reciprocal = true;
  given.model = ModelKind::kRotatE;
  for (const auto& [epochs, rate] : {std::pair{6, 1.6}, {20, 0.8}, {40, 0.4}, {100, 0.2}}) {
    given.epochs = static_cast<std::uint64_t>(epochs);
    EXPECT_EQ(Choose(Facts(1'000'000, 100'000'000, 10), given, {"epochs", "model"}).options.learning_rate, rate);
  }
  given.model = ModelKind::kTransE;
  for (const auto& [epochs, rate] : {std::pair{8, 0.25}, {40, 0.1}, {100, 0.06}}) {  // few edges a node
    given.epochs = static_cast<std::uint64_t>(epochs);
    EXPECT_EQ(Choose(Facts(40'000, 90'000, 10), given, {"epochs", "model"}).options.learning_rate, rate);
  }
  given = {};
  given.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(Choose(Facts(1'000'000, 100'000'000, 10), given, {"optimizer"}).options.learning_rate, 0.1);
  given.learning_rate = 0.03;
  EXPECT_EQ(Choose(Facts(1'000'000, 100'000'000, 10), given, {"learning-rate"}).options.learning_rate, 0.03);
}

TEST(ChooseOptionsTest, FewNodesGetRescalInBlocks) {
  const Choice choice = Choose(Facts(135, 5'216, 46));
  EXPECT_EQ(choice.options.model, ModelKind::kRescal);
  EXPECT_EQ(choice.options.block, 4U);
  EXPECT_EQ(choice.options.regularizer, RegularizerKind::kN3);
  EXPECT_THAT(choice.reasons, HasSubstr("rescal in small blocks"));
  // A block decides for its model, and blocks that are not free, as beside a file, against it.
  TrainOptions given;
  given.block = 8;
  EXPECT_EQ(Choose(Facts(15'000, 270'000, 237), given, {"block"}).options.model, ModelKind::kRescal);
  given.block = 0;
  EXPECT_EQ(Choose(Facts(135, 5'216, 46), given, {"block"}).options.model, ModelKind::kComplEx);
  given.dim = 50;
  EXPECT_EQ(Choose(Facts(135, 5'216, 46), given, {"dim"}).options.block, 2U);
}

// What follows from an inverse edge needs little restraint.
TEST(ChooseOptionsTest, InverseEdgesLowerTheRegularization) {
  for (GraphFacts facts : {Facts(1'500, 4'000, 3), Facts(40'000, 87'000, 11)}) {
    const double without = Choose(facts).options.regularization;
    facts.inverse_share = 1;
    EXPECT_NEAR(Choose(facts).options.regularization, 0.1 * without, 0.001);
    // As long as few edges have one, the others need the whole weight.
    facts.inverse_share = 0.2;
    EXPECT_NEAR(Choose(facts).options.regularization, 0.964 * without, 0.001);
  }
}

TEST(ChooseOptionsTest, AHubLowersTheWeightOfN3) {
  GraphFacts facts = Facts(800, 3'515, 2);
  const double without = Choose(facts, {}, {}).options.regularization;
  for (const auto& [share, factor] : {std::pair(0.0025, 1.0), {0.1125, 0.758}, {0.2025, 0.2}, {0.9, 0.2}}) {
    facts.largest_share = share;
    const Choice choice = Choose(facts, {}, {});
    EXPECT_NEAR(choice.options.regularization, factor * without, 0.001) << share;
    EXPECT_EQ(choice.reasons.find("% of the edges") != std::string::npos, share >= 0.1) << choice.reasons;
  }
  // Of ten nodes in a ring each has a fifth of the edges.
  facts = Facts(10, 10, 2);
  const double ring = Choose(facts, {}, {"model"}).options.regularization;
  facts.largest_share = 0.2;
  EXPECT_EQ(Choose(facts, {}, {"model"}).options.regularization, ring);
}

TEST(ChooseOptionsTest, SourceContextTrainsEdges) {
  TrainOptions given;
  given.model = ModelKind::kSourceContext;
  EXPECT_EQ(Choose(Facts(800, 3'515, 1), given, {"model"}).options.walk, Walk::kNone);
  given.model = ModelKind::kDot;
  EXPECT_EQ(Choose(Facts(800, 3'515, 1), given, {"model"}).options.walk, Walk::kDeepWalk);
}

TEST(ChooseOptionsTest, ATemperatureGetsItsLoss) {
  TrainOptions given;
  given.model = ModelKind::kTransE;
  const auto loss = [&](const GivenOptions& names) {
    return Choose(Facts(15'000, 270'000, 237), given, names).options.loss;
  };
  EXPECT_EQ(loss({"model"}), LossKind::kSoftmax);
  EXPECT_EQ(loss({"model", "adversarial-temperature"}), LossKind::kSelfAdversarial);
}

// Rows that are seen often learn little by heart, and short ones as well; the weight of dura is for the others.
TEST(ChooseOptionsTest, HubsAndFewDimensionsLowerTheWeightOfDura) {
  GraphFacts facts = Facts(40'000, 87'000, 11);
  TrainOptions given;
  given.dim = 128;
  const auto weight = [&] { return Choose(facts, given, {"dim"}).options.regularization; };
  facts.end_degree = 101.6;
  EXPECT_EQ(Choose(facts, given, {"dim"}).options.regularizer, RegularizerKind::kDura);
  EXPECT_NEAR(weight(), 0.085 / 2, 0.001);  // 101.6^0.15 = 2
  EXPECT_THAT(Choose(facts, given, {"dim"}).reasons, HasSubstr("about 102 edges, and dim 128"));
  facts.end_degree = 10'321;
  EXPECT_NEAR(weight(), 0.085 / 4, 0.001);
  given.dim = 4'096;
  EXPECT_NEAR(weight(), 0.085 / 2, 0.001);  // 32^0.2 = 2
  facts.end_degree = 1;
  EXPECT_NEAR(weight(), 0.1, 1e-9);
}

TEST(ChooseOptionsTest, AnswersHaveNoWeightsWhereMemoryIsShort) {
  GraphFacts facts = Facts(2'000'000, 10'000'000, 20);
  facts.query_share = 0.5;
  EXPECT_EQ(Choose(facts).options.answer_weighting, 0.2);
  const Choice poor = Choose(facts, {}, {}, std::uint64_t{300} << 20);
  EXPECT_EQ(poor.options.answer_weighting, 0);
  EXPECT_THAT(poor.chosen, Not(HasSubstr("answer-weighting")));
}

// Weights by degree have no meaning for pairs of walks.
TEST(ChooseOptionsTest, AnswersOfWalksHaveNoWeights) {
  GraphFacts facts = Facts(8'000, 9'000, 1);
  facts.query_share = 0.9;
  TrainOptions given;
  given.model = ModelKind::kComplEx;
  given.walk = Walk::kDeepWalk;
  const TrainOptions options = Choose(facts, given, {"model", "walk"}).options;
  EXPECT_EQ(options.answer_weighting, 0);
  EXPECT_OK(ValidateTrainOptions(options));
}

// Many answers of a query push each other away.
TEST(ChooseOptionsTest, AnswersCompeteWhereTheyAreFew) {
  GraphFacts facts = Facts(40'000, 87'000, 11);
  for (const double share : {0.21, 0.36, 0.44, 0.6}) {
    facts.query_share = share;
    EXPECT_TRUE(Choose(facts).options.competing_answers) << share;
    EXPECT_EQ(Choose(facts).options.answer_weighting, share > 0.4 ? 0.2 : 0) << share;
  }
  facts.query_share = 0.19;
  EXPECT_FALSE(Choose(facts).options.competing_answers);
  // In a large graph each edge is trained less often.
  facts = Facts(60'000, 200'001, 11);
  for (const double share : {0.28, 0.36, 0.44, 0.6}) {
    facts.query_share = share;
    EXPECT_EQ(Choose(facts).options.competing_answers, share > 0.4) << share;
    EXPECT_EQ(Choose(facts).options.answer_weighting, share > 0.4 ? 0.2 : 0) << share;
  }
}

TEST(ChooseOptionsTest, RelationsArePredictedWhereTheyAndTheAnswersAreMany) {
  GraphFacts facts = Facts(14'541, 272'115, 237);
  facts.query_share = 0.3;
  TrainOptions given;
  given.precision = Precision::kBf16;
  const Choice choice = Choose(facts, given, {"precision"});
  EXPECT_EQ(choice.options.relation_prediction, 1);
  EXPECT_TRUE(choice.options.competing_answers);
  EXPECT_EQ(choice.options.answer_weighting, 0);
  EXPECT_THAT(choice.reasons, HasSubstr("a loss of the relations, too, competing answers and a lower weight"));
  EXPECT_OK(ValidateTrainOptions(choice.options));
  const TrainOptions without = Choose(facts, given, {"precision", "relation-prediction"}).options;
  EXPECT_EQ(without.relation_prediction, 0);
  EXPECT_FALSE(without.competing_answers);
  EXPECT_NEAR(choice.options.regularization, 0.68 * without.regularization, 0.001);
  // One of the two that is given has the other.
  given.relation_prediction = 2;
  const TrainOptions twice = Choose(facts, given, {"precision", "relation-prediction"}).options;
  EXPECT_EQ(twice.relation_prediction, 2);
  EXPECT_TRUE(twice.competing_answers);
  EXPECT_EQ(twice.regularization, choice.options.regularization);
  given.relation_prediction = 0;
  given.competing_answers = true;
  const TrainOptions competing = Choose(facts, given, {"precision", "competing-answers"}).options;
  EXPECT_EQ(competing.relation_prediction, 1);
  EXPECT_EQ(competing.answer_weighting, 0);
}

// Products of float32 cost more, so the training is smaller, except in what is given.
TEST(ChooseOptionsTest, RelationsArePredictedInASmallerTrainingWithFloat32) {
  GraphFacts facts = Facts(14'541, 272'115, 237);
  facts.query_share = 0.3;
  TrainOptions given;
  const auto choose = [&](GivenOptions names) {
    names.emplace("precision");
    return Choose(facts, given, names).options;
  };
  given.precision = Precision::kBf16;
  const TrainOptions usual = choose({});
  EXPECT_GT(usual.dim, 512U);
  given.precision = Precision::kFloat32;
  const TrainOptions smaller = choose({});
  EXPECT_EQ(smaller.relation_prediction, 1);
  EXPECT_EQ(smaller.dim, 512U);
  EXPECT_EQ(smaller.epochs, usual.epochs * 5 / 6);
  EXPECT_GT(smaller.learning_rate, usual.learning_rate) << "by the epochs";
  EXPECT_LT(smaller.regularization, usual.regularization) << "by the dimensions";
  given.dim = 640;
  EXPECT_EQ(choose({"dim"}).dim, 640U);
  EXPECT_EQ(choose({"dim"}).epochs, usual.epochs);
  given.epochs = 30;
  EXPECT_EQ(choose({"epochs"}).epochs, 30U);
}

TEST(ChooseOptionsTest, RelationsAreNotPredictedElsewhere) {
  GraphFacts facts = Facts(14'541, 272'115, 237);
  facts.query_share = 0.3;
  const auto prediction = [&](const GraphFacts& of, const TrainOptions& given = {}, const GivenOptions& names = {}) {
    return Choose(of, given, names).options.relation_prediction;
  };
  TrainOptions given;
  given.dim = 256;
  EXPECT_EQ(prediction(facts, given, {"dim"}), 0);
  EXPECT_EQ(prediction(facts, {}, {"competing-answers"}), 0) << "given as off";
  EXPECT_EQ(prediction(facts, {.model = ModelKind::kRotatE}, {"model"}), 0);
  given = {.reciprocal = false};
  EXPECT_EQ(prediction(facts, given, {"reciprocal"}), 0);
  EXPECT_EQ(prediction(facts, {}, {"group-queries"}), 0);
  GraphFacts other = facts;
  for (const auto& [relations, predicted] : {std::pair{99U, 0}, {100U, 1}, {1000U, 1}, {1001U, 0}}) {
    other.relations = relations;
    EXPECT_EQ(prediction(other), predicted) << relations;
  }
  other = facts;
  other.nodes = 5000;
  EXPECT_EQ(prediction(other), 0) << "short trainings decide";
  other = facts;
  other.query_share = 0.5;
  EXPECT_EQ(prediction(other), 0);
  other = facts;
  for (const auto& [edges, predicted] : {std::pair{150'000U, 1}, {140'000U, 0}}) {
    other.edges = edges;
    EXPECT_EQ(prediction(other), predicted) << "10 edges a node";
  }
  // With less of the time than it needs, and with a little more.
  for (const auto& [flops, predicted] : {std::pair{1.4 * kUsualFlops, 0}, {1.6 * kUsualFlops, 1}}) {
    const Choice timed = ChooseOptions(facts, DescriptionOf(facts), kMuchMemory, {}, {}, flops, /*timed=*/true);
    EXPECT_EQ(timed.options.relation_prediction, predicted);
  }
}

TEST(ChooseOptionsTest, RelationsAreNotPredictedInShortMemory) {
  GraphFacts facts = Facts(14'541, 272'115, 237);
  facts.query_share = 0.3;
  TrainOptions given;
  given.dim = 768;
  const TrainOptions without = Choose(facts, given, {"dim", "relation-prediction"}).options;
  TrainOptions with = Choose(facts, given, {"dim"}).options;
  ASSERT_EQ(with.relation_prediction, 1);
  const auto needs = [&](const TrainOptions& options) {
    return EstimateTrainingMemory(options, DescriptionOf(facts), kThreadsOfChoice, {1, 1}).total();
  };
  ASSERT_LT(needs(without), needs(with));
  EXPECT_EQ(Choose(facts, given, {"dim"}, needs(with)).options.relation_prediction, 1);
  EXPECT_EQ(Choose(facts, given, {"dim"}, needs(with) - 1).options.relation_prediction, 0);
}

TEST(ChooseOptionsTest, DrawnNegativesCountForSeveralNodes) {
  EXPECT_EQ(Choose(Facts(40'000, 87'000, 11)).options.sampling_correction, 0.5);
  EXPECT_EQ(Choose(Facts(400, 4'000, 11)).options.sampling_correction, 0) << "all nodes are negatives";
  EXPECT_EQ(Choose(Facts(10'000, 300'000, 1)).options.sampling_correction, 0) << "walks";
  TrainOptions given;
  given.model = ModelKind::kTransE;
  EXPECT_EQ(Choose(Facts(40'000, 900'000, 11), given, {"model"}).options.sampling_correction, 0);
  given.model = ModelKind::kComplEx;
  given.loss = LossKind::kLogistic;
  EXPECT_EQ(Choose(Facts(40'000, 900'000, 11), given, {"loss"}).options.sampling_correction, 0);
}

TEST(ChooseOptionsTest, AGraphOfOneRelationGetsDot) {
  const TrainOptions options = Choose(Facts(10'000, 300'000, 1)).options;
  EXPECT_EQ(options.model, ModelKind::kDot);
  EXPECT_FALSE(options.reciprocal);
  EXPECT_OK(ValidateTrainOptions(options));
}

// Who holds edges out asks for them, and not for what is near. A walk that is given asks for vectors.
TEST(ChooseOptionsTest, AGraphOfOneRelationWithHeldOutEdgesGetsComplEx) {
  const GraphFacts facts = Facts(10'000, 300'000, 1);
  GraphDescription graph = DescriptionOf(facts);
  graph.test_edges = 100;
  const auto choose = [&](const GraphFacts& some, const TrainOptions& options, const GivenOptions& given) {
    return ChooseOptions(some, graph, kMuchMemory, options, given);
  };
  const Choice choice = choose(facts, {}, {});
  EXPECT_EQ(choice.options.model, ModelKind::kComplEx);
  EXPECT_TRUE(choice.options.reciprocal);
  EXPECT_EQ(choice.options.walk, Walk::kNone);
  EXPECT_OK(ValidateTrainOptions(choice.options));
  EXPECT_THAT(choice.reasons, HasSubstr("edges are held out"));
  // Blocks are for graphs with many relations.
  EXPECT_EQ(choose(Facts(100, 1'000, 1), {}, {}).options.model, ModelKind::kComplEx);

  TrainOptions given;
  given.walks = 7;
  EXPECT_EQ(choose(facts, given, {"walks"}).options.model, ModelKind::kDot);
  EXPECT_EQ(choose(facts, given, {"walks"}).options.walk, Walk::kDeepWalk);
  given.walk = Walk::kPersonalPageRank;
  EXPECT_EQ(choose(facts, given, {"walk"}).options.model, ModelKind::kDot);
  given.walk = Walk::kNone;
  EXPECT_EQ(choose(facts, given, {"walk"}).options.model, ModelKind::kComplEx);
  given.model = ModelKind::kDot;
  EXPECT_EQ(choose(facts, given, {"model"}).options.walk, Walk::kDeepWalk);
  GraphFacts pairs = facts;
  pairs.of_walks = true;  // its held-out edges are copies
  EXPECT_EQ(choose(pairs, {}, {}).options.model, ModelKind::kDot);
}

TEST(ChooseOptionsTest, TwoKindsOfNodesGetComplEx) {
  GraphFacts facts = Facts(10'000, 300'000, 1);
  facts.two_kinds = true;
  const Choice choice = Choose(facts);
  EXPECT_EQ(choice.options.model, ModelKind::kComplEx);
  EXPECT_EQ(choice.options.walk, Walk::kNone);
  EXPECT_THAT(choice.reasons, HasSubstr("two kinds"));
  EXPECT_OK(ValidateTrainOptions(choice.options));
}

TEST(ChooseOptionsTest, AnEpochHasHundredsOfUpdatesUnlessTheGraphIsTiny) {
  for (const std::uint64_t edges : {30'000, 100'000, 270'000, 1'000'000, 50'000'000}) {
    EXPECT_GE(edges / Choose(Facts(20'000, edges, 40)).options.batch, 200) << edges;
  }
}

TEST(ChooseOptionsTest, TheCostIsBoundedAsFarAsTheLeastSizesAllow) {
  const TrainOptions options = Choose(Facts(120'000, 1'000'000, 40)).options;
  const double flops = 1e6 * 6 * static_cast<double>(options.epochs * options.dim * options.negatives);
  EXPECT_LT(flops, 100e12);
  EXPECT_GE(options.dim, 256);
  const TrainOptions large = Choose(Facts(50'000'000, 500'000'000, 40)).options;
  EXPECT_EQ(large.dim, 128);
}

TEST(ChooseOptionsTest, SmallGraphsHaveAllNodesAsNegatives) {
  TrainOptions given;
  given.sampling_correction = 0.3;  // has no meaning with all of them
  EXPECT_EQ(Choose(Facts(2'000, 33'000, 42), given, {"sampling-correction"}).options.negatives, 0);
  EXPECT_EQ(Choose(Facts(2'000, 33'000, 42)).options.negatives, 0);
  EXPECT_GT(Choose(Facts(40'000, 90'000, 11)).options.negatives, 1000);
}

// FB15k-237, with products whose training is not made smaller.
class LongTrainingTest : public testing::Test {
 protected:
  TrainOptions Choose(double flops, GivenOptions given = {}, std::uint64_t memory = kMuchMemory) const {
    given.emplace("precision");
    return ChooseOptions(facts_, DescriptionOf(facts_), memory, options_, given, flops).options;
  }

  GraphFacts facts_ = [] {
    GraphFacts facts = Facts(14'541, 272'115, 237);
    facts.query_share = 0.28;
    return facts;
  }();
  TrainOptions options_ = [] {
    TrainOptions options;
    options.precision = Precision::kBf16;
    return options;
  }();
  // Of all negatives and 512 dimensions: two queries for each edge, of which 28 % are distinct.
  const double least_flops_ = 6 * 2 * 0.28 * 272'115 * 512 * 14'541 * static_cast<double>(Choose(kUsualFlops).epochs);
};

// Beside relation prediction, a long training has all nodes as negatives before it has more than 512 dimensions. Then
// the weight is not lowered.
TEST_F(LongTrainingTest, HasAllNodesAsNegativesBesideRelationPrediction) {
  EXPECT_EQ(Choose(0.99 * least_flops_).negatives, 4000U);
  const TrainOptions all = Choose(1.01 * least_flops_);
  EXPECT_EQ(all.negatives, 0U);
  EXPECT_FALSE(all.known_negatives);
  EXPECT_EQ(all.sampling_correction, 0);
  EXPECT_EQ(all.dim, 512U);
  EXPECT_EQ(all.relation_prediction, 1);
  EXPECT_OK(ValidateTrainOptions(all));
  EXPECT_EQ(Choose(1.6 * least_flops_).dim, 768U);
  options_.negatives = 4000;
  options_.dim = 512;
  EXPECT_NEAR(Choose(kUsualFlops, {"negatives", "dim"}).regularization, 0.68 * all.regularization, 0.001);
  options_.negatives = 0;
  EXPECT_EQ(Choose(kUsualFlops, {"negatives", "dim"}).regularization, all.regularization);
}

TEST_F(LongTrainingTest, FollowsWhatIsGiven) {
  ASSERT_EQ(Choose(1e18).negatives, 0U);
  options_.dim = 1500;
  EXPECT_EQ(Choose(1e18, {"dim"}).negatives, 0U);
  EXPECT_EQ(Choose(1e18, {"dim"}).dim, 1500U);
  EXPECT_EQ(Choose(1.01 * least_flops_, {"dim"}).negatives, 4000U) << "all cost too much";
  const TrainOptions none = options_;
  for (const auto& [name, value] : {std::pair("known-negatives", "true"),
                                    {"sampling-correction", "0.3"},
                                    {"degree-fraction", "0.5"},
                                    {"typed-fraction", "0.5"},
                                    {"relation-prediction", "0"}}) {
    options_ = none;
    ASSERT_TRUE(FindTrainOption(name)->parse(options_, value));
    EXPECT_EQ(Choose(1e18, {name}).negatives, 4000U) << name;
  }
}

TEST_F(LongTrainingTest, OfManyNodesDrawsNegatives) {
  facts_ = Facts(20'001, 380'000, 237);
  facts_.query_share = 0.28;
  const TrainOptions options = Choose(1e18);
  EXPECT_EQ(options.relation_prediction, 1);
  EXPECT_EQ(options.negatives, 4000U);
}

TEST_F(LongTrainingTest, HasAllNegativesOnlyInMemoryThatTheyFitIn) {
  std::set<std::uint64_t> dims;
  int drawn = 0;
  for (std::uint64_t memory = 100; memory < 16'000; memory += memory / 20) {
    const TrainOptions options = Choose(2 * least_flops_, {}, memory << 20);
    ASSERT_OK_AND_ASSIGN(const PartitionShape shape,
                         ChooseShape(options, DescriptionOf(facts_), memory << 20, kThreadsOfChoice));
    if (options.relation_prediction == 0) continue;
    EXPECT_TRUE(shape.WholeGraph()) << memory;
    if (options.negatives == 0) dims.emplace(options.dim);
    if (options.negatives != 0) ++drawn;
  }
  EXPECT_THAT(dims, testing::ElementsAre(512, 1024));
  EXPECT_GT(drawn, 0);
}

TEST(ChooseOptionsTest, EdgesOfFewNodesAreGroupedWhereTheyCostDimensions) {
  for (const GraphFacts& facts : {Facts(2'000, 33'000, 42), Facts(4'813, 26'394, 196)}) {
    const TrainOptions alone = Choose(facts).options;
    EXPECT_FALSE(alone.group_queries) << facts.nodes;
    EXPECT_EQ(alone.dim, 512) << facts.nodes;
  }
  GraphFacts facts = Facts(4'831, 36'032, 14);  // one by one, 512 dimensions cost 72 TFLOP
  facts.query_share = 0.23;
  const TrainOptions grouped = Choose(facts).options;
  EXPECT_TRUE(grouped.group_queries);
  EXPECT_TRUE(grouped.competing_answers);
  EXPECT_EQ(grouped.negatives, 0);
  EXPECT_EQ(grouped.dim, 1024);
  const Choice long_time =
      ChooseOptions(facts, DescriptionOf(facts), kMuchMemory, {}, {}, 10 * kUsualFlops, /*timed=*/true);
  EXPECT_TRUE(long_time.options.group_queries) << "more time does not make groups worse";
}

// Groups gain by dimensions and by answers that compete.
TEST(ChooseOptionsTest, EdgesOfFewNodesStayAloneWhereGroupsCannotGain) {
  const GraphFacts facts = Facts(4'831, 36'032, 14);
  const auto grouped = [&](const TrainOptions& given, const char* name) {
    return Choose(facts, given, {name}).options.group_queries;
  };
  TrainOptions given;
  given.dim = 384;
  EXPECT_FALSE(grouped(given, "dim"));
  given.dim = 1024;
  EXPECT_TRUE(grouped(given, "dim"));
  EXPECT_FALSE(grouped({}, "competing-answers")) << "given as off";
  EXPECT_FALSE(grouped({.model = ModelKind::kTransE}, "model"));
  EXPECT_FALSE(grouped({.loss = LossKind::kLogistic}, "loss"));
}

TEST(ChooseOptionsTest, DimensionsOfEdgesOneByOneAreLimitedOfFewNodesOnly) {
  EXPECT_EQ(Choose(Facts(4'900, 10'000, 14), {}, {"group-queries"}).options.dim, 512);
  EXPECT_GT(Choose(Facts(5'100, 10'000, 14), {}, {"group-queries"}).options.dim, 512);
}

TEST(ChooseOptionsTest, WhatIsGivenStays) {
  TrainOptions given;
  given.model = ModelKind::kRotatE;
  given.dim = 50;
  given.negatives = 7;
  given.batch = 30;
  given.optimizer = OptimizerKind::kAdam;
  const TrainOptions options =
      Choose(Facts(15'000, 270'000, 237), given, {"model", "dim", "negatives", "batch", "optimizer"}).options;
  EXPECT_EQ(options.model, ModelKind::kRotatE);
  EXPECT_EQ(options.dim, 50);
  EXPECT_EQ(options.negatives, 7);
  EXPECT_EQ(options.batch, 30);
  EXPECT_EQ(options.optimizer, OptimizerKind::kAdam);
  EXPECT_LT(options.learning_rate, 0.01);  // follows from adam
  EXPECT_OK(ValidateTrainOptions(options));
}

// Every value of an option that others have to follow.
TEST(ChooseOptionsTest, ChoicesFollowWhatIsGiven) {
  struct Case {
    std::string name, value;
  };
  const std::vector<Case> cases = {
      {"model", "dot"},
      {"model", "distmult"},
      {"model", "complex"},
      {"model", "transe"},
      {"model", "rotate"},
      {"model", "source-context"},
      {"model", "rescal"},
      {"block", "8"},
      {"loss", "logistic"},
      {"loss", "ranking"},
      {"loss", "self-adversarial"},
      {"reciprocal", "false"},
      {"negatives", "all"},
      {"negatives", "1"},
      {"chunk", "5000"},
      {"batch", "1"},
      {"batch", "20000"},
      {"regularizer", "none"},
      {"regularizer", "l2"},
      {"regularization", "0"},
      {"regularization", "0.3"},
      {"degree-fraction", "0.5"},
      {"optimizer", "sgd"},
      {"storage", "bf16"},
      {"schedule", "async"},
      {"known-negatives", "false"},
      {"group-queries", "false"},
      {"dim", "2"},
      {"dim", "4096"},
      {"epochs", "1000"},
  };
  for (const GraphFacts& facts : {Facts(100, 5'000, 40), Facts(15'000, 270'000, 237), Facts(40'000, 87'000, 11)}) {
    for (const Case& c : cases) {
      TrainOptions given;
      ASSERT_OK(SetTrainOption(given, *FindTrainOption(c.name), c.value, c.name));
      const TrainOptions options = Choose(facts, given, {c.name}).options;
      EXPECT_OK(ValidateTrainOptions(options)) << c.name << " " << c.value;
      EXPECT_EQ(FindTrainOption(c.name)->format(options), FindTrainOption(c.name)->format(given));
      EXPECT_FALSE(options.reciprocal && options.model_spec().RelationWidth() == 0) << c.value;
    }
  }
}

TEST(ChooseOptionsTest, LittleMemoryGetsASmallerChoiceThatFits) {
  const GraphFacts facts = Facts(2'000'000, 10'000'000, 20);
  const Choice rich = Choose(facts);
  EXPECT_EQ(rich.options.optimizer, OptimizerKind::kAdagrad);
  for (const std::uint64_t mebibytes : {1000, 300}) {
    const Choice poor = Choose(facts, {}, {}, mebibytes << 20);
    EXPECT_EQ(poor.options.optimizer, OptimizerKind::kRowAdagrad);
    EXPECT_OK(ChooseShape(poor.options, DescriptionOf(facts), mebibytes << 20, 1));
    EXPECT_THAT(poor.reasons, HasSubstr("memory"));
    // The weight is of the dimension that fits, and not of the one that did not.
    ASSERT_LT(poor.options.dim, rich.options.dim);
    TrainOptions given;
    given.dim = poor.options.dim;
    const Choice same_dim = Choose(facts, given, {"dim"});
    EXPECT_EQ(poor.options.regularization, same_dim.options.regularization);
    EXPECT_LT(poor.options.regularization, rich.options.regularization);
    EXPECT_THAT(poor.reasons, HasSubstr(fmt::format("and dim {}", poor.options.dim)));
  }
}

TEST(ChooseOptionsTest, AStateForEachRowIsChosenForSmallTablesIfItSuffices) {
  const GraphFacts facts = Facts(14'541, 272'115, 237);
  TrainOptions given;
  given.dim = 2000;
  given.negatives = 4000;
  TrainOptions options = Choose(facts, given, {"dim", "negatives"}).options;
  ASSERT_EQ(options.optimizer, OptimizerKind::kAdagrad);
  options.answer_weighting = 0;  // left out before the optimizer is changed
  const std::uint64_t needed = EstimateTrainingMemory(options, DescriptionOf(facts), kThreadsOfChoice, {1, 1}).total();
  ASSERT_LT(facts.nodes * NodeBytes(options), (needed - 1) / 2) << "the tables alone would be the reason";
  const Choice choice = Choose(facts, given, {"dim", "negatives"}, needed - 1);
  EXPECT_EQ(choice.options.optimizer, OptimizerKind::kRowAdagrad);
  EXPECT_THAT(choice.reasons, HasSubstr("row-adagrad"));
}

TEST(ChooseOptionsTest, AStateForEachNumberStaysWhereOnlyTheWorkOfThreadsIsLarge) {
  const GraphFacts facts = Facts(14'541, 272'115, 237);
  TrainOptions given;
  given.dim = 2000;
  given.negatives = 0;  // all
  const Choice choice = Choose(facts, given, {"dim", "negatives"}, std::uint64_t{2} << 30);
  EXPECT_EQ(choice.options.optimizer, OptimizerKind::kAdagrad) << "the tables have 0.23 GB";
  EXPECT_THAT(choice.reasons, Not(HasSubstr("row-adagrad")));
}

// A walk of 40 nodes from each node was the least: ten times as long as a minute on a graph of 870,000 nodes.
TEST(ChooseOptionsTest, WalksOfATimeAreShortEnoughForWholeEpochs) {
  const auto choose = [](const GraphFacts& facts, double flops, const TrainOptions& given = {},
                         const GivenOptions& names = {}) {
    return ChooseOptions(facts, DescriptionOf(facts), kMuchMemory, given, names, flops, /*timed=*/true).options;
  };
  const auto pairs = [](const TrainOptions& options, const GraphFacts& facts) {
    return static_cast<double>(options.epochs * MostTrainedEdges(options, DescriptionOf(facts)));
  };
  const GraphFacts large = Facts(870'000, 33'000'000, 1);
  for (const double share : {0.05, 0.2, 0.4, 1.0, 3.0, 10.0}) {
    const TrainOptions options = choose(large, share * kUsualFlops);
    EXPECT_NEAR(pairs(options, large) / (share * 700e6), 1, 0.15)
        << share << ": " << options.walks << " walks of " << options.walk_length << ", " << options.epochs;
    EXPECT_GT(options.walk_length, options.walk_window);
    EXPECT_LE(options.walk_length, 40U);
    EXPECT_OK(ValidateTrainOptions(options));
  }
  EXPECT_LT(choose(large, 0.2 * kUsualFlops).walk_length, choose(large, 0.4 * kUsualFlops).walk_length);
  // A small graph has the most walks that help, of the whole length, and epochs in addition.
  for (const double share : {1.0, 1000.0}) {
    const TrainOptions small = choose(Facts(2'700, 5'300, 1), share * kUsualFlops);
    EXPECT_EQ(small.walks, 80U);
    EXPECT_EQ(small.walk_length, 40U);
  }
  // The shortest walks, if an epoch of them is more than the time.
  const TrainOptions least = choose(large, 0.01 * kUsualFlops);
  EXPECT_EQ(least.walks, 1U);
  EXPECT_EQ(least.walk_length, 6U);
  EXPECT_EQ(least.epochs, 1U);
  // What is given stays.
  TrainOptions given;
  given.walk_length = 30;
  EXPECT_EQ(choose(large, 0.2 * kUsualFlops, given, {"walk-length"}).walk_length, 30U);
}

TEST(ChooseOptionsTest, ATimeThatIsShortForAGraphGetsSmallerSizesThanOtherwise) {
  const GraphFacts facts = Facts(870'000, 38'000'000, 8);
  const GraphDescription graph = DescriptionOf(facts);
  const TrainOptions usual = ChooseOptions(facts, graph, kMuchMemory, {}, {}, 1e12).options;
  const TrainOptions timed = ChooseOptions(facts, graph, kMuchMemory, {}, {}, 1e12, /*timed=*/true).options;
  EXPECT_EQ(usual.dim, 128U);
  EXPECT_LT(timed.dim, 128U);
  EXPECT_FALSE(timed.known_negatives);
  EXPECT_LT(timed.negatives, usual.negatives);
  EXPECT_GE(timed.dim, 32U);
  EXPECT_OK(ValidateTrainOptions(timed));
}

TEST(ChooseOptionsTest, LinesForPeopleNameFactsChoiceAndReasons) {
  GraphFacts facts = Facts(15'000, 270'000, 237);
  facts.inverse_share = 0.25;
  const Choice choice = Choose(facts);
  EXPECT_THAT(choice.facts, HasSubstr("237 relations"));
  EXPECT_THAT(choice.facts, HasSubstr("25 %"));
  EXPECT_THAT(choice.chosen, HasSubstr("--model complex"));
  EXPECT_THAT(choice.chosen, HasSubstr("--reciprocal"));
  EXPECT_THAT(choice.reasons, HasSubstr("complex"));
}

}  // namespace
}  // namespace octavo
