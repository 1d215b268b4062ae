// The lanes of a run in the round that is being trained: each lane's relations and how far it is.
//
// The relations of RunTables are those that the round began with, until its end; those of the lanes are beside them,
// and a commit within a round writes both. The lane that is being trained has its relations in tables of this object.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/run_tables.h"
#include "format/manifest.h"
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

  // The round that is open, if one is, and what its lanes have done in it.
  std::optional<std::uint32_t> open_round() const { return round_; }
  const std::vector<LaneRecord>& lanes() const { return lanes_; }

  // All lanes begin the round with the same relations. REQUIRES: no round is open
  void Open(std::uint32_t round);
  // From now on this lane is trained, or trained on. REQUIRES: a round is open
  void Begin(std::uint32_t lane);
  // The lane has trained a batch.
  void Count(std::uint64_t edges, double loss, double penalty);
  // Brings the tables up to date for a commit within the round.
  void Keep();
  // Ends the round and adds the lanes' losses to `progress`. Returns false if the training was stopped meanwhile.
  absl::StatusOr<bool> End(Progress& progress);
  // No round is open in the commit of an epoch.
  void KeepNone();

 private:
  void TakeBack();

  RunTables& tables_;
  LaneExchange& exchange_;
  RelationTable relations_;
  RelationTable state_;
  std::optional<std::uint32_t> round_;  // that is open
  std::optional<std::uint32_t> lane_;   // whose relations are in relations_
  std::vector<LaneRecord> lanes_;       // in the round
};

}  // namespace octavo
