#include "walk/walk_graph.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/verify.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "oneapi/tbb/global_control.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/walk/dense_walks.h"
#include "tests/walk/walked_graph.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGraphFiles[] = {"graph.json",    "nodes.hash",  "nodes.names", "nodes.offsets",
                                       "relations.tsv", "train.cells", "valid.cells", "test.cells"};

class WalkGraphTest : public ::testing::Test {
 protected:
  WalkGraphTest() : folder_(FastPlace()) {}
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }

  absl::StatusOr<WalkSummary> Walk(const WalkOptions& walk, std::optional<WalkPlan> plan = std::nullopt) {
    return MakeWalkGraph({.graph = folder_ / "graph",
                          .output = folder_ / "pairs",
                          .overwrite = true,
                          .walk = walk,
                          .memory_bytes = std::uint64_t{1} << 30,
                          .plan = std::move(plan)});
  }
  std::unique_ptr<Graph> Source() const { return Graph::Open(folder_ / "graph").value(); }
  std::unique_ptr<Graph> Pairs() const { return Graph::Open(folder_ / "pairs").value(); }
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const char* name : kGraphFiles) files[name] = FileBytes(folder_ / "pairs" / name);
    return files;
  }
  std::string Leftovers() const {
    std::string names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name != "graph" && name != "input.tsv") names += name + " ";
    }
    return names;
  }
  // The weights of the pairs, as a matrix.
  Matrix Observed() const {
    const auto graph = Pairs();
    Matrix counts = Zeros(graph->node_count());
    for (const Edge& edge : TrainEdges(*graph)) {
      counts[Value(edge.head)][Value(edge.tail)] += edge.weight;
    }
    return counts;
  }
  Matrix SourceTransitions() const {
    const auto graph = Source();
    return Transitions(graph->node_count(), TrainEdges(*graph));
  }
  // All neighbours in ranges of one partition, and little memory for everything else.
  WalkPlan StreamedPlan() const {
    WalkPlan plan;
    plan.ranges = PartitionRanges(Source()->Edges(Split::kTrain));
    plan.workers = 3;
    plan.key_bytes = 2 << 20;
    plan.count_bytes = 1 << 20;
    plan.write_bytes = 8 << 20;
    plan.walker_bytes = 1 << 20;
    return plan;
  }

  const TemporaryFolder folder_;
};

// Pairs of one walk depend on each other, so the bound is on the mean, with a tolerance for the variance of many walks:
// a window that is one too small or too large is off by a tenth.
void ExpectNear(const Matrix& observed, Matrix expected, double walks) {
  double difference = 0;
  double total = 0;
  for (std::size_t u = 0; u < expected.size(); ++u) {
    for (std::size_t v = 0; v < expected.size(); ++v) {
      const double mean = walks * expected[u][v];
      difference += std::abs(observed[u][v] - mean);
      total += mean;
      if (mean == 0) {
        EXPECT_EQ(observed[u][v], 0) << u << " " << v;
      }
    }
  }
  EXPECT_LT(difference / total, 0.03);
}

TEST_F(WalkGraphTest, DeepWalkGivesThePairsOfTheTransitionMatrix) {
  ASSERT_OK(ImportText(folder_, KarateText(), {.columns = "head,tail", .undirected = true}));
  for (const auto& [length, window] : {std::pair(2, 1), std::pair(9, 3), std::pair(5, 8)}) {
    WalkOptions walk{.walks = 4000,
                     .length = static_cast<std::uint64_t>(length),
                     .window = static_cast<std::uint64_t>(window),
                     .pairs = PairDirection::kForward,
                     .keep_self_loops = true};
    ASSERT_OK(Walk(walk));
    const Matrix expected =
        ExpectedPairs(SourceTransitions(), static_cast<std::size_t>(length), static_cast<std::size_t>(window));
    ExpectNear(Observed(), expected, 4000);
    // Both directions: the same walks, each pair twice.
    const Matrix forward = Observed();
    walk.pairs = PairDirection::kBoth;
    ASSERT_OK(Walk(walk));
    const Matrix both = Observed();
    walk.keep_self_loops = false;
    ASSERT_OK(Walk(walk));
    const Matrix without = Observed();
    for (std::size_t u = 0; u < forward.size(); ++u) {
      for (std::size_t v = 0; v < forward.size(); ++v) {
        EXPECT_EQ(both[u][v], forward[u][v] + forward[v][u]);
        EXPECT_EQ(without[u][v], u == v ? 0 : both[u][v]);
      }
    }
  }
}

