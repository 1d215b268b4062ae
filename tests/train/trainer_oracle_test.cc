// Whole trainings against the naive trainer (tests/support/naive_trainer.h): every model, loss and optimizer.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "run/trained_run.h"
#include "tests/support/naive_trainer.h"
#include "tests/train/tiny_training.h"
#include "train/chunk_work.h"

namespace octavo {
namespace {

// float against double: 2^-24 of values up to 4, some tens of roundings for each update, a few dozen updates, and
// Adagrad's and Adam's first steps, which divide by the gradient's own size.
constexpr double kRowTolerance = 2e-4;
constexpr double kLossTolerance = 2e-5;  // relative

std::vector<ModelSpec> Models() {
  return {{ModelKind::kSourceContext, Norm::kL1, 8}, {ModelKind::kDot, Norm::kL1, 8},
          {ModelKind::kDistMult, Norm::kL1, 8},      {ModelKind::kComplEx, Norm::kL1, 8},
          {ModelKind::kTransE, Norm::kL1, 8},        {ModelKind::kTransE, Norm::kL2, 8},
          {ModelKind::kRotatE, Norm::kL1, 8},        {ModelKind::kRotatE, Norm::kL2, 8},
          {ModelKind::kRescal, Norm::kL1, 8},        {ModelKind::kRescal, Norm::kL1, 8, 2}};
}

std::string Describe(const TrainOptions& options) {
  std::string text;
  for (const OptionField& field : TrainOptionFields()) {
    if (field.format(options) != field.format(TrainOptions())) {
      text += fmt::format(" {}={}", field.name, field.format(options));
    }
  }
  return text;
}

// The largest difference between the rows of a table's file and the oracle's.
double Distance(const std::string& file, const NaiveRows& rows) {
  const std::size_t columns = rows.empty() ? 0 : rows[0].size();
  EXPECT_EQ(file.size(), kNpyHeaderBytes + rows.size() * columns * sizeof(float));
  double distance = 0;
  for (std::size_t i = 0; i < rows.size() * columns; ++i) {
    float value = 0;
    std::memcpy(&value, file.data() + kNpyHeaderBytes + i * sizeof(float), sizeof(float));
    const double difference = std::abs(value - rows[i / columns][i % columns]);
    if (!(difference <= distance)) distance = difference;  // NaN stays
  }
  return distance;
}

void ExpectSameTraining(const TinyTraining& training, const TrainOptions& options,
                        double row_tolerance = kRowTolerance) {
  SCOPED_TRACE(Describe(options));
  std::vector<EpochEvent> events;
  ASSERT_OK(training.Start(options, "run", {.memory = kPlenty},
                           {.on_batch = {}, .on_epoch = [&](const EpochEvent& event) { events.push_back(event); }}));
  const RunBytes run = ReadRunBytes(training.run_folder());
  std::filesystem::remove_all(training.run_folder());
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  const NaiveRun naive = TrainNaively(*graph, options);
  ASSERT_EQ(events.size(), naive.losses.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_NEAR(events[i].loss, naive.losses[i], kLossTolerance * std::max(1.0, naive.losses[i])) << "epoch " << i + 1;
    EXPECT_NEAR(events[i].penalty, naive.penalties[i], kLossTolerance * std::max(1.0, naive.penalties[i]));
  }
  EXPECT_LE(Distance(run.embeddings, naive.embeddings), row_tolerance);
  EXPECT_LE(Distance(run.relations, naive.relations), row_tolerance);
  EXPECT_LE(Distance(run.optimizer, naive.optimizer), row_tolerance);
  EXPECT_LE(Distance(run.relation_optimizer, naive.relation_optimizer), row_tolerance);
}

class TrainerOracle : public ::testing::TestWithParam<ModelSpec> {
 protected:
  static TrainOptions OptionsOfModel() {
    TrainOptions options = TinyOptions();
    options.model = GetParam().kind;
    options.norm = GetParam().norm;
    options.block = GetParam().block;
    return options;
  }
};
class TrainerOracleGroups : public TrainerOracle {};     // models that can share queries
class TrainerOracleRelations : public TrainerOracle {};  // models whose relations can be predicted

TEST_P(TrainerOracle, EveryLossAndOptimizer) {
  const TinyTraining training;
  const TinyTraining weighted({.weights = true});
  for (const LossKind loss :
       {LossKind::kSoftmax, LossKind::kLogistic, LossKind::kRanking, LossKind::kSelfAdversarial}) {
    for (const OptimizerKind optimizer :
         {OptimizerKind::kSgd, OptimizerKind::kAdagrad, OptimizerKind::kRowAdagrad, OptimizerKind::kAdam}) {
      TrainOptions options = OptionsOfModel();
      options.loss = loss;
      options.optimizer = optimizer;
      if (loss == LossKind::kRanking && options.model == ModelKind::kTransE && options.norm == Norm::kL1) {
        // Every gradient is a sum of +-1/n here, and often 0 except for rounding, which Adagrad and Adam turn into a
        // whole step. A penalty and different weights keep the sums away from 0.
        options.regularizer = RegularizerKind::kL2;
        options.regularization = 0.05;
        ExpectSameTraining(weighted, options);
        continue;
      }
      ExpectSameTraining(training, options);
    }
  }
}

TEST_P(TrainerOracle, EveryOtherOption) {
  const TinyTraining training({.weights = true});
  TrainOptions options = OptionsOfModel();
  options.epochs = 3;
  options.reciprocal = true;
  ExpectSameTraining(training, options);
  options.regularizer = RegularizerKind::kN3;
  options.regularization = 0.05;
  ExpectSameTraining(training, options);
  options.sampling_correction = 0.7;
  ExpectSameTraining(training, options);
  options.sampling_correction = 0;
  options.answer_weighting = 0.9;
  ExpectSameTraining(training, options);
  options.regularizer = RegularizerKind::kL2;
  options.accumulate = 3;
  options.learning_rate_schedule = LearningRateSchedule::kCosine;
  if (GetParam().RelationWidth() > 0) options.relation_rate_factor = 2.5;
  ExpectSameTraining(training, options);
  options.degree_fraction = 0.5;
  options.degree_by_weight = true;
  options.learning_rate_schedule = LearningRateSchedule::kLinear;
  options.optimizer = OptimizerKind::kAdam;
  options.loss = LossKind::kSelfAdversarial;
  options.adversarial_temperature = 0.5;
  options.margin = 2.5;
  ExpectSameTraining(training, options);
  options.reciprocal = false;
  options.accumulate = 2;
  options.degree_fraction = 0;
  options.degree_by_weight = false;
  options.loss = LossKind::kLogistic;
  options.negatives = 0;
  ExpectSameTraining(training, options);
}

// The first negatives are the anchors of the chunk's queries; in groups, one per query.
TEST_P(TrainerOracle, KnownNegatives) {
  const TinyTraining training({.nodes = 12, .relations = 2, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  options.optimizer = OptimizerKind::kSgd;
  options.known_negatives = true;
  options.negatives = 2 * options.chunk + 3;
  options.degree_fraction = 0.5;
  ExpectSameTraining(training, options);
  options.reciprocal = true;
  options.group_queries = true;
  ExpectSameTraining(training, options);
}

// The last negatives are of the nodes that edges have at that side of a relation; in groups at the asked side.
TEST_P(TrainerOracle, TypedNegatives) {
  const TinyTraining training({.nodes = 40, .relations = 8, .edges = 60, .weights = true});
  TrainOptions options = OptionsOfModel();
  options.optimizer = OptimizerKind::kSgd;
  options.typed_fraction = 0.7;
  ExpectSameTraining(training, options);
  options.known_negatives = true;
  options.negatives = 2 * options.chunk + 9;
  options.degree_fraction = 0.5;
  options.reciprocal = true;
  options.group_queries = options.model != ModelKind::kDot;  // whose groups have no side
  ExpectSameTraining(training, options);
}

// Questions in groups: few nodes and relations, so that there are large ones, which batches and chunks cut.
TEST_P(TrainerOracleGroups, GroupedQueries) {
  const TinyTraining training({.nodes = 12, .relations = 2, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  options.group_queries = true;
  options.reciprocal = true;
  options.regularizer = RegularizerKind::kN3;
  options.regularization = 0.05;
  options.optimizer = OptimizerKind::kSgd;
  for (const LossKind loss :
       {LossKind::kSoftmax, LossKind::kLogistic, LossKind::kRanking, LossKind::kSelfAdversarial}) {
    options.loss = loss;
    ExpectSameTraining(training, options);
  }
  options.loss = LossKind::kSoftmax;
  options.competing_answers = true;
  ExpectSameTraining(training, options);
  options.sampling_correction = 1;
  ExpectSameTraining(training, options);
  options.label_smoothing = 0.1;
  options.optimizer = OptimizerKind::kAdagrad;
  ExpectSameTraining(training, options);
  options.label_smoothing = 0;
  options.negatives = 0;
  options.accumulate = 2;
  ExpectSameTraining(training, options);
  options.accumulate = 1;
  options.negatives = 6;
  options.degree_fraction = 0.5;
  options.chunk = options.batch;
  ExpectSameTraining(training, options);
}

// The queries of both sides of an edge in one chunk, of the same rows of the relation.
TEST_P(TrainerOracle, GroupsWithoutReciprocalRelations) {
  const TinyTraining training({.nodes = 12, .relations = 2, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  options.group_queries = true;
  options.optimizer = OptimizerKind::kSgd;
  for (const LossKind loss : {LossKind::kSoftmax, LossKind::kSelfAdversarial}) {
    options.loss = loss;
    ExpectSameTraining(training, options);
  }
  options.loss = LossKind::kSoftmax;
  options.competing_answers = true;
  options.regularizer = RegularizerKind::kN3;
  options.regularization = 0.05;
  options.known_negatives = true;
  options.negatives = 2 * options.chunk + 9;
  options.dropout = 0.3;
  options.answer_weighting = 0.7;
  if (options.model != ModelKind::kDot) options.typed_fraction = 0.5;
  ExpectSameTraining(training, options);
  options.known_negatives = false;
  options.typed_fraction = 0;
  options.negatives = 0;
  options.accumulate = 2;
  options.optimizer = OptimizerKind::kAdagrad;
  ExpectSameTraining(training, options);
  options.accumulate = 1;
  options.dropout = 0;
  options.dim = 160;  // factors, in pieces
  if (options.model == ModelKind::kRescal) options.block = 2;
  options.initial_scale = 0.1;
  options.batch = options.chunk = 80;
  options.optimizer = OptimizerKind::kSgd;
  if (!KeepsFactors(options)) return;
  ASSERT_GT(PiecesOf(options, 1), 1U);
  ExpectSameTraining(training, options);
}

// Without inverse relations both directions of an edge, and a loop twice, are answers to the same question.
TEST(TrainerOracleShapes, CopiesOfAnAnswerCompeteAsOne) {
  const TinyTraining training({.nodes = 9, .relations = 1, .edges = 80, .weights = true});
  TrainOptions options = TinyOptions();
  options.model = ModelKind::kDot;
  options.optimizer = OptimizerKind::kSgd;
  options.group_queries = true;
  ExpectSameTraining(training, options);
  options.competing_answers = true;
  ExpectSameTraining(training, options);
  options.negatives = 0;
  ExpectSameTraining(training, options);
}

// Rows wide enough that chunks leave the gradients of negatives as factors (train/chunk_work.h), in groups, too.
TEST_P(TrainerOracleGroups, FactoredGradients) {
  const TinyTraining training({.nodes = 12, .relations = 2, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  options.dim = 34;
  if (options.model == ModelKind::kRescal) options.block = 2;  // the oracle differentiates by each number
  options.optimizer = OptimizerKind::kSgd;
  ASSERT_EQ(KeepsFactors(options), options.model != ModelKind::kTransE && options.model != ModelKind::kRotatE);
  if (!KeepsFactors(options)) return;
  ExpectSameTraining(training, options);
  options.reciprocal = true;
  options.group_queries = true;
  options.competing_answers = true;
  ExpectSameTraining(training, options);
  options.batch = options.chunk = 8;
  ASSERT_TRUE(KeepsFactors(options));
  options.negatives = 0;
  ExpectSameTraining(training, options);
}

// Products of bf16, gradients of negatives as rows, as factors and in pieces. Sums of steps near a tie of the rounding
// can fall on its other side here: then a number is off by 2^-8 of itself.
TEST_P(TrainerOracle, ProductsOfBf16) {
  const TinyTraining training({.nodes = 12, .relations = 2, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  if (!HasInnerProducts(options.model_spec())) return;
  options.optimizer = OptimizerKind::kSgd;
  options.precision = Precision::kBf16;
  const bool whole = options.model == ModelKind::kRescal && options.block == 0;  // has more numbers near a tie
  ExpectSameTraining(training, options, whole ? 5e-4 : kRowTolerance);
  options.reciprocal = true;
  options.loss = LossKind::kLogistic;
  ExpectSameTraining(training, options, whole ? 5e-4 : kRowTolerance);
  options.dim = 34;
  if (options.model == ModelKind::kRescal) options.block = 2;  // the oracle differentiates by each number
  ASSERT_TRUE(KeepsFactors(options));
  ExpectSameTraining(training, options);
  TrainOptions weighted = options;
  weighted.loss = LossKind::kSoftmax;
  weighted.answer_weighting = 0.5;
  ExpectSameTraining(training, weighted);
  options.dim = 160;
  options.initial_scale = 0.1;
  options.batch = options.chunk = 80;
  ASSERT_GT(PiecesOf(options, 1), 1U);
  ExpectSameTraining(training, options);
}

// Batches of one chunk, which is computed in pieces.
TEST_P(TrainerOracleGroups, ChunksInPieces) {
  const TinyTraining training({.nodes = 12, .relations = 2, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  options.dim = 160;
  if (options.model == ModelKind::kRescal) options.block = 2;
  options.initial_scale = 0.1;
  options.batch = options.chunk = 80;
  options.optimizer = OptimizerKind::kSgd;
  ASSERT_EQ(PiecesOf(options, 1) > 1, KeepsFactors(options));
  if (!KeepsFactors(options)) return;
  options.answer_weighting = 0.9;
  ExpectSameTraining(training, options);
  options.reciprocal = true;
  options.group_queries = true;
  options.competing_answers = true;
  options.regularizer = RegularizerKind::kN3;
  options.regularization = 0.05;
  ExpectSameTraining(training, options);
}

// The penalty of an edge's rows together, of each side and in groups.
TEST(TrainerOracleDura, EveryModelOfProducts) {
  const TinyTraining training({.nodes = 12, .relations = 2, .edges = 90, .weights = true});
  for (const ModelKind model : {ModelKind::kDistMult, ModelKind::kComplEx, ModelKind::kRescal}) {
    TrainOptions options = TinyOptions();
    options.model = model;
    if (model == ModelKind::kRescal) options.block = 4;
    options.regularizer = RegularizerKind::kDura;
    options.regularization = 0.05;
    options.optimizer = OptimizerKind::kSgd;
    options.answer_weighting = 0.8;
    ExpectSameTraining(training, options);
    options.reciprocal = true;
    ExpectSameTraining(training, options);
    options.group_queries = true;
    options.optimizer = OptimizerKind::kAdagrad;
    ExpectSameTraining(training, options);
    options.reciprocal = false;
    ExpectSameTraining(training, options);
  }
}

TEST_P(TrainerOracleRelations, RelationPrediction) {
  const TinyTraining training({.nodes = 12, .relations = 4, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  options.relation_prediction = 0.7;
  options.answer_weighting = 0.8;
  options.optimizer = OptimizerKind::kSgd;
  ExpectSameTraining(training, options);
  options.reciprocal = true;
  options.regularizer = RegularizerKind::kN3;
  options.regularization = 0.05;
  ExpectSameTraining(training, options);
  options.group_queries = true;
  options.dropout = 0.3;
  ExpectSameTraining(training, options);
}

// The relations are compared by bf16 products, too.
TEST_P(TrainerOracleRelations, RelationPredictionOfBf16) {
  const TinyTraining training({.nodes = 12, .relations = 19, .edges = 90, .weights = true});
  TrainOptions options = OptionsOfModel();
  if (!HasInnerProducts(options.model_spec())) return;
  options.relation_prediction = 0.7;
  options.precision = Precision::kBf16;
  options.optimizer = OptimizerKind::kSgd;
  ExpectSameTraining(training, options);
  options.dim = 34;
  options.reciprocal = true;
  options.initial_scale = 0.1;
  ExpectSameTraining(training, options);
}

TEST_P(TrainerOracle, DropoutSmoothingAndWarmup) {
  const TinyTraining training({.weights = true});
  TrainOptions options = OptionsOfModel();
  options.dropout = 0.3;
  if (options.model != ModelKind::kRotatE && GetParam().RelationWidth() > 0) options.relation_dropout = 0.2;
  options.label_smoothing = 0.1;
  options.warmup_epochs = 1.3;
  options.initializer = Initializer::kUniform;
  options.optimizer = OptimizerKind::kSgd;
  ExpectSameTraining(training, options);
  options.reciprocal = true;
  options.regularizer = RegularizerKind::kL2;
  options.regularization = 0.05;
  options.loss = LossKind::kLogistic;
  ExpectSameTraining(training, options);
  options.group_queries = true;
  options.initializer = Initializer::kXavierNormal;
  options.initial_scale = 0;
  options.learning_rate_schedule = LearningRateSchedule::kCosine;
  ExpectSameTraining(training, options);
}

// Batches of one chunk, and the last one short.
TEST_P(TrainerOracle, OneChunkABatch) {
  const TinyTraining training({.weights = true});
  TrainOptions options = OptionsOfModel();
  options.batch = options.chunk = 3;
  ExpectSameTraining(training, options);
  options.reciprocal = true;
  options.regularizer = RegularizerKind::kL2;
  options.regularization = 0.05;
  options.learning_rate_schedule = LearningRateSchedule::kCosine;
  options.optimizer = OptimizerKind::kAdam;
  options.degree_fraction = 0.5;
  options.batch = options.chunk = 28;
  ExpectSameTraining(training, options);
}

// A batch of one chunk has nobody beside it: `async` is then the others' training, whatever the time.
TEST_P(TrainerOracle, AsyncOfOneChunk) {
  const TinyTraining training({.weights = true});
  TrainOptions options = OptionsOfModel();
  options.schedule = Schedule::kAsync;
  options.batch = options.chunk = 14;
  options.optimizer = OptimizerKind::kAdam;
  ExpectSameTraining(training, options);
}

std::string NameOf(const ::testing::TestParamInfo<ModelSpec>& info) {
  std::string name(ModelName(info.param.kind));
  std::erase(name, '-');  // no character of a test's name
  return name + (info.param.norm == Norm::kL1 ? "L1" : "L2") + (info.param.block > 0 ? "Blocks" : "");
}

std::vector<ModelSpec> ModelsWithout(const std::function<bool(const ModelSpec&)>& left_out) {
  std::vector<ModelSpec> models = Models();
  std::erase_if(models, left_out);
  return models;
}

INSTANTIATE_TEST_SUITE_P(Models, TrainerOracle, ::testing::ValuesIn(Models()), NameOf);
INSTANTIATE_TEST_SUITE_P(Models, TrainerOracleGroups, ::testing::ValuesIn(ModelsWithout([](const ModelSpec& m) {
                           return m.kind == ModelKind::kSourceContext;
                         })),
                         NameOf);
// Not of phases, and not of -|h + r - t|_1, whose differences are wrong at its kinks.
INSTANTIATE_TEST_SUITE_P(Models, TrainerOracleRelations, ::testing::ValuesIn(ModelsWithout([](const ModelSpec& m) {
                           return m.RelationWidth() == 0 || m.kind == ModelKind::kRotatE ||
                                  m.kind == ModelKind::kRescal || (m.kind == ModelKind::kTransE && m.norm == Norm::kL1);
                         })),
                         NameOf);

// Tables in partitions: negatives from the resident ones, windows that end with their state.
TEST(TrainerOraclePartitions, EveryOrder) {
  const TinyTraining training({.nodes = 4500, .relations = 60, .edges = 6000});
  TrainOptions options = TinyOptions();
  options.batch = 200;
  options.learning_rate_schedule = LearningRateSchedule::kLinear;
  for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
    options.order = order;
    for (const auto& [partitions, resident] : {std::pair{5U, 2U}, {4U, 3U}, {2U, 2U}}) {
      options.partitions = partitions;
      options.resident = resident;
      options.chunk = 40;
      options.accumulate = 2;
      ExpectSameTraining(training, options);
      options.accumulate = 1;
      options.chunk = options.batch;
      ExpectSameTraining(training, options);
    }
  }
  // Typed negatives are resident, too: some relations have no node there.
  options.order = BucketOrder::kBeta;
  options.partitions = 5;
  options.resident = 2;
  options.chunk = 100;
  options.typed_fraction = 1;
  options.epochs = 1;
  ExpectSameTraining(training, options);
}

// One batch an epoch, chunks as large as it, and a batch larger than the graph.
TEST(TrainerOracleShapes, BatchesOfEverySize) {
  const TinyTraining training;
  for (const auto& [batch, chunk] : {std::pair{1, 1}, {7, 7}, {16, 5}, {64, 64}, {1000, 1000}, {1000, 9}}) {
    TrainOptions options = TinyOptions();
    options.batch = static_cast<std::uint64_t>(batch);
    options.chunk = static_cast<std::uint64_t>(chunk);
    options.optimizer = OptimizerKind::kSgd;
    ExpectSameTraining(training, options);
  }
}

// A graph of one relation and one with a single edge.
TEST(TrainerOracleShapes, SmallestGraphs) {
  for (const TinyGraph& graph :
       {TinyGraph{.nodes = 5, .relations = 1, .edges = 9}, TinyGraph{.nodes = 2, .relations = 1, .edges = 2}}) {
    const TinyTraining training(graph);
    ExpectSameTraining(training, TinyOptions());
    TrainOptions options = TinyOptions();
    options.negatives = 0;
    ExpectSameTraining(training, options);
  }
}

}  // namespace
}  // namespace octavo
