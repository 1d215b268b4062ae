#include "train/memory_estimate.h"

#include <regex>
#include <string>

#include "base/byte_size.h"
#include "base/checked_math.h"
#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/heap_peak.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

constexpr PartitionShape kOnePartition{1, 1};

GraphDescription MakeGraph(std::uint64_t nodes, std::uint64_t edges) {
  GraphDescription graph;
  graph.node_count = nodes;
  graph.relation_count = 10;
  graph.train_edges = edges;
  graph.partition_rows = RoundUp((nodes + 63) / 64, 1024);
  graph.partition_count = static_cast<std::uint32_t>((nodes + graph.partition_rows - 1) / graph.partition_rows);
  return graph;
}

TEST(GradientCapacityOf, RowsAreThoseOfSeveralBatchesOrOfTheGraph) {
  TrainOptions options;
  options.batch = 100;
  options.chunk = 30;
  options.negatives = 5;
  const auto rows = [&](std::uint64_t nodes) {
    return GradientCapacityOf(options, MakeGraph(nodes, 5000), kOnePartition).accumulated_rows;
  };
  EXPECT_EQ(rows(1'000'000), 0U);
  options.accumulate = 3;
  EXPECT_EQ(rows(1'000'000), 3U * (2 * 100 + 2 * 4 * 5));
  EXPECT_EQ(rows(17), 17U);
  options.negatives = 0;
  EXPECT_EQ(rows(17), 17U);
}

// Three chunks of 32 edges and one of 4, two sides, each a row of 16 floats for node and relation; the last batch of a
// small graph.
TEST(GradientCapacityOf, BlocksAreThoseOfAllChunks) {
  TrainOptions options;
  options.dim = 16;
  options.batch = 100;
  options.chunk = 32;
  options.negatives = 5;
  const auto floats = [&](std::uint64_t edges) {
    return GradientCapacityOf(options, MakeGraph(1000, edges), kOnePartition).block_floats;
  };
  EXPECT_EQ(floats(5000), 16U * (4 * 100 + 4 * 2 * 5));
  EXPECT_EQ(floats(40), 16U * (4 * 40 + 2 * 2 * 5));
  options.model = ModelKind::kDot;
  EXPECT_EQ(floats(5000), 16U * (2 * 100 + 4 * 2 * 5));
  options.group_queries = true;  // each edge twice, its negatives on one side
  EXPECT_EQ(floats(5000), 16U * (4 * 100 + 4 * 5));
}

TEST(EstimateTrainingMemory, CountsTheTables) {
  TrainOptions options;
  options.dim = 100;
  const GraphDescription graph = MakeGraph(1'000'000, 5'000'000);
  const std::uint64_t relations = 10 * 400 * 3;
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).tables, 1'000'000U * (400 + 4) + relations);
  options.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).tables, 1'000'000U * 400 + relations);
  options.optimizer = OptimizerKind::kAdam;
  options.reciprocal = true;
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).tables, 1'000'000U * 1200 + 2 * relations);
  options.storage = NpyElement::kBfloat16;
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).tables, 1'000'000U * (200 + 800) + 2 * relations);
}

// A pool and two windows, and 68 bytes of each block.
TEST(EstimateTrainingMemory, CountsTheEdges) {
  TrainOptions options;
  const GraphDescription graph = MakeGraph(1'000'000, 5'000'000);
  const std::uint64_t blocks = 5'000'000 / 4096 + graph.partition_count * graph.partition_count;
  const std::uint64_t edges = (std::uint64_t{1} << 19) + 2 * (std::uint64_t{1} << 15);
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).edges, edges * sizeof(Edge) + blocks * 40);
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 8, kOnePartition).edges, edges * sizeof(Edge) + blocks * 40);
  options.group_queries = true;
  EXPECT_GT(EstimateTrainingMemory(options, graph, 1, kOnePartition).edges, 2 * edges * sizeof(Edge) + blocks * 40);
}

