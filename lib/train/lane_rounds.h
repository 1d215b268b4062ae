// The lanes of a run in the round that is being trained: each lane's relations and how far it is.
//
// The relations of RunTables are those that the round began with, until its end; those of the lanes are beside them,
// and a commit within a round writes both. The lane that is being trained has its relations in tables of this object.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "checkpoint/run_tables.h"
#include "plan/epoch_plan.h"
#include "tables/relation_table.h"
#include "train/lane_exchange.h"

namespace octavo {

// One owner, one thread.
class LaneRounds {
 public:
  // Continues the round that the run's newest commit is in, if it is in one. All arguments must outlive this.
  // REQUIRES: the run has several lanes
  LaneRounds(RunTables& tables, LaneExchange& exchange);

  // The relations of the lane that is being trained, and their optimizer state.
  RelationTable& relations() { return relations_; }
  RelationTable& state() { return state_; }

  // From now on the lane of `turn` is trained, or trained on. If that is in another round, first ends the present one.
  absl::Status Begin(const LaneTurn& turn);
  // The lane has trained a batch.
  void CountBatch() { ++batches_[lane_.value()]; }
  // Brings the tables up to date for a commit within the round.
  void Keep();
  // Ends the last round of an epoch, for the commit after it.
  absl::Status EndEpoch();

 private:
  void OpenRound(std::uint32_t round);
  absl::Status EndRound();
  void TakeBack();
  std::span<float> RowsOf(RelationTable& of_all, std::size_t lane) const;

  RunTables& tables_;
  LaneExchange& exchange_;
  RelationTable relations_;
  RelationTable state_;
  std::optional<std::uint32_t> round_;  // that is open
  std::optional<std::uint32_t> lane_;   // whose relations are in relations_
  std::vector<std::uint64_t> batches_;  // of each lane in the round
};

}  // namespace octavo
