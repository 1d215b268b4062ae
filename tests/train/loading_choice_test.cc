#include "train/loading_choice.h"

#include <cstdint>
#include <memory>
#include <string>

#include "format/cells.h"
#include "gtest/gtest.h"
#include "run/footprint.h"
#include "tests/train/tiny_training.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

constexpr PartitionShape kWhole{1, 1};

class LoadingChoiceTest : public ::testing::Test {
 protected:
  LoadingChoiceTest() : graph_(Graph::Open(training_.graph_folder()).value()) {}

  LoadingChoice Choose(ExchangeMode exchange, std::uint64_t memory, const PartitionShape& shape = kWhole,
                       TrainOptions options = TinyOptions()) const {
    options.exchange = exchange;
    return ChooseLoading(options, *graph_, memory, 1, shape, training_.run_folder());
  }
  // All that a mapped training holds.
  std::uint64_t Twice() const {
    const GraphDescription& graph = graph_->description();
    return EstimateTrainingMemory(TinyOptions(), graph, 1, kWhole).total() +
           graph.node_count * NodeBytes(TinyOptions()) +
           graph.train_edges * EdgeBytes(graph_->Edges(Split::kTrain).header());
  }

  const TinyTraining training_{{.nodes = 6500, .relations = 3, .edges = 9000}};
  const std::unique_ptr<Graph> graph_;
};

TEST_F(LoadingChoiceTest, TablesThatStayAreMappedWhereTheyFitTwice) {
  for (const PartitionShape& shape : {kWhole, PartitionShape{7, 7}}) {
    EXPECT_EQ(Choose(ExchangeMode::kAuto, Twice(), shape).loading, Loading::kMapped);
    EXPECT_EQ(Choose(ExchangeMode::kMapped, Twice(), shape).loading, Loading::kMapped);
    EXPECT_EQ(Choose(ExchangeMode::kAuto, Twice() - 1, shape).loading, Loading::kDirect);
    EXPECT_EQ(Choose(ExchangeMode::kMapped, Twice() - 1, shape).loading, Loading::kPopulated);
  }
  EXPECT_NE(Choose(ExchangeMode::kAuto, Twice() - 1).why.find("no room"), std::string::npos);
}

TEST_F(LoadingChoiceTest, TablesThatComeAndGoAreNotMappedUnread) {
  EXPECT_EQ(Choose(ExchangeMode::kAuto, kPlenty, {7, 2}).loading, Loading::kDirect);
  EXPECT_EQ(Choose(ExchangeMode::kMapped, kPlenty, {7, 2}).loading, Loading::kPopulated);
}

TEST_F(LoadingChoiceTest, DirectIsDirect) {
  EXPECT_EQ(Choose(ExchangeMode::kDirect, kPlenty).loading, Loading::kDirect);
  EXPECT_EQ(Choose(ExchangeMode::kDirect, kPlenty, {7, 2}).loading, Loading::kDirect);
}

TEST_F(LoadingChoiceTest, LargeTablesAreMappedOnlyOnRequest) {
  TrainOptions options = TinyOptions();
  options.dim = 65536;
  options.optimizer = OptimizerKind::kAdam;
  ASSERT_GT(graph_->node_count() * NodeBytes(options), kMostMappedBytes);
  EXPECT_EQ(Choose(ExchangeMode::kAuto, kPlenty, kWhole, options).loading, Loading::kDirect);
  EXPECT_NE(Choose(ExchangeMode::kAuto, kPlenty, kWhole, options).why.find("huge pages"), std::string::npos);
  EXPECT_EQ(Choose(ExchangeMode::kMapped, kPlenty, kWhole, options).loading, Loading::kMapped);
}

}  // namespace
}  // namespace octavo
