#include "train/machine_probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/stopwatch.h"
#include "fmt/format.h"
#include "io/disk_probe.h"
#include "io/scratch_folder.h"
#include "plan/epoch_plan.h"
#include "prefetch/epoch_order.h"
#include "prefetch/window_reader.h"
#include "run/footprint.h"
#include "run/initial_rows.h"
#include "tables/mmap_gradient_accumulator.h"
#include "tables/mmap_manager.h"
#include "tables/relation_table.h"
#include "tables/table_file.h"
#include "train/batch_schedule.h"
#include "train/memory_estimate.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMostDiskBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kLeastDiskBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 17;  // enough to miss the caches
constexpr double kWarmShare = 0.15;                          // relative to the measured time after it

bool Asked(const std::function<bool()>& stop) { return stop && stop(); }

// The first pool of an epoch, or if nothing is grouped a part of it.
absl::StatusOr<std::vector<Edge>> SomeEdges(const TrainOptions& options, const Graph& graph) {
  constexpr std::uint64_t kEnoughEdges = std::uint64_t{1} << 17;
  // Fewer edges than a pool has would have more queries each.
  const std::uint64_t pool = options.group_queries ? kPoolEdges : kEnoughEdges;
  const CellReader& cells = graph.Edges(Split::kTrain);
  const OrderSettings settings{.seed = options.seed,
                               .batch_edges = options.batch,
                               .inverse_offset = options.InverseOffset(graph.relation_count()),
                               .pool_edges = pool,
                               .window_edges = pool};
  const EpochPlan whole =
      EpochPlanner(cells.header().partition_count, {1, 1}, BucketOrder::kBeta, options.seed).Plan(0);
  const EpochOrder order(cells, settings, /*epoch=*/0, whole);
  EdgeWindow window;
  RETURN_IF_ERROR(WindowReader(cells, settings).Read(order, 0, window));
  return std::move(window.edges);
}

// Maps the nodes onto `rows` rows: relations and skew stay those of the graph. With `grouped`, edges of one node stay
// together; otherwise they are spread.
void MapNodes(std::uint64_t rows, bool grouped, std::span<Edge> edges) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::uint64_t spread = grouped ? 0 : i;
    edges[i].head = static_cast<NodeId>((Value(edges[i].head) + 7919 * spread) % rows);
    edges[i].tail = static_cast<NodeId>((Value(edges[i].tail) + 104729 * spread) % rows);
  }
}

// A loaded table. Its file, of zeros, is created in `folder` if it is missing.
absl::StatusOr<std::unique_ptr<MmapManager>> ProbeTable(const std::filesystem::path& folder, const std::string& name,
                                                        const NpyShape& shape, bool own_locks, Loading loading) {
  const TableLayout layout{.slots = {folder / (name + ".npy"), folder / (name + ".other.npy")},
                           .shape = shape,
                           .partition_rows = RoundUp(shape.rows, kPartitionRowQuantum),
                           .own_locks = own_locks};
  RETURN_IF_ERROR(OpenSpareTableFile(layout.slots[0], layout.shape).status());
  ASSIGN_OR_RETURN(std::unique_ptr<MmapManager> table, MmapManager::Open(layout, {0}));
  RETURN_IF_ERROR(table->LoadPartition(PartitionId{0}, std::nullopt, loading));
  return table;
}

// Tables for `rows` nodes and the graph's relations, with initial values that are in memory only.
struct ProbeTables {
  std::unique_ptr<MmapManager> embeddings;
  std::unique_ptr<MmapManager> state;
  std::unique_ptr<RelationTable> relations;
  std::unique_ptr<RelationTable> relation_state;
  std::unique_ptr<MmapGradientAccumulator> gradients;
  double seconds = 0;  // that it took to fill embeddings and state
};

