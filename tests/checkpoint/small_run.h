// A run of three partitions whose rows are known after each step, for the tests of commits and of crashes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "checkpoint/run_tables.h"
#include "format/paths.h"

namespace octavo {

constexpr PartitionId P(std::uint32_t partition) { return static_cast<PartitionId>(partition); }
inline constexpr TableName kTables[] = {TableName::kEmbeddings, TableName::kOptimizer, TableName::kRelations,
                                        TableName::kRelationOptimizer};

RunShape SmallShape(std::uint64_t lanes = 1);

// All rows of a run, and its lanes: between rounds their relations are no part of it.
struct Contents {
  std::vector<float> embeddings;
  std::vector<float> optimizer;
  std::vector<float> relations;
  std::vector<float> relation_optimizer;
  LanesHeader round;
  std::vector<std::uint64_t> lane_batches;
  std::vector<float> lane_relations;
  std::vector<float> lane_relation_optimizer;

  friend bool operator==(const Contents&, const Contents&) = default;
};

Contents InitialContents(const RunShape& shape);
// The oracle: what a run holds after `steps` steps.
Contents ContentsAfter(std::uint64_t steps, const RunShape& shape);

absl::StatusOr<std::unique_ptr<RunTables>> CreateRun(const RunPaths& paths, const RunShape& shape, bool sync = true);

// The contents named by the newest manifest of the folder, read without the writer's code. The caller compares
// checksums if it also opens the run.
absl::StatusOr<Contents> ReadCommitted(const RunPaths& paths);
// The contents of an open run, partition by partition, with its checksums verified.
absl::StatusOr<Contents> ReadOpen(RunTables& tables);

void SetRow(RunTables& tables, std::uint64_t row, float value);
void SetRelations(RunTables& tables, float value);

// One step of the training: partitions are loaded and evicted between its updates. Ends with a commit, with lanes after
// some steps within a round.
absl::Status TrainStep(RunTables& tables, std::uint64_t step, const RunShape& shape);

inline constexpr std::uint64_t kSteps = 5;

// Continues a run from the present state of the folder to the end. The run is finished after step 3, opened again, and
// finished after the last step. `acknowledge(step)` follows each commit.
absl::Status TrainToTheEnd(const RunPaths& paths, const RunShape& shape, bool sync,
                           const std::function<void(std::uint64_t)>& acknowledge, Loading loading = Loading::kDirect);

}  // namespace octavo
