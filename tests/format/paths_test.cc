#include "format/paths.h"

#include <set>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(GraphPaths, AreTheNamesOfTheContract) {
  const GraphPaths paths("g");
  EXPECT_EQ(paths.Description(), "g/graph.json");
  EXPECT_EQ(paths.NodeHashes(), "g/nodes.hash");
  EXPECT_EQ(paths.NodeNames(), "g/nodes.names");
  EXPECT_EQ(paths.NodeOffsets(), "g/nodes.offsets");
  EXPECT_EQ(paths.Relations(), "g/relations.tsv");
  EXPECT_EQ(paths.Cells(Split::kTrain), "g/train.cells");
  EXPECT_EQ(paths.Cells(Split::kValid), "g/valid.cells");
  EXPECT_EQ(paths.Cells(Split::kTest), "g/test.cells");
  EXPECT_EQ(paths.NodeLabels(), "g/nodes.labels");
  EXPECT_EQ(paths.RelationLabels(), "g/relations.labels");
  EXPECT_EQ(GraphPaths::FileNames().size(), GraphPaths::NeededFileNames().size() + GraphPaths::LabelFileNames().size());
}

TEST(RunPaths, AreTheNamesOfTheContract) {
  const RunPaths paths("r");
  EXPECT_EQ(paths.Configuration(), "r/run.json");
  EXPECT_EQ(paths.State(), "r/STATE");
  EXPECT_EQ(paths.Metrics(), "r/metrics.jsonl");
  EXPECT_EQ(paths.Lock(), "r/LOCK");
  EXPECT_EQ(paths.Gradients(), "r/gradients.map");
  EXPECT_EQ(paths.Table(TableName::kEmbeddings, 0), "r/embeddings.npy");
  EXPECT_EQ(paths.Table(TableName::kEmbeddings, 1), "r/embeddings.other.npy");
  EXPECT_EQ(paths.Table(TableName::kOptimizer, 0), "r/optimizer.npy");
  EXPECT_EQ(paths.Table(TableName::kRelations, 0), "r/relations.npy");
}

TEST(RunPaths, AllHasEveryFileOnce) {
  const RunPaths paths("r");
  const auto all = paths.All();
  const std::set<std::filesystem::path> names(all.begin(), all.end());
  EXPECT_EQ(names.size(), all.size());
  for (const auto& path : {paths.State(), paths.Configuration(), paths.Metrics(), paths.Lock(), paths.Gradients(),
                           paths.Beginning(), paths.Table(TableName::kRelationOptimizer, 1)}) {
    EXPECT_EQ(names.count(path), 1U) << path;
  }
}

TEST(SearchPaths, AreTheNamesOfTheContract) {
  const SearchPaths paths("s");
  EXPECT_EQ(paths.Log(), "s/tune.jsonl");
  EXPECT_EQ(paths.Preset(), "s/best.toml");
  EXPECT_EQ(paths.Lock(), "s/LOCK");
  EXPECT_EQ(paths.Trial(0).folder(), "s/trial-000");
  EXPECT_EQ(paths.Trial(42).folder(), "s/trial-042");
  EXPECT_EQ(paths.Trial(9999).folder(), "s/trial-9999");
}

}  // namespace
}  // namespace octavo