TEST_F(WalkGraphTest, Node2vecTakesTheStepsOfItsFormula) {
  ASSERT_OK(ImportText(folder_, RandomEdges(30, 250, true, 3), {.columns = "head,tail,weight"}));
  for (const auto& [p, q] : {std::pair(0.2, 3.0), std::pair(5.0, 0.2)}) {
    ASSERT_OK(Walk({.kind = WalkKind::kNode2Vec,
                    .walks = 10000,
                    .length = 6,
                    .window = 1,
                    .p = p,
                    .q = q,
                    .pairs = PairDirection::kForward,
                    .keep_self_loops = true}));
    ExpectNear(Observed(), ExpectedSecondOrderSteps(SourceTransitions(), 6, p, q), 10000);
  }
}

TEST_F(WalkGraphTest, Node2vecWithoutBiasIsDeepWalk) {
  ASSERT_OK(ImportText(folder_, KarateText(), {.columns = "head,tail", .undirected = true}));
  ASSERT_OK(Walk({.kind = WalkKind::kDeepWalk}));
  const std::string pairs = Files()["train.cells"];
  ASSERT_OK(Walk({.kind = WalkKind::kNode2Vec}));
  EXPECT_TRUE(Files()["train.cells"] == pairs);
  ASSERT_OK(Walk({.kind = WalkKind::kNode2Vec, .p = 0.5}));
  EXPECT_FALSE(Files()["train.cells"] == pairs);
}

TEST_F(WalkGraphTest, PprDrawsFromPersonalPageRank) {
  for (const bool weights : {false, true}) {
    ASSERT_OK(
        ImportText(folder_, RandomEdges(40, 150, weights, 4), {.columns = weights ? "head,tail,weight" : "head,tail"}));
    constexpr std::uint64_t kSamples = 20000;
    ASSERT_OK(Walk({.kind = WalkKind::kPersonalPageRank,
                    .alpha = 0.7,
                    .samples = kSamples,
                    .pairs = PairDirection::kForward,
                    .keep_self_loops = true}));
    const Matrix observed = Observed();
    Matrix expected = PersonalPageRank(SourceTransitions(), 0.7);
    for (std::size_t node = 0; node < expected.size(); ++node) {
      for (double& probability : expected[node]) probability *= kSamples;
      EXPECT_LT(ChiSquareScore(observed[node], expected[node]), 5) << node;
    }
  }
}

TEST_F(WalkGraphTest, ThreadsAndMemoryChangeNoByte) {
  for (const bool weights : {false, true}) {
    ASSERT_OK(ImportText(folder_, RandomEdges(4000, 16000, weights, 5),
                         {.columns = weights ? "head,tail,weight" : "head,tail", .split = "0.9,0.05,0.05"}));
    ASSERT_EQ(PartitionRanges(Source()->Edges(Split::kTrain)).size(), 4U);
    for (const WalkOptions& walk :
         {WalkOptions{.kind = WalkKind::kDeepWalk, .walks = 3, .length = 12, .window = 4},
          WalkOptions{.kind = WalkKind::kDeepWalk, .walks = 1, .length = 3, .window = 9, .keep_self_loops = true},
          WalkOptions{.kind = WalkKind::kNode2Vec, .walks = 3, .length = 10, .window = 3, .p = 0.3, .q = 2.5},
          WalkOptions{.kind = WalkKind::kNode2Vec,
          .walks = 2,
          .length = 6,
          .window = 1,
          .p = 6,
          .q = 0.3,
          .pairs = PairDirection::kForward},
          WalkOptions{.kind = WalkKind::kPersonalPageRank, .samples = 30, .pairs = PairDirection::kForward}}) {
      ASSERT_OK(Walk(walk));
      const auto held = Files();
      for (const std::size_t threads : {1, 2, 4}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        ASSERT_OK(Walk(walk));
        EXPECT_TRUE(Files() == held) << WalkKindName(walk.kind) << threads;
        WalkPlan plan = StreamedPlan();
        plan.workers = threads;
        ASSERT_OK_AND_ASSIGN(const WalkSummary summary, Walk(walk, plan));
        EXPECT_TRUE(summary.streamed);
        EXPECT_TRUE(Files() == held) << WalkKindName(walk.kind) << threads << " streamed";
      }
      WalkPlan tiny = StreamedPlan();
      tiny.key_bytes = 256 << 10;
      tiny.count_bytes = 50000;
      tiny.write_bytes = 200000;
      tiny.walker_bytes = 2000;
      ASSERT_OK_AND_ASSIGN(const WalkSummary summary, Walk(walk, tiny));
      EXPECT_TRUE(Files() == held) << WalkKindName(walk.kind) << " tiny";
      EXPECT_GT(summary.spilled_bytes, 100000U);
      tiny.ranges = JoinPartitions(tiny.ranges, weights, UINT64_MAX);
      ASSERT_OK(Walk(walk, tiny));
      EXPECT_TRUE(Files() == held) << WalkKindName(walk.kind) << " tiny, held";
    }
  }
}

