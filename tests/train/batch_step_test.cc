#include "train/batch_step.h"

#include <cmath>
#include <limits>
#include <vector>

#include "checkpoint/run_tables.h"
#include "gtest/gtest.h"
#include "tests/train/tiny_training.h"
#include "train/initial_rows.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

// The tables of a run, with all partitions loaded, and one step over them.
class StepFixture {
 public:
  explicit StepFixture(const TrainOptions& options) : paths_(folder_ / "run") {
    MakeTinyGraph({.nodes = 30, .relations = 3, .edges = 100}, folder_ / "graph");
    auto graph = Graph::Open(folder_ / "graph");
    EXPECT_OK(graph);
    graph_ = *std::move(graph);
    std::filesystem::create_directory(paths_.folder());
    const std::size_t width = options.model_spec().RelationWidth();
    auto tables = RunTables::Create(
        paths_,
        {.rows = graph_->node_count(),
         .dim = options.dim,
         .state_width = StateWidth(options.optimizer, options.dim),
         .relation_rows = graph_->relation_count(),
         .relation_width = width,
         .relation_state_width = width == 0 ? 0 : StateWidth(options.optimizer, width),
         .partition_rows = graph_->description().partition_rows,
         .element = options.storage},
        [&](std::uint64_t row, std::span<float> values) { InitialEmbedding(options, 0.5, row, values); },
        [&](std::uint64_t row, std::span<float> values) { InitialRelation(options, 0.5, row, values); },
        /*sync=*/false);
    EXPECT_OK(tables);
    tables_ = *std::move(tables);
    EXPECT_OK(tables_->LoadPartition(PartitionId{0}));
    auto gradients = MmapGradientAccumulator::Create(paths_.Gradients(), options.dim,
                                                     MaxWindowRows(options, graph_->description(), {1, 1}));
    EXPECT_OK(gradients);
    gradients_ = *std::move(gradients);
    step_ = std::make_unique<BatchStep>(options, *graph_,
                                        StepTables{.embeddings = tables_->embeddings(),
                                                   .optimizer = tables_->optimizer(),
                                                   .relations = tables_->relations(),
                                                   .relation_optimizer = tables_->relation_optimizer(),
                                                   .gradients = *gradients_});
    auto edges = graph_->Edges(Split::kTrain).ReadAll();
    EXPECT_OK(edges);
    edges_ = *std::move(edges);
  }

  std::vector<float> Rows() {
    std::vector<float> rows(graph_->node_count() * tables_->embeddings().columns());
    for (std::uint64_t i = 0; i < graph_->node_count(); ++i) {
      EXPECT_OK(tables_->embeddings().ReadRow(
          NodeId{i}, std::span(rows).subspan(i * tables_->embeddings().columns(), tables_->embeddings().columns())));
    }
    return rows;
  }
  void SetRow(NodeId node, float value) {
    const WriterStripeLock lock(tables_->embeddings().LockFor(node));
    std::vector<float> wide(tables_->embeddings().columns());
    tables_->embeddings().UpdateRow(node, {}, wide, [&](std::span<float> row) { std::ranges::fill(row, value); });
  }

  BatchStep& step() { return *step_; }
  MmapGradientAccumulator& gradients() { return *gradients_; }
  const Graph& graph() const { return *graph_; }
  RunTables& tables() { return *tables_; }
  std::span<const Edge> edges() const { return edges_; }

 private:
  TemporaryFolder folder_;
  RunPaths paths_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<RunTables> tables_;
  std::unique_ptr<MmapGradientAccumulator> gradients_;
  std::unique_ptr<BatchStep> step_;
  std::vector<Edge> edges_;
};

TEST(BatchStep, ComputeChangesNoRowAndApplyDoes) {
  StepFixture fixture(TinyOptions());
  const std::vector<float> before = fixture.Rows();
  ASSERT_OK(fixture.step().Compute({.epoch = 0, .batch = 0}, fixture.edges().first(20)));
  EXPECT_EQ(fixture.Rows(), before);
  ASSERT_OK(fixture.step().Apply(0.1F, 1));
  EXPECT_NE(fixture.Rows(), before);
}

TEST(BatchStep, LongWindowsKeepTheirSumsUntilTheyAreApplied) {
  TrainOptions options = TinyOptions();
  options.accumulate = 2;
  StepFixture fixture(options);
  const std::vector<float> before = fixture.Rows();
  ASSERT_OK(fixture.step().Compute({.epoch = 0, .batch = 0}, fixture.edges().first(20)));
  EXPECT_FALSE(fixture.gradients().touched().empty());
  EXPECT_EQ(fixture.Rows(), before);
  ASSERT_OK(fixture.step().Apply(0.1F, 1));
  EXPECT_NE(fixture.Rows(), before);
  EXPECT_TRUE(fixture.gradients().touched().empty());
}

TEST(BatchStep, PlaceDecidesTheNegatives) {
  StepFixture fixture(TinyOptions());
  const auto loss_at = [&](std::uint64_t epoch, std::uint64_t batch) {
    const auto loss = fixture.step().Compute({.epoch = epoch, .batch = batch}, fixture.edges().first(20));
    EXPECT_OK(loss);
    fixture.gradients().Zero();
    return loss->loss;
  };
  EXPECT_EQ(loss_at(0, 0), loss_at(0, 0));
  EXPECT_NE(loss_at(0, 0), loss_at(0, 1));
  EXPECT_NE(loss_at(0, 0), loss_at(1, 0));
}

