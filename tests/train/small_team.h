// A run of four partitions in the folders of two or three ranks, of which each row is known: for the tests of what
// ranks do to a run together. Rank 0 trains lane 0 and begins with partitions 0 and 1, the last rank with 2 and 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/commit_peers.h"
#include "checkpoint/run_tables.h"
#include "format/paths.h"
#include "gtest/gtest.h"
#include "plan/epoch_plan.h"
#include "tests/support/expect_status.h"
#include "train/team.h"

namespace octavo {

constexpr PartitionId P(std::uint32_t partition) { return static_cast<PartitionId>(partition); }

inline RunShape TeamShape(std::uint64_t partition_rows = 1024, std::uint64_t dim = 4) {
  return {.configuration_hash = 5,
          .graph_fingerprint = 6,
          .rows = 3 * partition_rows + 77,
          .dim = dim,
          .state_width = 1,
          .relation_rows = 4,
          .relation_width = 3,
          .relation_state_width = 1,
          .partition_rows = partition_rows,
          .seed = 7,
          .lanes = 2};
}

inline EpochPlan TeamPlan() {
  EpochPlan plan;
  DraftState first, second;
  first.resident = {P(0), P(1)};
  second.resident = {P(2), P(3)};
  plan.states = StatesOf(std::vector{first, second});
  plan.turns = {{.round = 0, .lane = 0, .first_state = 0, .end_state = 1},
                {.round = 0, .lane = 1, .first_state = 1, .end_state = 2}};
  return plan;
}

// A team, with actions at the places of a commit; an error from one is the commit's.
class WatchedTeam : public CommitPeers {
 public:
  explicit WatchedTeam(Team& team) : team_(team) {}

  std::function<absl::Status()> before_gather = {};
  std::function<void(int meeting)> after_meeting = {};  // from 1, since the last Gather

  std::uint32_t number() const override { return team_.number(); }
  bool WritesFolder() const override { return team_.WritesFolder(); }
  std::uint32_t folder() const override { return team_.folder(); }
  std::uint32_t folders() const override { return team_.folders(); }
  std::uint32_t FirstFolderOf(PartitionId partition) const override { return team_.FirstFolderOf(partition); }
  absl::Status Adopt(Manifest& manifest) override { return team_.Adopt(manifest); }
  absl::Status Gather(const std::vector<bool>& held, Manifest& next, RelationTable& lane_relations,
                      RelationTable& lane_relation_optimizer) override {
    meetings_ = 0;
    if (before_gather) RETURN_IF_ERROR(before_gather());
    return team_.Gather(held, next, lane_relations, lane_relation_optimizer);
  }
  absl::Status Meet() override {
    RETURN_IF_ERROR(team_.Meet());
    if (after_meeting) after_meeting(++meetings_);
    return absl::OkStatus();
  }

 private:
  Team& team_;
  int meetings_ = 0;
};

inline float InitialValue(std::uint64_t row) { return static_cast<float>(row) + 0.25F; }

inline absl::StatusOr<std::unique_ptr<RunTables>> MakeTeamRun(const std::filesystem::path& folder,
                                                              const RunShape& shape, CommitPeers& peers) {
  return RunTables::Create(
      RunPaths(folder), shape,
      [](std::uint64_t row, std::span<float> values) { std::ranges::fill(values, InitialValue(row)); },
      [](std::uint64_t row, std::span<float> values) { std::ranges::fill(values, static_cast<float>(row)); },
      /*sync=*/false, {}, &peers);
}

inline void HoldFirst(RunTables& tables, const Team& team) {
  for (std::uint32_t p = 0; p < 4; ++p) {
    if (team.HolderOf(tables.FolderOf(P(p)), p < 2 ? 0 : 1) == team.rank()) tables.Hold(P(p));
  }
}

// Sets all rows of a loaded partition.
inline void SetPartition(RunTables& tables, PartitionId partition, float value) {
  MmapManager& embeddings = tables.embeddings();
  for (std::uint64_t row = 0; row < embeddings.rows(); ++row) {
    const NodeId node{row};
    if (embeddings.PartitionOf(node) != partition) continue;
    const WriterStripeLock lock(embeddings.LockFor(node));
    embeddings.UpdateRow(node, {}, {}, [&](std::span<float> values) { std::ranges::fill(values, value); });
    std::ranges::fill(tables.optimizer().MutableStateRow(node), value + 1);
  }
}

// What is wrong with the rows of a partition, which may have `value` everywhere or (-1) its initial values; "" if
// nothing. Checks the checksums, and leaves it as it was found.
inline std::string WrongRows(RunTables& tables, PartitionId partition, float value) {
  const bool was_there = tables.embeddings().IsResident(partition);
  if (const absl::Status status = tables.LoadPartition(partition); !status.ok()) return status.ToString();
  const MmapManager& embeddings = tables.embeddings();
  std::string wrong;
  for (std::uint64_t row = 0; row < embeddings.rows(); ++row) {
    if (embeddings.PartitionOf(NodeId{row}) != partition) continue;
    const float expected = value < 0 ? InitialValue(row) : value;
    std::vector<float> values(embeddings.columns());
    std::vector<float> state(1);
    if (!embeddings.ReadRow(NodeId{row}, values).ok() || !tables.optimizer().ReadRowUnlocked(NodeId{row}, state).ok()) {
      return "unreadable";
    }
    const auto is_expected = [&](float x) { return x == expected; };
    if (!std::ranges::all_of(values, is_expected) || state[0] != (value < 0 ? 0 : value + 1)) {
      wrong = "row " + std::to_string(row) + ": " + ::testing::PrintToString(values) + ", " +
              ::testing::PrintToString(state);
    }
  }
  if (!was_there && !tables.EvictPartition(partition).ok()) return "not evicted";
  return wrong;
}

}  // namespace octavo
