#include "tests/checkpoint/small_run.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "checkpoint/state_file.h"
#include "tables/table_reader.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

float InitialEmbedding(std::uint64_t row) { return static_cast<float>(row) + 0.25F; }
float InitialRelation(std::uint64_t row) { return static_cast<float>(row) - 0.5F; }

// The rows that step `step` of the training below sets, with their values: a few, spread over some partitions.
struct Update {
  std::uint64_t row = 0;
  float value = 0;
};
std::vector<Update> UpdatesOf(std::uint64_t step, const RunShape& shape) {
  RandomStream random(shape.seed, RandomPurpose::kSplit, 1, step);
  std::vector<Update> updates;
  // Step 3 does not change partition 0, so that slots drift apart.
  const std::uint64_t first = step == 3 ? 1024 : 0;
  for (int i = 0; i < 12; ++i) updates.push_back({first + random.Below(shape.rows - first), random.NextFloat()});
  return updates;
}

// With lanes, after which steps a round is open: commits of both slots.
bool IsRoundOpen(std::uint64_t step, const RunShape& shape) {
  return shape.lanes > 1 && (step == 1 || step == 2 || step == 4);
}
float LaneRelation(std::uint64_t step, std::uint64_t lane) { return static_cast<float>(10 * step + lane); }
std::uint64_t LaneBatches(std::uint64_t step, std::uint64_t lane) { return 100 * step + lane; }

void SetLanes(RunTables& tables, std::uint64_t step, const RunShape& shape) {
  if (shape.lanes == 1) return;
  std::vector<LaneRecord> lanes(shape.lanes);
  for (std::uint64_t lane = 0; lane < shape.lanes; ++lane) {
    if (IsRoundOpen(step, shape)) lanes[lane].batches = LaneBatches(step, lane);
    for (std::uint64_t row = 0; row < shape.relation_rows; ++row) {
      const std::uint64_t of_all = lane * shape.relation_rows + row;
      std::ranges::fill(tables.lane_relations().Row(of_all), LaneRelation(step, lane));
      std::ranges::fill(tables.lane_relation_optimizer().Row(of_all), LaneRelation(step, lane) / 2);
    }
  }
  const bool open = IsRoundOpen(step, shape);
  tables.SetRound({.open = open ? 1U : 0U, .round = open ? step % 3 : 0}, lanes);
}

// What the manifest and the tables of lanes say while a round is open.
Contents LanesAfter(std::uint64_t step, const RunShape& shape, Contents contents) {
  contents.round = {.lanes = shape.lanes > 1 ? static_cast<std::uint32_t>(shape.lanes) : 0};
  contents.lane_batches.assign(contents.round.lanes, 0);
  contents.lane_relations.clear();
  contents.lane_relation_optimizer.clear();
  if (!IsRoundOpen(step, shape)) return contents;
  contents.round.open = 1;
  contents.round.round = step % 3;
  for (std::uint64_t lane = 0; lane < shape.lanes; ++lane) {
    contents.lane_batches[lane] = LaneBatches(step, lane);
    contents.lane_relations.insert(contents.lane_relations.end(), shape.relation_rows * shape.relation_width,
                                   LaneRelation(step, lane));
    contents.lane_relation_optimizer.insert(contents.lane_relation_optimizer.end(),
                                            shape.relation_rows * shape.relation_state_width,
                                            LaneRelation(step, lane) / 2);
  }
  return contents;
}

void TakeRound(const LanesHeader& round, const std::vector<LaneRecord>& lanes, Contents& contents) {
  contents.round = round;
  contents.round.lanes = static_cast<std::uint32_t>(lanes.size());  // of a new run the field is set when it is written
  for (const LaneRecord& lane : lanes) contents.lane_batches.push_back(lane.batches);
}

}  // namespace

RunShape SmallShape(std::uint64_t lanes) {
  return {.configuration_hash = 5,
          .graph_fingerprint = 6,
          .rows = 2 * 1024 + 77,
          .dim = 3,
          .state_width = 1,
          .relation_rows = 4,
          .relation_width = 3,
          .relation_state_width = 1,
          .partition_rows = 1024,
          .seed = 7,
          .lanes = lanes};
}

