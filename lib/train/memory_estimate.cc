#include "train/memory_estimate.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/byte_size.h"
#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/cells.h"
#include "format/known_rows.h"
#include "model/bf16_product.h"
#include "model/chunk_kernel.h"
#include "plan/lane_schedule.h"
#include "plan/partition_plan.h"
#include "prefetch/batch_prefetcher.h"
#include "run/footprint.h"
#include "run/trained_edges.h"
#include "tables/product_sums.h"
#include "train/answer_weights.h"
#include "train/chunk_work.h"
#include "train/epoch_course.h"
#include "train/place_nodes.h"

namespace octavo {
namespace {

// Bytes per gradient in addition to its floats: the contribution, its sort key, its place in the order and the row's
// segment.
constexpr std::uint64_t kContributionBytes = 56;

// Sums and products that saturate at 1 EiB: the largest values of the options together overflow 64 bits, and an
// estimate that wrapped around would accept them.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
template <typename... More>
std::uint64_t Product(std::uint64_t first, More... more) {
  for (const std::uint64_t factor : {std::uint64_t{more}...}) {
    first = std::min(CheckedMultiply(first, factor).value_or(kMostBytes), kMostBytes);
  }
  return first;
}
template <typename... More>
std::uint64_t Sum(std::uint64_t first, More... more) {
  for (const std::uint64_t term : {std::uint64_t{more}...}) {
    first = std::min(CheckedAdd(first, term).value_or(kMostBytes), kMostBytes);
  }
  return first;
}

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string TooLittleMemory(const MemoryEstimate& needed, std::uint64_t limit, std::uint64_t enough) {
  return fmt::format(
      "training needs {} (tables {}, edges {}, gradients {}, workers {}, {}program {}) and --memory allows {}; the "
      "smallest sufficient --memory is {}MiB",
      FormatByteSize(needed.total()), FormatByteSize(needed.tables), FormatByteSize(needed.edges),
      FormatByteSize(needed.gradients), FormatByteSize(needed.workers),
      needed.validation == 0 ? std::string() : fmt::format("validations {}, ", FormatByteSize(needed.validation)),
      FormatByteSize(needed.program), FormatByteSize(limit), enough / kMiB);
}

// The fine partitions that are divided: all, or those that a lane holds.
std::uint32_t DividedPartitions(const TrainOptions& options, const GraphDescription& graph) {
  const std::uint32_t all = std::max<std::uint32_t>(1, graph.partition_count);
  return options.lanes > 1 ? LargestLane(all, static_cast<std::uint32_t>(options.lanes)) : all;
}

std::uint64_t AllTableBytes(const TrainOptions& options, const GraphDescription& graph) {
  return Product(graph.node_count, NodeBytes(options));
}

PartitionRequest RequestFor(const TrainOptions& options, const GraphDescription& graph) {
  PartitionRequest request;
  request.fine_partitions = DividedPartitions(options, graph);
  request.fine_bytes = Product(graph.partition_rows, NodeBytes(options));
  request.table_bytes = std::min(AllTableBytes(options, graph), Product(request.fine_partitions, request.fine_bytes));
  request.order = options.order;
  request.partitions = static_cast<std::uint32_t>(options.partitions);
  request.resident = static_cast<std::uint32_t>(options.resident);
  request.ahead = options.LoadsAhead();
  return request;
}

// The number of nodes in memory, from which negatives are drawn.
std::uint64_t ResidentRows(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& shape) {
  const std::uint32_t divided = DividedPartitions(options, graph);
  if (shape.WholeGraph()) return std::min(divided * graph.partition_rows, graph.node_count);
  const std::uint64_t fine = std::uint64_t{shape.resident} * LargestPartition(divided, shape.partitions);
  return std::min(fine * graph.partition_rows, graph.node_count);
}

std::uint64_t NegativesPerSide(const TrainOptions& options, const GraphDescription& graph,
                               const PartitionShape& shape) {
  return options.negatives == 0 ? ResidentRows(options, graph, shape) : options.negatives;
}

// The number of rows for which a batch computes gradients: of its edges, and of the negatives of its chunks. Grouped,
// an edge occurs twice, and negatives on one side only.
std::uint64_t EdgeRowsOfBatch(const TrainOptions& options, std::uint64_t batch) {
  return Product(2 * options.EntriesPerEdge(), batch);
}
std::uint64_t NegativesOfBatch(const TrainOptions& options, std::uint64_t batch, std::uint64_t negatives) {
  return Product(options.group_queries ? 1 : 2, (batch + options.chunk - 1) / options.chunk, negatives);
}
std::uint64_t RowsOfBatch(const TrainOptions& options, std::uint64_t batch, std::uint64_t negatives) {
  return Sum(EdgeRowsOfBatch(options, batch), NegativesOfBatch(options, batch, negatives));
}

std::uint64_t AllRelations(const TrainOptions& options, const GraphDescription& graph) {
  return std::uint64_t{graph.relation_count} * (options.reciprocal ? 2 : 1);
}

std::uint64_t EntriesOfChunk(const TrainOptions& options, const GraphDescription& graph) {
  return options.EntriesPerEdge() *
         std::min(options.chunk, std::max<std::uint64_t>(1, MostTrainedEdges(options, graph)));
}

// Whether operands of products are packed as bf16, or may be: auto is settled when a run is made.
bool Packs(const TrainOptions& options) {
  return options.precision == Precision::kBf16 ||
         (options.precision == Precision::kAuto && HasInnerProducts(options.model_spec()));
}

// A packed operand of `terms` numbers in each of its rows or columns: at least Bf16LeftFloats and Bf16RightFloats.
std::uint64_t PackedBytes(std::uint64_t rows, std::uint64_t terms) {
  return Product(Sum(rows, kBf16Rows), std::max<std::uint64_t>(terms, kBf16Block / 2), sizeof(float));
}

// The rows of a chunk. Packed, negatives are operands of two products instead.
std::uint64_t ChunkRowBytes(const TrainOptions& options, std::uint64_t chunk, std::uint64_t negatives) {
  const std::uint64_t packed =
      Packs(options) ? Product(2, Sum(PackedBytes(negatives, options.dim), PackedBytes(options.dim, negatives))) : 0;
  return Sum(Product(2, Sum(chunk, negatives), options.dim * sizeof(float)), packed,
             Product(options.group_queries ? 1 : 2, chunk, options.model_spec().RelationWidth() * sizeof(float)));
}

// Packed queries, in both layouts, and slopes; with relation prediction the packed relations and the panel of their
// products. That of the negatives and the tiles of AMX's products, and what packed rows take beyond PackedBytes, are
// within the rows of negatives, which ChunkRowBytes counts although only some are kept.
std::uint64_t PackedScratchBytes(const TrainOptions& options, std::uint64_t chunk, std::uint64_t negatives,
                                 std::uint64_t predicted) {
  if (!Packs(options)) return 0;
  const std::uint64_t most = std::max(negatives, predicted);
  return Sum(PackedBytes(chunk, options.dim), PackedBytes(options.dim, chunk), PackedBytes(most, chunk),
             PackedBytes(chunk, negatives),
             predicted == 0 ? 0
                            : Sum(PackedBytes(predicted, options.dim), PackedBytes(options.dim, predicted),
                                  PackedBytes(chunk, predicted), Bf16PanelFloats(predicted) * sizeof(float)));
}

// Scratch of one thread: rows, queries and their gradients, scores of a side, transposes; of dropout masks, dropped
// rows and their gradients; sums of rows.
std::uint64_t WorkerBytes(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& shape) {
  const std::uint64_t negatives = NegativesPerSide(options, graph, shape);
  const bool grouped = options.group_queries;
  const std::uint64_t chunk = EntriesOfChunk(options, graph);
  const std::uint64_t rows = Product(2, Sum(chunk, negatives));
  const bool drops = options.dropout_spec().any();
  const std::uint64_t edge_rows = (grouped ? 6 : 4) + (drops ? 3 : 0);
  const bool predicts = options.relation_prediction > 0;
  const std::uint64_t predicted = predicts ? AllRelations(options, graph) : 0;
  return Sum(ChunkRowBytes(options, chunk, negatives),
             Product((edge_rows + (predicts ? 6 : 0)) * chunk, options.dim * sizeof(float)),
             Product(2, negatives, options.dim * sizeof(float)),
             Product(2, chunk, Sum(negatives, predicted), sizeof(float)),
             Product(drops ? 2 : 0, chunk, options.model_spec().RelationWidth() * sizeof(float)),
             KeepsFactors(options) ? kMostRangeSumBytes : 0, PackedScratchBytes(options, chunk, negatives, predicted),
             options.schedule == Schedule::kAsync ? Product(rows, kContributionBytes) : 0);
}

// Rows of chunks that are computed in pieces, which threads share.
std::uint64_t SharedRowBytes(const TrainOptions& options, const GraphDescription& graph, std::uint64_t chunks,
                             std::uint64_t negatives) {
  std::uint64_t shared = std::min(chunks, kMostChunksInPieces);
  while (shared > 0 && PiecesOf(options, shared) == 1) --shared;
  return Product(shared, ChunkRowBytes(options, EntriesOfChunk(options, graph), negatives));
}

std::uint64_t EdgesOfBatch(const TrainOptions& options, const GraphDescription& graph) {
  return std::min(options.batch, std::max<std::uint64_t>(1, MostTrainedEdges(options, graph)));
}

// The blocks of a batch's chunks, if no edges share a query.
std::uint64_t BlockFloatsOfBatch(const TrainOptions& options, const GraphDescription& graph,
                                 const PartitionShape& shape) {
  const std::uint64_t batch = EdgesOfBatch(options, graph);
  const auto block = [&](std::uint64_t edges) {
    const std::uint64_t entries = options.EntriesPerEdge() * edges;
    return BlockFloats(options, {.edges = entries,
                                 .queries = entries,
                                 .negatives = NegativesPerSide(options, graph, shape),
                                 .relations = options.relation_prediction > 0 ? AllRelations(options, graph) : 0});
  };
  const std::uint64_t left = batch % options.chunk;
  return Sum(Product(batch / options.chunk, block(options.chunk)), left == 0 ? 0 : block(left));
}

// A ranking's scratch for each thread, and its least batch and block (evaluate/ranking.h); also what it opens: the
// block index of all splits, the relations twice, and their names.
std::uint64_t ValidationBytes(const TrainOptions& options, const GraphDescription& graph, int threads) {
  constexpr std::uint64_t kThreadBytes = std::uint64_t{2} << 20;
  constexpr std::uint64_t kLeastBytes = std::uint64_t{24} << 20;
  constexpr std::uint64_t kDrawnBytes = 32;
  constexpr std::uint64_t kNameBytes = 96;
  const std::uint64_t edges = Sum(graph.train_edges, graph.valid_edges, graph.test_edges);
  const std::uint64_t cells = Product(graph.partition_count, graph.partition_count);
  const std::uint64_t blocks = Sum(edges / kMaxBlockEdges, std::min(Product(3, cells), edges));
  return Sum(kLeastBytes, Product(512, options.dim, sizeof(float)),
             Product(static_cast<std::uint64_t>(std::max(1, threads)), kThreadBytes),
             Product(std::min(options.validation_sample, graph.valid_edges), kDrawnBytes), Product(blocks, 64U),
             Product(2, AllRelations(options, graph), options.model_spec().RelationWidth(), sizeof(float)),
             Product(graph.relation_count, kNameBytes));
}

// What the states of an epoch take: the plans of this epoch and the next; the order of buckets from which one is made;
// what is left to train of this epoch; their places in the orders of edges; and the records of the blocks of
// held-out edges. The bytes of the program cover those of up to 64 partitions.
std::uint64_t PlanBytes(const TrainOptions& options, const GraphDescription& graph, const PartitionShape& shape) {
  constexpr std::uint64_t kCovered = 64;
  if (graph.partition_count <= kCovered && options.lanes == 1) return 0;
  constexpr std::uint64_t kCourseBytes = sizeof(CourseState) + 3 * sizeof(std::uint64_t);  // its batches and steps
  constexpr std::uint64_t kExchangeBytes = sizeof(Exchange) + sizeof(std::uint32_t);
  const std::uint64_t cells = Product(graph.partition_count, graph.partition_count);
  const std::uint64_t turns = options.lanes == 1 ? 1 : options.lanes * (2 * options.lanes - 1);
  const std::uint64_t states = Product(turns, MostStates(options.order, shape));
  std::uint64_t plans = 0;
  if (options.lanes == 1) {
    plans = Product(2, PlannedStates::Bytes(states, cells, PartitionsListed(graph.partition_count, shape, states)));
  } else {
    // A state can have all partitions in memory; its other lists are of its lane. A third plan is of this process's
    // lanes. A draft has a vector for each list.
    const std::uint64_t of_lane = LargestLane(graph.partition_count, static_cast<std::uint32_t>(options.lanes));
    const std::uint64_t listed = Product(states, graph.partition_count + 4 * of_lane);
    plans = Sum(Product(3, PlannedStates::Bytes(states, cells, listed)), Product(states, sizeof(DraftState) + 128),
                Product(listed, sizeof(PartitionId)));
  }
  // The order is drawn from a bit for each partition and state, and a number for each cell.
  const std::uint64_t making = Sum(Product(states, kExchangeBytes), Product(states, shape.partitions) / 8,
                                   Product(cells, sizeof(UnitCell) + 2 * sizeof(std::uint32_t)));
  std::uint64_t blocks = 0;
  for (const std::uint64_t edges : {graph.valid_edges, graph.test_edges}) {
    blocks += edges / kMaxBlockEdges + std::min(cells, edges);
  }
  return Sum(plans, making, Product(states, kCourseBytes + BatchPrefetcher::kStateBytes),
             Product(blocks, sizeof(BlockRecord)));
}

// The options by which a division is chosen: partitions come in ahead, unless the options name the division. So
// --prefetch does not change what is chosen, on which the bits depend.
TrainOptions DividedAs(TrainOptions options) {
  if (options.partitions == 0 || options.resident == 0) options.prefetch = PrefetchMode::kAuto;
  return options;
}

// The division for `memory`. It leaves room for as many threads as take a tenth of the memory, or fewer if nothing fits
// otherwise; it does not depend on this training's number of threads. If negatives are all nodes, a small resident part
// has room for many threads only because it has few negatives. So all nodes are kept in memory if a few threads fit as
// well. REQUIRES: DividedAs(options)
std::optional<PartitionShape> DivideFor(const TrainOptions& options, const GraphDescription& graph,
                                        std::uint64_t memory) {
  constexpr int kMostThreads = 64;
  PartitionRequest request = RequestFor(options, graph);
  request.memory = memory;
  constexpr int kSomeThreads = 8;
  const MemoryEstimate whole = EstimateTrainingMemory(options, graph, kSomeThreads, {1, 1});
  if (options.negatives == 0 && options.partitions == 0 && options.resident == 0 && whole.total() <= memory &&
      whole.workers <= memory / 2) {
    return PartitionShape{1, 1};
  }
  for (int threads = kMostThreads; threads >= 1; threads /= 2) {
    request.other_bytes = [&](const PartitionShape& shape) {
      const MemoryEstimate estimate = EstimateTrainingMemory(options, graph, threads, shape);
      // Reject a division in which this many threads take more than a tenth.
      if (threads > 1 && estimate.workers > memory / 10) return kMostBytes;
      return estimate.total() - std::min(estimate.total(), ResidentBytes(request, shape));
    };
    if (const auto shape = ChoosePartitions(request)) return shape;
  }
  return std::nullopt;
}

bool Fits(const TrainOptions& options, const GraphDescription& graph, std::uint64_t memory, int threads) {
  const auto shape = DivideFor(DividedAs(options), graph, memory);
  return shape && EstimateTrainingMemory(options, graph, threads, *shape).total() <= memory;
}

// Returns a sufficient amount of memory in whole MiB, at least `least`. More memory can lead to a larger division, so
// amounts are tried: first one by one, then, for many threads that need far more, in doubling steps and back.
std::uint64_t EnoughMemory(const TrainOptions& options, const GraphDescription& graph, std::uint64_t least,
                           int threads) {
  constexpr int kSingleSteps = 64;
  std::uint64_t enough = RoundUp(least, kMiB);
  std::uint64_t step = kMiB;
  for (int i = 0; enough < kMostBytes && !Fits(options, graph, enough, threads); ++i) {
    if (i >= kSingleSteps) step *= 2;
    enough += step;
  }
  for (; step > kMiB; step /= 2) {
    if (Fits(options, graph, enough - step / 2, threads)) enough -= step / 2;
  }
  return enough;
}

}  // namespace

GradientCapacity GradientCapacityOf(const TrainOptions& options, const GraphDescription& graph,
                                    const PartitionShape& shape) {
  GradientCapacity capacity{.block_floats = BlockFloatsOfBatch(options, graph, shape), .accumulated_rows = 0};
  if (options.accumulate > 1) {
    const std::uint64_t rows =
        Product(options.accumulate, RowsOfBatch(options, options.batch, NegativesPerSide(options, graph, shape)));
    capacity.accumulated_rows = std::min(rows, ResidentRows(options, graph, shape));
  }
  return capacity;
}

MemoryEstimate EstimateTrainingMemory(const TrainOptions& options, const GraphDescription& graph, int threads,
                                      const PartitionShape& shape, bool hold_all) {
  const std::uint64_t negatives = NegativesPerSide(options, graph, shape);
  const std::uint64_t row = options.dim * sizeof(float);
  const std::uint64_t relation_width = options.model_spec().RelationWidth() * sizeof(float);
  const std::uint64_t batch = EdgesOfBatch(options, graph);
  const std::uint64_t relation_rows = AllRelations(options, graph);

  MemoryEstimate estimate;
  // Each lane has relations and their state, and one more lane's are being trained.
  const std::uint64_t lane_copies = options.lanes > 1 ? options.lanes + 1 : 0;
  estimate.tables = Sum(hold_all ? AllTableBytes(options, graph) : ResidentBytes(RequestFor(options, graph), shape),
                        Product(relation_rows, relation_width, 3 + 2 * lane_copies),
                        // The file is read as a whole and decoded into marks.
                        options.needs_known_rows() ? 2 * KnownRows::FileBytes(graph.node_count, relation_rows) : 0,
                        options.typed_fraction > 0 ? PlaceNodes::MostBytes(graph) : 0,
                        options.answer_weighting > 0 ? AnswerWeights::Bytes(graph) : 0);
  // Pool and windows; and for each block of edges its record and its places in the orders of epochs.
  constexpr std::uint64_t kBlockBytes = sizeof(BlockRecord) + BatchPrefetcher::kBlockBytes;
  const std::uint64_t cells = Product(graph.partition_count, graph.partition_count);
  const std::uint64_t trained = MostTrainedEdges(options, graph);
  const std::uint64_t blocks = Sum(trained / kMaxBlockEdges, std::min(cells, trained));
  const OrderSettings order{.batch_edges = options.batch,
                            .inverse_offset = options.InverseOffset(graph.relation_count)};
  estimate.edges =
      Sum(BatchPrefetcher::MostBytes(order, trained), Product(blocks, kBlockBytes), PlanBytes(options, graph, shape));
  // Each chunk keeps its gradients until they are summed.
  const std::uint64_t rows_of_batch = RowsOfBatch(options, batch, negatives);
  const std::uint64_t chunks = (batch + options.chunk - 1) / options.chunk;
  const std::uint64_t predicted = options.relation_prediction > 0 ? relation_rows : 0;
  const GradientCapacity capacity = GradientCapacityOf(options, graph, shape);
  estimate.gradients =
      Sum(Product(capacity.block_floats, sizeof(float)), Product(capacity.accumulated_rows, row),
          Product(rows_of_batch, sizeof(NodeId)), Product(chunks, predicted, kContributionBytes),
          Product(rows_of_batch, kContributionBytes), SharedRowBytes(options, graph, chunks, negatives));
  estimate.workers = Product(static_cast<std::uint64_t>(std::max(1, threads)), WorkerBytes(options, graph, shape));
  if (options.validate_every > 0) estimate.validation = ValidationBytes(options, graph, threads);
  estimate.program = kProgramBytes;
  return estimate;
}

bool HoldsAllTables(const TrainOptions& options, const GraphDescription& graph, int threads,
                    const PartitionShape& shape, std::uint64_t memory) {
  if (options.lanes == 1) return shape.WholeGraph();
  return EstimateTrainingMemory(options, graph, threads, shape, /*hold_all=*/true).total() <= memory;
}

bool HoldsLanes(const TrainOptions& options, const GraphDescription& graph, int threads, const PartitionShape& shape,
                std::uint32_t lanes, std::uint64_t memory) {
  const std::uint64_t all = AllTableBytes(options, graph);
  const std::uint64_t partitions =
      Product(lanes, LargestLane(graph.partition_count, static_cast<std::uint32_t>(options.lanes)));
  const std::uint64_t held = std::min(all, Product(partitions, graph.partition_rows, NodeBytes(options)));
  const std::uint64_t total = EstimateTrainingMemory(options, graph, threads, shape, /*hold_all=*/true).total();
  return total - all + held <= memory;
}

absl::Status CheckMemory(const MemoryEstimate& estimate, std::uint64_t limit) {
  if (estimate.total() <= limit) return absl::OkStatus();
  return UsageError(TooLittleMemory(estimate, limit, RoundUp(estimate.total(), kMiB)));
}

namespace {

// With lanes the division does not depend on the memory, which only has to suffice.
absl::StatusOr<PartitionShape> LaneShape(const TrainOptions& options, const GraphDescription& graph,
                                         std::uint64_t memory, int threads) {
  if (graph.partition_count < 2 * options.lanes) {
    return UsageError(
        fmt::format("lanes: found {}; expected at most {}, as each of their two groups needs one of the {} "
                    "partitions of the graph (octavo import --partitions makes more, one for each 1,024 "
                    "nodes)",
                    options.lanes, graph.partition_count / 2, graph.partition_count));
  }
  PartitionRequest request = RequestFor(options, graph);
  if (options.partitions > request.fine_partitions) {
    return UsageError(fmt::format("partitions: found {}; expected at most {}, the fine partitions of a lane",
                                  options.partitions, request.fine_partitions));
  }
  RETURN_IF_ERROR(CheckPartitionNumbers(request));
  const PartitionShape shape = {static_cast<std::uint32_t>(std::max<std::uint64_t>(1, options.partitions)),
                                static_cast<std::uint32_t>(std::max<std::uint64_t>(1, options.resident))};
  const MemoryEstimate needed = EstimateTrainingMemory(options, graph, threads, shape);
  if (needed.total() <= memory) return shape;
  request.partitions = request.resident = 0;
  request.other_bytes = [&](const PartitionShape& other) {
    const MemoryEstimate estimate = EstimateTrainingMemory(options, graph, threads, other);
    return estimate.total() - std::min(estimate.total(), ResidentBytes(request, other));
  };
  const PartitionShape least = SmallestShape(request);
  const MemoryEstimate fewer = EstimateTrainingMemory(options, graph, threads, least);
  return UsageError(fmt::format("{}{}", TooLittleMemory(needed, memory, RoundUp(needed.total(), kMiB)),
                                fewer.total() >= needed.total()
                                    ? std::string()
                                    : fmt::format("; a lane of --partitions {} --resident {} takes {}, with other bits",
                                                  least.partitions, least.resident, FormatByteSize(fewer.total()))));
}

}  // namespace

absl::StatusOr<PartitionShape> ChooseShape(const TrainOptions& options, const GraphDescription& graph,
                                           std::uint64_t memory, int threads) {
  if (options.lanes > 1) return LaneShape(options, graph, memory, threads);
  const TrainOptions divided = DividedAs(options);
  PartitionRequest request = RequestFor(divided, graph);
  RETURN_IF_ERROR(CheckPartitionNumbers(request));
  if (const auto shape = DivideFor(divided, graph, memory)) {
    const MemoryEstimate needed = EstimateTrainingMemory(options, graph, threads, *shape);
    if (needed.total() <= memory) return *shape;
    // The division has room for fewer threads, but at least one.
    const std::uint64_t one = needed.workers / static_cast<std::uint64_t>(threads);
    const std::uint64_t room = memory - (needed.total() - needed.workers);
    return UsageError(fmt::format("{}; with --threads {} this would do",
                                  TooLittleMemory(needed, memory, EnoughMemory(options, graph, memory, threads)),
                                  room / one));
  }
  request.other_bytes = [&](const PartitionShape& shape) {
    const MemoryEstimate estimate = EstimateTrainingMemory(divided, graph, threads, shape);
    return estimate.total() - std::min(estimate.total(), ResidentBytes(request, shape));
  };
  const MemoryEstimate least = EstimateTrainingMemory(divided, graph, threads, SmallestShape(request));
  const std::uint64_t enough = EnoughMemory(options, graph, std::max(least.total(), memory), threads);
  return UsageError(TooLittleMemory(least, memory, enough));
}

}  // namespace octavo
