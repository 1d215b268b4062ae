#include "train/machine_probe.h"

#include <atomic>
#include <filesystem>
#include <utility>

#include "gtest/gtest.h"
#include "run/footprint.h"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

TEST(ProbeMachine, MeasuresAndLeavesNothing) {
  const TinyTraining training;
  const auto graph = Graph::Open(training.graph_folder());
  ASSERT_OK(graph);
  const TemporaryFolder folder;
  for (const auto& [model, storage] :
       {std::pair(ModelKind::kRotatE, NpyElement::kFloat32), std::pair(ModelKind::kComplEx, NpyElement::kBfloat16)}) {
    TrainOptions options = TinyOptions();
    options.model = model;
    options.storage = storage;
    options.batch = 1000;  // more than the graph has
    options.chunk = 500;
    ASSERT_OK_AND_ASSIGN(const MachineRates rates, ProbeMachine(options, **graph, folder / ".", {.memory = 1 << 20}));
    EXPECT_GT(rates.disk_read, 0);
    EXPECT_GT(rates.disk_write, 0);
    EXPECT_GT(rates.training, 100);
    EXPECT_GT(rates.tables, 1000);
    EXPECT_GT(rates.sync, 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

TEST(ProbedRows, FitAQuarterOfTheMemory) {
  const TinyTraining training({.nodes = 5000, .edges = 9000});
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  for (const OptimizerKind optimizer : {OptimizerKind::kSgd, OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    TrainOptions options = TinyOptions();
    options.optimizer = optimizer;
    EXPECT_EQ(ProbedRows(options, *graph, std::uint64_t{1} << 30), graph->node_count());
    EXPECT_EQ(ProbedRows(options, *graph, 4 * 2000 * NodeBytes(options)), 2000U);
    EXPECT_EQ(ProbedRows(options, *graph, 1000), 1024U);
  }
}

TEST(ProbeMachine, StopsWhenAsked) {
  const TinyTraining training;
  ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(training.graph_folder()));
  const TemporaryFolder folder;
  // At the disk, while tables are made, and between two batches.
  for (int last = 0; last < 12; ++last) {
    std::atomic<int> asked = 0;
    const auto stop = [&] { return ++asked > last; };
    EXPECT_TRUE(absl::IsCancelled(
        ProbeMachine(TinyOptions(), *graph, folder / ".", {.memory = 1 << 20, .seconds = 100, .stop = stop}).status()))
        << last;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

}  // namespace
}  // namespace octavo