TEST_F(WalkGraphTest, TheSeedMakesOtherWalks) {
  ASSERT_OK(ImportText(folder_, KarateText(), {.columns = "head,tail", .undirected = true}));
  ASSERT_OK(Walk({.seed = 1}));
  const std::string one = Files()["train.cells"];
  ASSERT_OK(Walk({.seed = 2}));
  EXPECT_FALSE(Files()["train.cells"] == one);
}

TEST_F(WalkGraphTest, KeepsNodesAndHeldOutEdgesAndVerifies) {
  ASSERT_OK(ImportText(folder_, RandomEdges(3000, 9000, false, 6), {.columns = "head,tail", .split = "0.8,0.1,0.1"}));
  ASSERT_OK_AND_ASSIGN(const WalkSummary summary, Walk({.walks = 2, .length = 2, .window = 1}));
  const auto source = Source();
  const auto pairs = Pairs();
  for (const char* name : {"nodes.hash", "nodes.names", "nodes.offsets"}) {
    EXPECT_TRUE(FileBytes(folder_ / "pairs" / name) == FileBytes(folder_ / "graph" / name));
  }
  for (const Split split : {Split::kValid, Split::kTest}) {
    EXPECT_GT(source->Edges(split).edge_count(), 0U);
    EXPECT_EQ(source->Edges(split).ReadAll().value(), pairs->Edges(split).ReadAll().value());
  }
  // Each step is an edge, and none is a held-out edge.
  std::set<std::pair<NodeId, NodeId>> trained;
  for (const Edge& edge : TrainEdges(*source)) trained.emplace(edge.head, edge.tail);
  for (const Edge& edge : TrainEdges(*pairs)) {
    EXPECT_TRUE(trained.contains({edge.head, edge.tail}) || trained.contains({edge.tail, edge.head}));
  }
  CheckReport report;
  ASSERT_OK(VerifyGraph(folder_ / "pairs", {}, report));
  EXPECT_TRUE(report.findings().empty());
  EXPECT_TRUE(pairs->description().has_weights);
  EXPECT_EQ(summary.graph, pairs->description());
  EXPECT_NE(FileBytes(folder_ / "pairs/graph.json").find("\"kind\": \"deepwalk\""), std::string::npos);
}

TEST_F(WalkGraphTest, RefusesWhatItCannotWalkOn) {
  EXPECT_ERROR(Walk({}), kUsage, "not a graph");
  ASSERT_OK(ImportText(folder_, "a\tr\tb\nb\ts\tc\n"));
  EXPECT_ERROR(Walk({}), kUsage, "a graph of 2 relations; expected one without");
  ASSERT_OK(ImportText(folder_, "a\ta\nb\tb\n"));
  EXPECT_ERROR(Walk({}), kInput, "give no pair of different nodes");
  ASSERT_OK(ImportText(folder_, "a\tb\n"));
  EXPECT_ERROR(MakeWalkGraph({.graph = folder_ / "graph", .output = folder_ / "graph", .overwrite = true}), kUsage,
               "the graph itself");
  EXPECT_ERROR(Walk({.length = 1}), kUsage, "--length: found 1; expected a whole number from 2 to 10000");
  EXPECT_ERROR(Walk({.p = 0}), kUsage, "--p: found 0; expected a number from 0.001 to 1000");
  EXPECT_ERROR(Walk({.alpha = 1}), kUsage, "--alpha: found 1; expected a number from 0 to 0.999");
  EXPECT_ERROR(MakeWalkGraph({.graph = folder_ / "graph", .output = folder_ / "pairs", .memory_bytes = 1 << 20}),
               kUsage, "--memory 1.0 MiB is too little");
  EXPECT_EQ(Leftovers(), "");
}

