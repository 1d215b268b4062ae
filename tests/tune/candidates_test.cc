#include "tune/candidates.h"

#include <algorithm>
#include <set>
#include <string>

#include "choose/choice.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/choose/made_up_facts.h"
#include "tests/support/expect_status.h"
#include "train/memory_estimate.h"
#include "tune/trial_draw.h"

namespace octavo {
namespace {

std::string Text(const TrainOptions& options) {
  std::string text;
  for (const OptionField& field : TrainOptionFields()) text += field.format(options) + " ";
  return text;
}

CandidateSource SourceOf(std::uint64_t nodes, std::uint64_t edges, std::uint32_t relations) {
  CandidateSource source;
  source.facts = {.nodes = nodes, .edges = edges, .relations = relations, .query_share = 0.5};
  source.graph = DescriptionOf(source.facts);
  source.memory = std::uint64_t{4} << 30;
  return source;
}

template <typename Value>
std::set<Value> ValuesOf(const std::vector<TrainOptions>& candidates, Value TrainOptions::*member) {
  std::set<Value> values;
  for (const TrainOptions& options : candidates) values.insert(options.*member);
  return values;
}

TEST(MakeCandidatesTest, TheFirstIsWhatTrainChooses) {
  for (const CandidateSource& source : {SourceOf(135, 5216, 46), SourceOf(15'000, 270'000, 237), SourceOf(34, 78, 1)}) {
    const Choice choice = ChooseOptions(source.facts, source.graph, source.memory, {}, {});
    EXPECT_EQ(Text(MakeCandidates(source, 5)[0]), Text(choice.options));
  }
}

TEST(MakeCandidatesTest, TheSecondIsTheChoiceForALongerTraining) {
  CandidateSource source = SourceOf(15'000, 270'000, 237);
  const std::vector<TrainOptions> usual = MakeCandidates(source, 20);
  const TrainOptions larger =
      ChooseOptions(source.facts, source.graph, source.memory, {}, {}, 5 * source.flops).options;
  ASSERT_GT(larger.dim, usual[0].dim);
  source.larger = LargerCandidate{.options = larger, .seconds = 100};
  const std::vector<TrainOptions> candidates = MakeCandidates(source, 20);
  EXPECT_EQ(Text(candidates[0]), Text(usual[0]));
  EXPECT_EQ(Text(candidates[1]), Text(larger));
  EXPECT_EQ(Text(candidates[2]), Text(usual[1])) << "the others come after it";
  EXPECT_TRUE(HasLarger(source, candidates));
  EXPECT_FALSE(HasLarger(source, usual));
  EXPECT_EQ(MakeCandidates(source, 1).size(), 1U);
  source.larger->options = usual[0];
  EXPECT_EQ(Text(MakeCandidates(source, 20)[1]), Text(usual[1])) << "no candidate comes twice";
}

// Where the choice predicts relations, other weights of that loss have competing answers, too.
TEST(MakeCandidatesTest, OtherWeightsOfRelationPredictionKeepWhatGoesWithIt) {
  CandidateSource source = SourceOf(15'000, 270'000, 237);
  source.facts.query_share = 0.3;
  const std::vector<TrainOptions> candidates = MakeCandidates(source, 60);
  ASSERT_EQ(candidates[0].relation_prediction, 1);
  ASSERT_TRUE(candidates[0].competing_answers);
  EXPECT_THAT(ValuesOf(candidates, &TrainOptions::relation_prediction), testing::IsSupersetOf({0.0, 0.5, 1.0, 4.0}));
  int others = 0;
  for (const TrainOptions& options : candidates) {
    if (options.relation_prediction > 1 && options.competing_answers) ++others;
  }
  EXPECT_GT(others, 0);
}

TEST(CombineCandidatesTest, HasWhatDiffersInBoth) {
  const CandidateSource source = SourceOf(800, 2600, 3);
  const TrainOptions first = MakeCandidates(source, 1)[0];
  TrainOptions a = first;
  a.learning_rate = 0.77;
  TrainOptions b = first;
  b.model = ModelKind::kRescal;
  b.block = 4;
  const std::optional<TrainOptions> both = CombineCandidates(source, first, a, b);
  ASSERT_TRUE(both);
  EXPECT_EQ(DifferenceText(*both, first), "model rescal, block 4, learning-rate 0.77");
  EXPECT_EQ(Text(*CombineCandidates(source, first, b, a)), Text(*both));
  b.learning_rate = 0.88;
  EXPECT_FALSE(CombineCandidates(source, first, a, b)) << "both change the rate";
  b.learning_rate = first.learning_rate;
  b.dim = 65'536;
  EXPECT_FALSE(CombineCandidates(source, first, a, b)) << "does not fit in memory";
}

TEST(MakeCandidatesTest, ProbableChangesComeBeforeDrawnOnes) {
  for (const CandidateSource& source :
       {SourceOf(135, 5216, 46), SourceOf(800, 2600, 3), SourceOf(15'000, 270'000, 237), SourceOf(34, 78, 1)}) {
    const std::vector<TrainOptions> probable = MakeProbableCandidates(source, 5);
    const std::vector<TrainOptions> candidates = MakeCandidates(source, 6);
    for (std::size_t i = 0; i < probable.size(); ++i) EXPECT_EQ(Text(candidates[i]), Text(probable[i]));
  }
  EXPECT_EQ(MakeProbableCandidates(SourceOf(800, 2600, 3), 9).size(), 5U);
  EXPECT_EQ(MakeProbableCandidates(SourceOf(34, 78, 1), 9).size(), 1U) << "a graph of walks";
  CandidateSource large = SourceOf(15'000, 270'000, 237);
  const auto changes_of = [](const CandidateSource& source) {
    const std::vector<TrainOptions> all = MakeProbableCandidates(source, 9);
    std::vector<std::string> changes;
    for (std::size_t i = 1; i < all.size(); ++i) changes.push_back(DifferenceText(all[i], all[0]));
    return changes;
  };
  using testing::ElementsAre;
  large.facts.query_share = 0.5;  // answers compete
  EXPECT_THAT(changes_of(large), ElementsAre("answer-weighting 0"));
  large.facts.query_share = 0.3;  // and here, because relations are predicted
  EXPECT_THAT(changes_of(large), ElementsAre("answer-weighting 0.2"));
  large.facts.relations = 1001;  // too many for that
  EXPECT_THAT(changes_of(large), ElementsAre("competing-answers true", "answer-weighting 0.2"));
}

TEST(MakeCandidatesTest, AllDifferAndCanBeTrained) {
  for (const CandidateSource& source : {SourceOf(135, 5216, 46), SourceOf(15'000, 270'000, 237), SourceOf(34, 78, 1),
                                        SourceOf(7'600, 27'800, 1), SourceOf(300, 1000, 2)}) {
    const std::vector<TrainOptions> candidates = MakeCandidates(source, 60);
    ASSERT_EQ(candidates.size(), 60U);
    std::set<std::string> texts;
    for (const TrainOptions& options : candidates) {
      EXPECT_OK(CheckTrialOptions(options)) << Text(options);
      EXPECT_EQ(options.validate_every, 0U);
      texts.insert(Text(options));
    }
    EXPECT_EQ(texts.size(), 60U);
  }
}

TEST(MakeCandidatesTest, OptionsVaryThatTheRulesNameForRelations) {
  CandidateSource source = SourceOf(135, 5216, 46);
  source.facts.symmetric_share = 0.3;
  const std::vector<TrainOptions> candidates = MakeCandidates(source, 80);
  EXPECT_EQ(ValuesOf(candidates, &TrainOptions::model),
            (std::set<ModelKind>{ModelKind::kComplEx, ModelKind::kDistMult, ModelKind::kRotatE, ModelKind::kTransE,
                                 ModelKind::kRescal}));
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::block).size(), 3U);
  EXPECT_GT(ValuesOf(candidates, &TrainOptions::learning_rate).size(), 10U);
  EXPECT_GT(ValuesOf(candidates, &TrainOptions::regularization).size(), 10U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::dim).size(), 3U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::dropout).size(), 3U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::answer_weighting).size(), 3U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::relation_prediction).size(), 3U);
  EXPECT_TRUE(ValuesOf(candidates, &TrainOptions::negatives).contains(0)) << "all of 135";
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::loss).size(), 2U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::batch).size(), 3U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::epochs).size(), 3U);
}

