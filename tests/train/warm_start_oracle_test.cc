// Trainings that start from the rows of another run, against the naive trainer.
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "run/trained_edges.h"
#include "run/trained_run.h"
#include "tests/support/naive_trainer.h"
#include "tests/train/warm_graphs.h"

namespace octavo {
namespace {

// As in trainer_oracle_test.cc: float against double.
constexpr double kTolerance = 2e-4;

NaiveRows Wide(const std::vector<float>& values, std::uint64_t rows) {
  NaiveRows wide;
  const std::size_t columns = rows == 0 ? 0 : values.size() / rows;
  for (std::uint64_t i = 0; i < rows; ++i) {
    wide.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i * columns),
                      values.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
  }
  return wide;
}

NaiveRun RowsOfRun(const std::filesystem::path& folder) {
  const TrainedRun run = OpenTrainedRun(folder).value();
  const TrainedState state = OpenTrainedState(folder, run).value();
  const auto read = [](const TableReader& table) {
    std::vector<float> values(table.rows() * table.columns());
    EXPECT_OK(table.ReadRows(0, values));
    return Wide(values, table.rows());
  };
  return {.embeddings = read(run.embeddings),
          .optimizer = read(state.optimizer),
          .relations = Wide(run.relations, run.relation_rows),
          .relation_optimizer = Wide(state.relations, run.relation_rows),
          .losses = {},
          .penalties = {}};
}

double Distance(const NaiveRows& a, const NaiveRows& b) {
  double distance = a.size() == b.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) distance = std::max(distance, std::abs(a[i][j] - b[i][j]));
  }
  return distance;
}

// Every way to start, to keep rows and to choose edges.
TEST(WarmStartOracle, TrainsAsTheNaiveTrainerDoes) {
  const WarmGraphs graphs;
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    TrainOptions options = TinyOptions();
    options.reciprocal = true;
    options.optimizer = round % 3 == 0 ? OptimizerKind::kAdam : OptimizerKind::kAdagrad;
    options.group_queries = round % 4 == 3;
    options.regularizer = RegularizerKind::kN3;
    options.regularization = 0.02;
    if (round == 5) options.chunk = options.batch;
    graphs.TrainOld(options);
    std::atomic<int> stop = 0;
    const std::string begun = fmt::format("begun{}", round);
    ASSERT_OK(graphs.Grow(options, begun, {.memory = kPlenty, .stop = &stop},
                          {.on_initial = [&](const InitialEvent&) { stop = 1; }}));
    ASSERT_OK_AND_ASSIGN(const TrainedRun source, OpenTrainedRun(graphs.run("source")));
    ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(graphs.grown_graph()));

    NaiveBeginning beginning;
    beginning.rows = RowsOfRun(graphs.run(begun));
    beginning.edges = &graph->Edges(Split::kTrain);
    if (options.optimizer == OptimizerKind::kAdam) {
      beginning.step = static_cast<int>(OpenTrainedState(graphs.run("source"), source)->step);
    }
    KnownRows known = {.nodes = RowMarks(graph->node_count()), .relations = RowMarks(6)};
    for (std::uint64_t i = 0; i < graph->node_count(); ++i) {
      if (source.graph->nodes().Find(graph->nodes().Name(NodeId{i}))) known.nodes.Mark(i);
    }
    for (const std::uint64_t row : {0U, 1U, 3U, 4U}) known.relations.Mark(row);
    if (round % 2 == 0) {
      options.freeze = Freeze::kOld;
      for (std::uint64_t i = 0; i < graph->node_count(); ++i) beginning.frozen.push_back(known.nodes.Has(i));
      for (std::uint64_t i = 0; i < 6; ++i) beginning.frozen_relations.push_back(known.relations.Has(i));
    }
    std::optional<CellReader> edges;
    if (round < 4) {
      options.edges = TrainEdges::kNew;
      ASSERT_OK_AND_ASSIGN(edges, WriteTrainedEdges(*graph, known, true, graphs / "edges.cells"));
      beginning.edges = &*edges;
    }
    std::vector<double> losses;
    const std::string name = fmt::format("run{}", round);
    ASSERT_OK(graphs.Grow(options, name, {.memory = kPlenty},
                          {.on_epoch = [&](const EpochEvent& event) { losses.push_back(event.loss); }}));
    const NaiveRun expected = TrainNaively(*graph, options, beginning);
    const NaiveRun found = RowsOfRun(graphs.run(name));
    EXPECT_LE(Distance(found.embeddings, expected.embeddings), kTolerance);
    EXPECT_LE(Distance(found.optimizer, expected.optimizer), kTolerance);
    EXPECT_LE(Distance(found.relations, expected.relations), kTolerance);
    EXPECT_LE(Distance(found.relation_optimizer, expected.relation_optimizer), kTolerance);
    ASSERT_EQ(losses.size(), expected.losses.size());
    for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected.losses[i], 1e-4);
  }
}

}  // namespace
}  // namespace octavo