Contents InitialContents(const RunShape& shape) {
  Contents contents;
  for (std::uint64_t row = 0; row < shape.rows; ++row) {
    contents.embeddings.insert(contents.embeddings.end(), shape.dim, InitialEmbedding(row));
  }
  contents.optimizer.resize(shape.rows * shape.state_width);
  for (std::uint64_t row = 0; row < shape.relation_rows; ++row) {
    contents.relations.insert(contents.relations.end(), shape.relation_width, InitialRelation(row));
  }
  contents.relation_optimizer.resize(shape.relation_rows * shape.relation_state_width);
  return LanesAfter(0, shape, std::move(contents));
}

absl::StatusOr<std::unique_ptr<RunTables>> CreateRun(const RunPaths& paths, const RunShape& shape, bool sync) {
  return RunTables::Create(
      paths, shape,
      [](std::uint64_t row, std::span<float> values) { std::ranges::fill(values, InitialEmbedding(row)); },
      [](std::uint64_t row, std::span<float> values) { std::ranges::fill(values, InitialRelation(row)); }, sync);
}

Contents ContentsAfter(std::uint64_t steps, const RunShape& shape) {
  Contents contents = InitialContents(shape);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    for (const auto& [row, value] : UpdatesOf(step, shape)) {
      std::fill_n(contents.embeddings.begin() + static_cast<std::ptrdiff_t>(row * shape.dim), shape.dim, value);
      std::fill_n(contents.optimizer.begin() + static_cast<std::ptrdiff_t>(row * shape.state_width), shape.state_width,
                  value + 1);
    }
    std::ranges::fill(contents.relations, static_cast<float>(step));
    std::ranges::fill(contents.relation_optimizer, static_cast<float>(step) / 2);
  }
  return LanesAfter(steps, shape, std::move(contents));
}

absl::StatusOr<Contents> ReadCommitted(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(paths.State()));
  const ManifestHeader& header = manifest.header;
  std::vector<std::uint8_t> slots;
  for (const PartitionRecord& record : manifest.partitions) slots.push_back(static_cast<std::uint8_t>(record.slot));
  const auto read = [&](TableName table, std::uint64_t rows, std::uint64_t columns,
                        const std::vector<std::uint8_t>& slot_of,
                        NpyElement element = NpyElement::kFloat32) -> absl::StatusOr<std::vector<float>> {
    const std::uint64_t partition_rows = slot_of.size() == 1 ? std::max<std::uint64_t>(rows, 1) : header.partition_rows;
    ASSIGN_OR_RETURN(const TableReader reader, TableReader::Open({paths.Table(table, 0), paths.Table(table, 1)},
                                                                 {.rows = rows, .columns = columns, .element = element},
                                                                 partition_rows, slot_of));
    std::vector<float> values(rows * columns);
    RETURN_IF_ERROR(reader.ReadRows(0, values));
    return values;
  };
  const std::vector<std::uint8_t> relation_slot = {static_cast<std::uint8_t>(header.relation_slot)};
  Contents contents;
  ASSIGN_OR_RETURN(contents.embeddings, read(TableName::kEmbeddings, header.rows, header.dim, slots, header.element()));
  ASSIGN_OR_RETURN(contents.optimizer, read(TableName::kOptimizer, header.rows, header.state_width, slots));
  ASSIGN_OR_RETURN(contents.relations,
                   read(TableName::kRelations, header.relation_rows, header.relation_width, relation_slot));
  ASSIGN_OR_RETURN(contents.relation_optimizer, read(TableName::kRelationOptimizer, header.relation_rows,
                                                     header.relation_state_width, relation_slot));
  TakeRound(manifest.round, manifest.lanes, contents);
  if (manifest.round.open == 0) return contents;
  const std::uint64_t lane_rows = manifest.lanes.size() * header.relation_rows;
  ASSIGN_OR_RETURN(contents.lane_relations,
                   read(TableName::kLaneRelations, lane_rows, header.relation_width, relation_slot));
  ASSIGN_OR_RETURN(contents.lane_relation_optimizer,
                   read(TableName::kLaneRelationOptimizer, lane_rows, header.relation_state_width, relation_slot));
  return contents;
}