absl::StatusOr<ProbeTables> MakeTables(const TrainOptions& options, const Graph& graph,
                                       const std::filesystem::path& folder, std::uint64_t rows, Loading loading,
                                       const std::function<bool()>& stop) {
  ProbeTables tables;
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(tables.embeddings,
                   ProbeTable(folder, "rows", {rows, options.dim, options.storage}, /*own_locks=*/true, loading));
  if (Asked(stop)) return absl::CancelledError("interrupted");
  ASSIGN_OR_RETURN(tables.state, ProbeTable(folder, "state", {rows, StateWidth(options.optimizer, options.dim)},
                                            /*own_locks=*/false, loading));
  const double scale = InitialScale(options, rows);
  ParallelRanges(0, rows, 1024, [&](std::size_t first, std::size_t last) {
    std::vector<float> wide(options.dim);
    if (Asked(stop)) return;
    for (std::uint64_t row = first; row < last; ++row) {
      const auto node = static_cast<NodeId>(row);
      tables.embeddings->UpdateRowUnlocked(node, {.seed = options.seed}, wide, [&](std::span<float> values) {
        InitialEmbedding(options, scale, row, values);
      });
    }
  });
  if (Asked(stop)) return absl::CancelledError("interrupted");
  tables.seconds = SecondsSince(begin);
  const std::size_t width = options.model_spec().RelationWidth();
  const std::uint64_t relation_rows = std::uint64_t{graph.relation_count()} * (options.reciprocal ? 2 : 1);
  const std::array<std::filesystem::path, 2> unused;  // relations are not written here
  tables.relations = std::make_unique<RelationTable>(unused, NpyShape{relation_rows, width});
  tables.relation_state = std::make_unique<RelationTable>(
      unused, NpyShape{relation_rows, width == 0 ? 0 : StateWidth(options.optimizer, width)});
  for (std::uint64_t row = 0; row < relation_rows; ++row) {
    InitialRelation(options, scale, row, tables.relations->Row(row));
  }
  GraphDescription small = graph.description();
  small.node_count = rows;
  ASSIGN_OR_RETURN(tables.gradients, MmapGradientAccumulator::Create(folder / "gradients.map", options.dim,
                                                                     GradientCapacityOf(options, small, {1, 1})));
  return tables;
}

// Trains batches of `edges` for `enough` seconds, after a warm-up.
absl::StatusOr<TrainingRate> TimeBatches(const TrainOptions& options, BatchSchedule& schedule,
                                         std::span<const Edge> edges, double enough,
                                         const std::function<bool()>& stop) {
  auto begin = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  std::uint64_t step = 0;
  bool warm = false;
  for (std::uint64_t batch = 0;; ++batch) {
    if (Asked(stop)) return absl::CancelledError("interrupted");
    const std::uint64_t size = options.batch * options.EntriesPerEdge();
    const std::uint64_t first = batch * size % (edges.size() - size + 1);
    const bool ends_window = (batch + 1) % options.accumulate == 0;
    if (ends_window) ++step;
    const auto loss = schedule.Train({.place = {.epoch = 0, .batch = batch},
                                      .edges = edges.subspan(first, size),
                                      .ends_window = ends_window,
                                      .learning_rate = static_cast<float>(options.learning_rate),
                                      .step = step});
    if (!loss.ok()) return loss.status();
    done += options.batch;
    const double seconds = SecondsSince(begin);
    if (!warm && seconds > kWarmShare * enough) {
      warm = true;
      begin = std::chrono::steady_clock::now();
      done = 0;
      schedule.TakeTimes();
    } else if (warm && seconds > enough) {
      const StepTimes times = schedule.TakeTimes();
      const auto edges_done = static_cast<double>(done);
      return TrainingRate{edges_done / SecondsSince(begin), times.compute_seconds / edges_done,
                          times.apply_seconds / edges_done};
    }
  }
}