// 512 partitions: the tables of 161 GB can be trained in a hundredth. The plans of their states are counted.
TEST(ChooseShape, ManyPartitionsAllowAHundredthOfTheTables) {
  TrainOptions options;
  options.dim = 400;
  GraphDescription graph = MakeGraph(100'000'000, 1'000'000'000);
  const std::uint64_t tables = graph.node_count * (1600 + 4);
  EXPECT_FALSE(ChooseShape(options, graph, tables / 100, 2).ok());
  graph.partition_rows = RoundUp(graph.node_count / 512, 1024);
  graph.partition_count = 511;
  const auto shape = ChooseShape(options, graph, tables / 100, 2);
  ASSERT_OK(shape.status());
  EXPECT_GT(shape->partitions, 64U);
  const MemoryEstimate estimate = EstimateTrainingMemory(options, graph, 2, *shape);
  EXPECT_LE(estimate.total(), tables / 100);
  EXPECT_GT(estimate.edges, EstimateTrainingMemory(options, graph, 2, kOnePartition).edges);
}

// The one that would come in while others train. What is chosen does not depend on it, so that the bits do not.
TEST(EstimateTrainingMemory, OnePartitionLessIfNoneIsLoadedAhead) {
  GraphDescription graph = MakeGraph(1'000'000, 5'000'000);
  graph.relation_count = 0;
  TrainOptions ahead, after;
  after.prefetch = PrefetchMode::kOff;
  const PartitionShape shape{8, 3};
  const std::uint64_t with = EstimateTrainingMemory(ahead, graph, 2, shape).tables;
  const std::uint64_t without = EstimateTrainingMemory(after, graph, 2, shape).tables;
  EXPECT_EQ(with - with / 4, without);
  const std::uint64_t enough = EstimateTrainingMemory(after, graph, 2, shape).total();
  EXPECT_EQ(*ChooseShape(after, graph, enough, 2), *ChooseShape(ahead, graph, enough, 2));
  // What is refused needs more than is allowed.
  const absl::Status refused = ChooseShape(after, graph, std::uint64_t{60} << 20, 2).status();
  EXPECT_EQ(refused.message(), ChooseShape(ahead, graph, std::uint64_t{60} << 20, 2).status().message());
  EXPECT_ERROR(refused, kUsage, "training needs ");
  for (TrainOptions* options : {&ahead, &after}) options->partitions = 8, options->resident = 3;
  EXPECT_FALSE(ChooseShape(ahead, graph, enough, 2).ok());
  ASSERT_OK(ChooseShape(after, graph, enough, 2).status());
  EXPECT_EQ(*ChooseShape(after, graph, enough, 2), shape);
}

TEST(EstimateTrainingMemory, GrowsWithWhatNeedsMemory) {
  const GraphDescription graph = MakeGraph(1'000'000, 50'000'000);
  const TrainOptions options;
  const std::uint64_t base = EstimateTrainingMemory(options, graph, 1, kOnePartition).total();
  EXPECT_GT(EstimateTrainingMemory(options, graph, 8, kOnePartition).total(), base);
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 0, kOnePartition).total(), base);
  for (const auto& [name, value] : {std::pair{"dim", "200"},
                                    {"batch", "100000"},
                                    {"negatives", "5000"},
                                    {"accumulate", "10"},
                                    {"optimizer", "adam"},
                                    {"chunk", "16"}}) {
    TrainOptions more;
    ASSERT_TRUE(FindTrainOption(name)->parse(more, value));
    EXPECT_GT(EstimateTrainingMemory(more, graph, 1, kOnePartition).total(), base) << name;
  }
  // A batch larger than the graph is as large as the graph.
  TrainOptions wide;
  wide.batch = 1 << 24;
  EXPECT_LT(EstimateTrainingMemory(wide, MakeGraph(1000, 100), 1, kOnePartition).total(), std::uint64_t{1} << 30);
}

TEST(EstimateTrainingMemory, CountsTheDegreeOfEachNode) {
  TrainOptions options;
  const GraphDescription graph = MakeGraph(1'000'000, 5'000'000);
  const std::uint64_t without = EstimateTrainingMemory(options, graph, 1, kOnePartition).tables;
  options.answer_weighting = 0.2;
  EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).tables, without + 4 * graph.node_count);
}