absl::StatusOr<Contents> ReadOpen(RunTables& tables) {
  Contents contents;
  for (std::uint32_t p = 0; p < tables.embeddings().partition_count(); ++p) {
    RETURN_IF_ERROR(tables.LoadPartition(P(p)));
  }
  const auto read = [](const MmapManager& table, std::vector<float>& values) -> absl::Status {
    std::vector<float> row(table.columns());
    for (std::uint64_t i = 0; i < table.rows(); ++i) {
      RETURN_IF_ERROR(table.ReadRowUnlocked(NodeId{i}, row));
      values.insert(values.end(), row.begin(), row.end());
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(read(tables.embeddings(), contents.embeddings));
  RETURN_IF_ERROR(read(tables.optimizer(), contents.optimizer));
  contents.relations.assign(tables.relations().values().begin(), tables.relations().values().end());
  contents.relation_optimizer.assign(tables.relation_optimizer().values().begin(),
                                     tables.relation_optimizer().values().end());
  TakeRound(tables.round(), tables.lanes(), contents);
  if (tables.round().open == 0) return contents;
  contents.lane_relations.assign(tables.lane_relations().values().begin(), tables.lane_relations().values().end());
  contents.lane_relation_optimizer.assign(tables.lane_relation_optimizer().values().begin(),
                                          tables.lane_relation_optimizer().values().end());
  return contents;
}

void SetRow(RunTables& tables, std::uint64_t row, float value) {
  const NodeId node{row};
  const WriterStripeLock lock(tables.embeddings().LockFor(node));
  std::vector<float> wide(tables.embeddings().columns());
  tables.embeddings().UpdateRow(node, {}, wide, [&](std::span<float> values) { std::ranges::fill(values, value); });
  std::ranges::fill(tables.optimizer().MutableStateRow(node), value + 1);
}

void SetRelations(RunTables& tables, float value) {
  for (std::uint64_t row = 0; row < tables.relations().rows(); ++row) {
    std::ranges::fill(tables.relations().Row(row), value);
    std::ranges::fill(tables.relation_optimizer().Row(row), value / 2);
  }
}

absl::Status TrainStep(RunTables& tables, std::uint64_t step, const RunShape& shape) {
  for (const auto& [row, value] : UpdatesOf(step, shape)) {
    const PartitionId partition = tables.embeddings().PartitionOf(NodeId{row});
    RETURN_IF_ERROR(tables.LoadPartition(partition));
    SetRow(tables, row, value);
    if (Value(partition) == step % 3) RETURN_IF_ERROR(tables.EvictPartition(partition));
  }
  SetRelations(tables, static_cast<float>(step));
  SetLanes(tables, step, shape);
  return tables.Commit(Progress{.step = step});
}

absl::Status TrainToTheEnd(const RunPaths& paths, const RunShape& shape, bool sync,
                           const std::function<void(std::uint64_t)>& acknowledge, Loading loading) {
  std::unique_ptr<RunTables> tables;
  if (fs::exists(paths.State())) {
    ASSIGN_OR_RETURN(tables, RunTables::Open(paths, shape, sync));
  } else {
    ASSIGN_OR_RETURN(tables, CreateRun(paths, shape, sync));
  }
  tables->LoadBy(loading);
  acknowledge(tables->progress().step);
  for (std::uint64_t step = tables->progress().step + 1; step <= kSteps; ++step) {
    absl::Status status = TrainStep(*tables, step, shape);
    if (!status.ok()) {
      // Poisoned: whatever is tried, nothing more gets into the run.
      if (tables->Commit(Progress{.step = 100}).ok() || tables->Finish().ok()) std::abort();
      return status;
    }
    acknowledge(step);
    if (step != 3) continue;
    RETURN_IF_ERROR(tables->Finish());
    ASSIGN_OR_RETURN(tables, RunTables::Open(paths, shape, sync));
    tables->LoadBy(loading);
  }
  return tables->Finish();
}

}  // namespace octavo