// A probe of which nothing stays in `folder`: its tables only need their open files.
absl::StatusOr<TrainingProbe> MakeProbe(const TrainOptions& options, const Graph& graph,
                                        const std::filesystem::path& folder, std::uint64_t rows,
                                        std::function<bool()> stop = {}) {
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::Make(folder, "octavo-plan"));
  return TrainingProbe::Make(options, graph, scratch.path(), rows, Loading::kDirect, std::move(stop));
}

}  // namespace

double ProbeSeconds(double time) { return std::clamp(0.04 * time, 0.1, kProbeSeconds); }

struct TrainingProbe::Parts {
  TrainOptions options;
  std::function<bool()> stop;
  std::vector<Edge> edges;
  ProbeTables tables;
  std::unique_ptr<BatchSchedule> schedule;  // uses the tables
};

TrainingProbe::TrainingProbe(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TrainingProbe::TrainingProbe(TrainingProbe&&) noexcept = default;
TrainingProbe::~TrainingProbe() = default;

absl::StatusOr<TrainingProbe> TrainingProbe::Make(const TrainOptions& options, const Graph& graph,
                                                  const std::filesystem::path& folder, std::uint64_t rows,
                                                  Loading loading, std::function<bool()> stop) {
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  parts->stop = std::move(stop);
  TrainOptions& own = parts->options;
  own.batch = std::min(own.batch, graph.description().train_edges);
  own.chunk = std::min(own.chunk, own.batch);
  ASSIGN_OR_RETURN(parts->edges, SomeEdges(own, graph));
  MapNodes(rows, own.group_queries, parts->edges);
  ASSIGN_OR_RETURN(parts->tables, MakeTables(own, graph, folder, rows, loading, parts->stop));
  const ProbeTables& tables = parts->tables;
  parts->schedule = std::make_unique<BatchSchedule>(
      own, graph,
      StepTables{*tables.embeddings, *tables.state, *tables.relations, *tables.relation_state, *tables.gradients});
  parts->schedule->SetResidentNodes({{0, rows}});
  return TrainingProbe(std::move(parts));
}

absl::StatusOr<TrainingRate> TrainingProbe::Train(double seconds) {
  return TimeBatches(parts_->options, *parts_->schedule, parts_->edges, seconds, parts_->stop);
}

double TrainingProbe::table_seconds() const { return parts_->tables.seconds; }

absl::StatusOr<TrainingRate> ProbeTraining(const TrainOptions& options, const Graph& graph,
                                           const std::filesystem::path& folder, std::uint64_t rows, double seconds) {
  ASSIGN_OR_RETURN(TrainingProbe probe, MakeProbe(options, graph, folder, rows));
  return probe.Train(seconds);
}

std::uint64_t ProbedRows(const TrainOptions& options, const Graph& graph, std::uint64_t memory) {
  const std::uint64_t fitting = std::max<std::uint64_t>(1024, memory / 4 / NodeBytes(options));
  return std::min(graph.node_count(), fitting);
}

absl::StatusOr<MachineRates> ProbeMachine(const TrainOptions& options, const Graph& graph,
                                          const std::filesystem::path& folder, const ProbeLimits& limits) {
  const std::uint64_t table_bytes = graph.node_count() * NodeBytes(options);
  ASSIGN_OR_RETURN(const DiskRates disk,
                   ProbeDisk(folder, std::clamp(4 * table_bytes, kLeastDiskBytes, kMostDiskBytes), limits.stop));
  const std::uint64_t rows = std::min(kMostRows, ProbedRows(options, graph, limits.memory));
  ASSIGN_OR_RETURN(TrainingProbe probe, MakeProbe(options, graph, folder, rows, limits.stop));
  ASSIGN_OR_RETURN(const TrainingRate training, probe.Train(limits.seconds));
  return MachineRates{.disk_read = disk.read,
                      .disk_write = disk.write,
                      .training = training.edges_per_second,
                      .tables = static_cast<double>(rows * NodeBytes(options)) / probe.table_seconds(),
                      .sync = disk.sync};
}

}  // namespace octavo