TEST(MakeCandidatesTest, ModelsFollowFromTheSymmetryOfTheRelations) {
  CandidateSource source = SourceOf(135, 5216, 46);
  EXPECT_FALSE(ValuesOf(MakeCandidates(source, 80), &TrainOptions::model).contains(ModelKind::kDistMult));
  source.facts.symmetric_share = 0.9;
  EXPECT_FALSE(ValuesOf(MakeCandidates(source, 80), &TrainOptions::model).contains(ModelKind::kTransE));
}

TEST(MakeCandidatesTest, WalksVaryForAGraphOfOneRelation) {
  const std::vector<TrainOptions> candidates = MakeCandidates(SourceOf(2'700, 5'300, 1), 60);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::walks).size(), 3U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::walk_window).size(), 3U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::walk).size(), 2U);
  EXPECT_GE(ValuesOf(candidates, &TrainOptions::dim).size(), 3U);
  for (const TrainOptions& options : candidates) EXPECT_EQ(options.model_spec().RelationWidth(), 0U);
}

TEST(MakeCandidatesTest, ACandidateDependsOnItsNumberAndTheSeed) {
  CandidateSource source = SourceOf(135, 5216, 46);
  const std::vector<TrainOptions> few = MakeCandidates(source, 7);
  const std::vector<TrainOptions> many = MakeCandidates(source, 20);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(Text(few[i]), Text(many[i]));
  source.seed = 2;
  const std::vector<TrainOptions> others = MakeCandidates(source, 7);
  EXPECT_EQ(Text(few[0]), Text(others[0]));
  EXPECT_NE(Text(few[5]) + Text(few[6]), Text(others[5]) + Text(others[6]));
}

TEST(MakeCandidatesTest, AllFitTheMemory) {
  CandidateSource source = SourceOf(2'000'000, 20'000'000, 10);
  source.memory = std::uint64_t{1} << 30;
  const std::vector<TrainOptions> candidates = MakeCandidates(source, 4);
  ASSERT_EQ(candidates.size(), 4U);
  for (const TrainOptions& options : candidates) EXPECT_OK(ChooseShape(options, source.graph, source.memory, 8));
}

TEST(MakeCandidatesTest, GivenEpochsAndFlopsAreTheBase) {
  CandidateSource source = SourceOf(15'000, 270'000, 237);
  const TrainOptions whole = MakeCandidates(source, 1)[0];
  source.flops /= 4;
  source.options.epochs = 3;
  source.given = {"epochs"};
  const TrainOptions less = MakeCandidates(source, 1)[0];
  EXPECT_EQ(less.epochs, 3U);
  EXPECT_LT(less.dim * less.negatives, 4 * whole.dim * whole.negatives);
}

}  // namespace
}  // namespace octavo