// Names of the new graph were combined with edges of the old one.
TEST_F(WalkGraphTest, AGraphThatIsReplacedMeanwhileIsNoticed) {
  const WalkGraphOptions options{.graph = folder_ / "graph", .output = folder_ / "pairs"};
  for (const bool removed : {false, true}) {
    ASSERT_OK(ImportText(folder_, RandomEdges(200, 900, false, 6), {.columns = "head,tail"}));
    const std::uint64_t before = Source()->description().fingerprint;
    const auto replace = [&](const WalkProgress& progress) {
      if (progress.stage != "walking") return;
      if (removed) {
        fs::remove_all(folder_ / "graph");
      } else {
        EXPECT_OK(ImportText(folder_, RandomEdges(200, 900, false, 7), {.columns = "head,tail"}));
      }
    };
    const absl::Status status = MakeWalkGraph(options, replace).status();
    if (removed) {
      EXPECT_FALSE(status.ok());
    } else {
      EXPECT_ERROR(status, kRuntime, "graph: was replaced while its walks were taken: found fingerprint ");
      EXPECT_ERROR(status, kRuntime, fmt::format("expected fingerprint {:016x}; walk again", before));
    }
    EXPECT_EQ(Leftovers(), "");
  }
}

TEST_F(WalkGraphTest, AFailureAtAnyStepLeavesNothing) {
  ASSERT_OK(ImportText(folder_, RandomEdges(4000, 16000, true, 7), {.columns = "head,tail,weight"}));
  WalkPlan plan = StreamedPlan();
  plan.key_bytes = 256 << 10;
  plan.count_bytes = 50000;
  const WalkOptions walk{.kind = WalkKind::kNode2Vec, .walks = 1, .length = 4, .window = 2};
  int failures = 0;
  for (const std::string point : {"file.open", "file.write", "file.read", "file.flush", "file.sync"}) {
    int pass = 1;
    for (; pass < 20000; pass += 1 + pass / 3) {
      ASSERT_OK(SetFailpoints(fmt::format("{}:{}=enospc", point, pass)));
      const absl::StatusOr<WalkSummary> summary = Walk(walk, plan);
      ASSERT_OK(SetFailpoints(""));
      if (summary.ok()) break;
      ++failures;
      EXPECT_NE(MessageOf(summary.status()).find("No space left"), std::string::npos) << point << summary.status();
      ASSERT_EQ(Leftovers(), "") << point << pass;
    }
    EXPECT_LT(pass, 20000) << point;
    fs::remove_all(folder_ / "pairs");
  }
  EXPECT_GT(failures, 30);
}

TEST_F(WalkGraphTest, StopsOnEveryWay) {
  ASSERT_OK(ImportText(folder_, RandomEdges(4000, 16000, false, 8), {.columns = "head,tail"}));
  for (const bool streamed : {false, true}) {
    int stopped = 0;
    for (int after = 0; after < 3000; after = after * 2 + 1) {
      std::atomic<int> asked = 0;
      WalkGraphOptions options{.graph = folder_ / "graph",
                               .output = folder_ / (streamed ? "streamed" : "held"),
                               .walk = {.walks = 2, .length = 5, .window = 2},
                               .stop = [&] { return asked++ >= after; }};
      if (streamed) options.plan = StreamedPlan();
      const auto summary = MakeWalkGraph(options);
      if (summary.ok()) break;
      EXPECT_TRUE(absl::IsCancelled(summary.status())) << summary.status();
      EXPECT_EQ(Leftovers(), streamed ? "held " : "");
      ++stopped;
    }
    EXPECT_GT(stopped, streamed ? 3 : 1);
  }
}

TEST_F(WalkGraphTest, TellsItsProgress) {
  ASSERT_OK(ImportText(folder_, RandomEdges(4000, 16000, false, 8), {.columns = "head,tail"}));
  for (const bool streamed : {false, true}) {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> last;
    WalkGraphOptions options{.graph = folder_ / "graph",
                             .output = folder_ / "pairs",
                             .overwrite = true,
                             .walk = {.walks = 2, .length = 8, .window = 2}};
    if (streamed) options.plan = StreamedPlan();
    ASSERT_OK(MakeWalkGraph(options, [&](const WalkProgress& progress) {
      EXPECT_LE(progress.done, progress.total);
      last[std::string(progress.stage)] = {progress.done, progress.total};
    }));
    ASSERT_EQ(last.size(), 2U);
    EXPECT_EQ(last["walking"].first, last["walking"].second);
    EXPECT_EQ(last["writing"].first, last["writing"].second);
  }
}

}  // namespace
}  // namespace octavo