// As factors: 50 slopes for each of 2 x 20 x 1,000 negatives, and the queries of both sides of 1,000 edges. Chunks of
// 100 are computed in pieces, if there are but four: threads share their rows.
TEST(EstimateTrainingMemory, FactorsTakeLessThanRows) {
  TrainOptions options;
  options.dim = 400;
  options.batch = 1000;
  options.chunk = 50;
  options.negatives = 1000;
  const GraphDescription graph = MakeGraph(100'000, 1'000'000);
  const MemoryEstimate factors = EstimateTrainingMemory(options, graph, 1, kOnePartition);
  options.schedule = Schedule::kAsync;
  const MemoryEstimate rows = EstimateTrainingMemory(options, graph, 1, kOnePartition);
  EXPECT_EQ(rows.gradients - factors.gradients, 4U * (40'000 * (400 - 50) - 2 * 1000 * 400));
  const auto added = [&] {
    options.schedule = Schedule::kAsync;
    const std::uint64_t async = EstimateTrainingMemory(options, graph, 1, kOnePartition).gradients;
    options.schedule = Schedule::kSync;
    return EstimateTrainingMemory(options, graph, 1, kOnePartition).gradients - async;
  };
  options.negatives = 1;  // so few that their gradients count nothing beside the rows of chunks
  options.chunk = 100;
  // The queries, and for each row of a negative its 100 slopes, which take 112 floats: parts begin on cache lines.
  const std::uint64_t queries = 4 * (2 * 1000 * 400 - 2 * 10 * (400 - 112));
  EXPECT_EQ(added(), queries + 4 * 4U * 400 * (4 * 100 + 2 * 1));
}

// The largest values allowed used to wrap around 64 bits, and the training then ran into an empty machine.
TEST(EstimateTrainingMemory, NeverWrapsAround) {
  TrainOptions options;
  options.dim = 65536;
  options.batch = 1 << 24;
  options.negatives = 1 << 24;
  options.chunk = 1;
  options.accumulate = 1 << 20;
  const GraphDescription graph = MakeGraph(std::uint64_t{1} << 36, std::uint64_t{1} << 40);
  EXPECT_EQ(GradientCapacityOf(options, graph, kOnePartition).accumulated_rows, graph.node_count);
  std::uint64_t before = 0;
  for (options.chunk = 1 << 20; options.chunk > 0; options.chunk /= 2) {  // more chunks, more negatives
    const MemoryEstimate estimate = EstimateTrainingMemory(options, graph, 1024, kOnePartition);
    EXPECT_GE(estimate.gradients, before) << options.chunk;
    EXPECT_GE(estimate.total(), estimate.gradients) << options.chunk;
    EXPECT_GE(estimate.total(), estimate.tables) << options.chunk;
    before = estimate.gradients;
    EXPECT_ERROR(CheckMemory(estimate, std::uint64_t{1} << 50), kUsage, "--memory");
  }
}

TEST(CheckMemory, NamesTheSmallestThatWouldDo) {
  for (const std::uint64_t nodes : {1'000U, 1'000'000U, 12'345'678U}) {
    const MemoryEstimate estimate =
        EstimateTrainingMemory(TrainOptions(), MakeGraph(nodes, 10 * nodes), 2, kOnePartition);
    EXPECT_OK(CheckMemory(estimate, estimate.total()));
    const absl::Status refusal = CheckMemory(estimate, estimate.total() - 1);
    EXPECT_ERROR(refusal, kUsage, "--memory allows");
    std::smatch match;
    const std::string message(MessageOf(refusal));
    ASSERT_TRUE(std::regex_search(message, match, std::regex("smallest sufficient --memory is (\\S+)"))) << message;
    ASSERT_OK_AND_ASSIGN(const std::uint64_t smallest, ParseByteSize(match[1].str()));
    EXPECT_OK(CheckMemory(estimate, smallest));
    EXPECT_LE(smallest, estimate.total() + (1 << 20));
  }
}

// Rows, gradients and scratch of a worker, with products of bf16 in all sizes around those of tiles.
TEST(EstimateTrainingMemory, CoversPackedOperands) {
  for (const auto& [factors, predicts] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    for (const auto& [chunk, negatives] : {std::pair{3UL, 1UL}, {17UL, 700UL}, {40UL, 15UL}}) {
      TrainOptions options = TinyOptions();
      options.relation_prediction = predicts ? 0.5 : 0;
      options.dim = factors ? 2 * chunk + 2 : 4;
      options.chunk = options.batch = chunk;
      options.negatives = negatives;
      options.precision = Precision::kBf16;
      ASSERT_EQ(KeepsFactors(options), factors);
      ScheduleFixture fixture(options);
      const GraphDescription& graph = fixture.graph().description();
      const std::uint64_t planned = EstimateTrainingMemory(options, graph, 1, kOnePartition).workers;
      const std::uint64_t gradients = EstimateTrainingMemory(options, graph, 1, kOnePartition).gradients;
      options.precision = Precision::kAuto;
      EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).workers, planned);
      EXPECT_EQ(EstimateTrainingMemory(options, graph, 1, kOnePartition).gradients, gradients);
      options.precision = Precision::kFloat32;
      EXPECT_LT(EstimateTrainingMemory(options, graph, 1, kOnePartition).workers, planned);
      options.precision = Precision::kBf16;

      const ChunkWork work(options, fixture.graph(), fixture.tables().embeddings(), fixture.tables().relations());
      ChunkResult result;
      work.Draw({.epoch = 0, .batch = 0}, fixture.edges().first(chunk), 0, result);
      std::vector<float> block(BlockFloats(options, result.shape));
      work.TakeBlock(block, result);
      const HeapPeak peak;
      ChunkRows rows;
      ChunkKernel kernel = MakeKernel(options, fixture.graph().node_count());
      work.Gather(rows, result);
      work.Compute(rows, kernel, result);
      ASSERT_OK(result.status);
      EXPECT_LE(peak.bytes(), planned + 4096) << chunk << " x " << negatives;  // and small objects
    }
  }
}

// What a refusal names must do, whatever the threads and the division.
TEST(ChooseShape, TheSmallestMemoryItNamesDoes) {
  for (const std::uint64_t nodes : {1'000U, 100'000U, 4'000'000U}) {
    for (const int threads : {1, 2, 7, 64}) {
      TrainOptions options;
      options.negatives = nodes == 1'000U ? 0 : 512;
      const GraphDescription graph = MakeGraph(nodes, 10 * nodes);
      const absl::Status refusal = ChooseShape(options, graph, 1 << 20, threads).status();
      EXPECT_ERROR(refusal, kUsage, "--memory allows 1.0 MiB");
      std::smatch match;
      const std::string message(MessageOf(refusal));
      ASSERT_TRUE(std::regex_search(message, match, std::regex("smallest sufficient --memory is (\\S+)")));
      ASSERT_OK_AND_ASSIGN(const std::uint64_t smallest, ParseByteSize(match[1].str()));
      ASSERT_OK_AND_ASSIGN(const PartitionShape shape, ChooseShape(options, graph, smallest, threads));
      EXPECT_LE(EstimateTrainingMemory(options, graph, threads, shape).total(), smallest);
      EXPECT_FALSE(ChooseShape(options, graph, smallest - (1 << 20), threads).ok());
    }
  }
}

// A refusal once named 4 GiB more than the least, where many threads with much scratch need far more.
TEST(ChooseShape, TheSmallestMemoryDoesWhereThreadsNeedMuch) {
  TrainOptions options;
  options.dim = 400;
  options.negatives = 16384;
  const GraphDescription graph = MakeGraph(200'000'000, 2'000'000'000);
  for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kRandom}) {
    options.order = order;
    const absl::Status refusal = ChooseShape(options, graph, std::uint64_t{1} << 30, 64).status();
    std::smatch match;
    const std::string message(MessageOf(refusal));
    ASSERT_TRUE(std::regex_search(message, match, std::regex("smallest sufficient --memory is (\\S+)"))) << message;
    ASSERT_OK_AND_ASSIGN(const std::uint64_t smallest, ParseByteSize(match[1].str()));
    EXPECT_OK(ChooseShape(options, graph, smallest, 64));
    EXPECT_FALSE(ChooseShape(options, graph, smallest - (1 << 20), 64).ok());
  }
}

// A refusal once said "needs 2.1 GiB and --memory allows 2.5 GiB": the threads were too many for the division.
TEST(ChooseShape, NamesTheThreadsThatWouldDo) {
  TrainOptions options;
  options.dim = 400;
  options.negatives = 16384;
  const GraphDescription graph = MakeGraph(4'000'000, 40'000'000);
  const std::uint64_t memory = std::uint64_t{2500} << 20;
  const absl::Status refusal = ChooseShape(options, graph, memory, 8).status();
  std::smatch match;
  const std::string message(MessageOf(refusal));
  ASSERT_TRUE(std::regex_search(message, match, std::regex("with --threads (\\d+) this would do"))) << message;
  const int threads = std::stoi(match[1].str());
  EXPECT_OK(ChooseShape(options, graph, memory, threads));
  EXPECT_ERROR(ChooseShape(options, graph, memory, threads + 1).status(), kUsage, "this would do");
  ASSERT_TRUE(std::regex_search(message, match, std::regex("training needs (\\S+ \\S+) "))) << message;
  ASSERT_OK_AND_ASSIGN(const std::uint64_t needed, ParseByteSize(match[1].str()));
  EXPECT_GE(needed, memory - (1 << 26)) << "rounded";
}

// The same bits for any number of threads: they have no say in the division.
TEST(ChooseShape, DoesNotDependOnTheThreads) {
  const TrainOptions options;
  const GraphDescription graph = MakeGraph(4'000'000, 40'000'000);
  for (std::uint64_t memory = 600; memory < 2000; memory += 100) {
    ASSERT_OK_AND_ASSIGN(const PartitionShape one, ChooseShape(options, graph, memory << 20, 1));
    ASSERT_OK_AND_ASSIGN(const PartitionShape eight, ChooseShape(options, graph, memory << 20, 8));
    EXPECT_EQ(one, eight) << memory;
  }
}

}  // namespace
}  // namespace octavo