// A long batch, then a short one: nothing of the first may be left in the second's sums.
TEST(BatchStep, ShorterBatchAfterALongerOne) {
  TrainOptions options = TinyOptions();
  options.batch = 90;
  options.accumulate = 2;  // whose sums can be looked at
  StepFixture used(options);
  StepFixture fresh(options);
  ASSERT_OK(used.step().Compute({.epoch = 0, .batch = 0}, used.edges().first(85)));
  ASSERT_OK(used.step().Apply(0, 1));  // changes no row, but the optimizer's state
  ASSERT_OK_AND_ASSIGN(const ChunkLoss a, used.step().Compute({.epoch = 3, .batch = 1}, used.edges().first(7)));
  ASSERT_OK_AND_ASSIGN(const ChunkLoss b, fresh.step().Compute({.epoch = 3, .batch = 1}, fresh.edges().first(7)));
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_FALSE(fresh.gradients().touched().empty());
  EXPECT_TRUE(std::equal(used.gradients().touched().begin(), used.gradients().touched().end(),
                         fresh.gradients().touched().begin(), fresh.gradients().touched().end()));
  for (const NodeId node : fresh.gradients().touched()) {
    const auto left = *used.gradients().Gradient(node);
    const auto right = *fresh.gradients().Gradient(node);
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
  }
}

TEST(BatchStep, NamesTheEdgeWhoseLossIsNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& [bad, storage] :
       {std::pair(kNan, NpyElement::kFloat32), std::pair(kInfinity, NpyElement::kFloat32),
        std::pair(kNan, NpyElement::kBfloat16), std::pair(kInfinity, NpyElement::kBfloat16)}) {
    TrainOptions options = TinyOptions();
    options.storage = storage;
    options.model = ModelKind::kDistMult;
    options.negatives = 1;
    options.accumulate = 2;
    StepFixture fixture(options);
    const Edge& edge = fixture.edges()[13];
    fixture.SetRow(edge.head, bad);
    const auto result = fixture.step().Compute({.epoch = 4, .batch = 6}, std::span(&edge, 1));
    EXPECT_ERROR(result, kRuntime, "epoch 5, batch 7");
    const std::string message(MessageOf(result.status()));
    for (const std::string_view name :
         {fixture.graph().nodes().Name(edge.head), fixture.graph().nodes().Name(edge.tail),
          fixture.graph().RelationName(edge.relation)}) {
      EXPECT_NE(message.find('"' + std::string(name) + '"'), std::string::npos) << message;
    }
    EXPECT_NE(message.find("the last commit stands"), std::string::npos) << message;
    EXPECT_TRUE(fixture.gradients().touched().empty());
  }
}

// A finite loss can have a gradient that makes a row overflow; a commit after that would keep it for good.
TEST(BatchStep, FindsRowsThatAnUpdateBroke) {
  for (const NpyElement storage : {NpyElement::kFloat32, NpyElement::kBfloat16}) {
    TrainOptions options = TinyOptions();
    options.model = ModelKind::kDistMult;
    options.optimizer = OptimizerKind::kSgd;
    options.storage = storage;
    StepFixture fixture(options);
    ASSERT_OK(fixture.step().Compute({.epoch = 0, .batch = 0}, fixture.edges().first(20)));
    ASSERT_OK(fixture.step().Apply(0.1F, 1));
    EXPECT_OK(fixture.step().CheckRows());
    ASSERT_OK(fixture.step().Compute({.epoch = 0, .batch = 1}, fixture.edges().first(20)));
    ASSERT_OK(fixture.step().Apply(std::numeric_limits<float>::infinity(), 2));
    EXPECT_ERROR(fixture.step().CheckRows(), kRuntime, "epoch 1, batch 2");
    EXPECT_ERROR(fixture.step().CheckRows(), kRuntime, "the last commit stands");
  }
}

// The draws of a rounding go by the seed of the training and the number of the update.
TEST(BatchStep, RoundsBySeedAndStep) {
  TrainOptions options = TinyOptions();
  options.storage = NpyElement::kBfloat16;
  const auto rows_after = [&](std::uint64_t step) {
    StepFixture fixture(options);
    EXPECT_OK(fixture.step().Compute({.epoch = 0, .batch = 0}, fixture.edges().first(20)));
    EXPECT_OK(fixture.step().Apply(0.01F, step));
    return fixture.Rows();
  };
  const std::vector<float> rows = rows_after(1);
  EXPECT_EQ(rows_after(1), rows);
  EXPECT_NE(rows_after(2), rows);
}

TEST(BatchStep, TimesStartAnewWhenTaken) {
  StepFixture fixture(TinyOptions());
  ASSERT_OK(fixture.step().Compute({.epoch = 0, .batch = 0}, fixture.edges().first(20)));
  ASSERT_OK(fixture.step().Apply(0.1F, 1));
  const StepTimes times = fixture.step().TakeTimes();
  EXPECT_GT(times.compute_seconds, 0);
  EXPECT_GT(times.apply_seconds, 0);
  EXPECT_EQ(fixture.step().TakeTimes().compute_seconds, 0);
  EXPECT_EQ(fixture.step().TakeTimes().apply_seconds, 0);
}

}  // namespace
}  // namespace octavo
