// A schedule over the tables of a tiny run, batch by batch.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "checkpoint/run_tables.h"
#include "gtest/gtest.h"
#include "run/initial_rows.h"
#include "tests/train/tiny_training.h"
#include "train/batch_schedule.h"
#include "train/memory_estimate.h"

namespace octavo {

// The tables of a run, with all partitions loaded, and one schedule over them.
class ScheduleFixture {
 public:
  explicit ScheduleFixture(const TrainOptions& options) : options_(options), paths_(folder_ / "run") {
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
         .relation_rows = std::uint64_t{graph_->relation_count()} * (options.reciprocal ? 2 : 1),
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
                                                     GradientCapacityOf(options, graph_->description(), {1, 1}));
    EXPECT_OK(gradients);
    gradients_ = *std::move(gradients);
    schedule_ = std::make_unique<BatchSchedule>(options_, *graph_,
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
      EXPECT_OK(tables_->embeddings().ReadRowUnlocked(
          NodeId{i}, std::span(rows).subspan(i * tables_->embeddings().columns(), tables_->embeddings().columns())));
    }
    return rows;
  }
  void SetRow(NodeId node, float value) {
    std::vector<float> wide(tables_->embeddings().columns());
    tables_->embeddings().UpdateRowUnlocked(node, {}, wide,
                                            [&](std::span<float> row) { std::ranges::fill(row, value); });
  }

  BatchSchedule& schedule() { return *schedule_; }
  // Trains edges [first, first + count) as batch `batch` of the first epoch.
  absl::StatusOr<ChunkLoss> Train(std::uint64_t batch, std::size_t first, std::size_t count, float rate = 0.1F) {
    return schedule_->Train({.place = {.epoch = 0, .batch = batch},
                             .edges = std::span(edges_).subspan(first, count),
                             .learning_rate = rate,
                             .step = batch + 1});
  }
  MmapGradientAccumulator& gradients() { return *gradients_; }
  const Graph& graph() const { return *graph_; }
  RunTables& tables() { return *tables_; }
  std::span<const Edge> edges() const { return edges_; }

 private:
  const TrainOptions options_;
  TemporaryFolder folder_;
  RunPaths paths_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<RunTables> tables_;
  std::unique_ptr<MmapGradientAccumulator> gradients_;
  std::unique_ptr<BatchSchedule> schedule_;
  std::vector<Edge> edges_;
};

}  // namespace octavo
