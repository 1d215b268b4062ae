#include "train/lane_rounds.h"

#include <algorithm>
#include <filesystem>

#include "base/status.h"

namespace octavo {
namespace {

// A table of the same shape that has no files.
RelationTable Like(const RelationTable& table) {
  return RelationTable({}, NpyShape{.rows = table.rows(), .columns = table.columns()});
}

}  // namespace

LaneRounds::LaneRounds(RunTables& tables, LaneExchange& exchange)
    : tables_(tables),
      exchange_(exchange),
      relations_(Like(tables.relations())),
      state_(Like(tables.relation_optimizer())),
      lanes_(tables.lanes()) {
  if (tables.round().open == 1) round_ = static_cast<std::uint32_t>(tables.round().round);
}

void LaneRounds::Open(std::uint32_t round) {
  round_ = round;
  lane_.reset();
  std::ranges::fill(lanes_, LaneRecord());
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    std::ranges::copy(tables_.relations().values(), RowsOfLane(tables_.lane_relations(), lanes_.size(), lane).begin());
    std::ranges::copy(tables_.relation_optimizer().values(),
                      RowsOfLane(tables_.lane_relation_optimizer(), lanes_.size(), lane).begin());
  }
}

void LaneRounds::Begin(std::uint32_t lane) {
  if (lane_ == lane) return;
  TakeBack();
  lane_ = lane;
  std::ranges::copy(RowsOfLane(tables_.lane_relations(), lanes_.size(), lane), relations_.values().begin());
  std::ranges::copy(RowsOfLane(tables_.lane_relation_optimizer(), lanes_.size(), lane), state_.values().begin());
}

void LaneRounds::Count(std::uint64_t edges, double loss, double penalty) {
  LaneRecord& lane = lanes_[lane_.value()];
  ++lane.batches;
  lane.edges += edges;
  lane.loss += loss;
  lane.penalty += penalty;
}

// Puts the relations of the lane that was trained back among those of all lanes.
void LaneRounds::TakeBack() {
  if (!lane_) return;
  std::ranges::copy(relations_.values(), RowsOfLane(tables_.lane_relations(), lanes_.size(), *lane_).begin());
  std::ranges::copy(state_.values(), RowsOfLane(tables_.lane_relation_optimizer(), lanes_.size(), *lane_).begin());
}

void LaneRounds::Keep() {
  TakeBack();
  tables_.SetRound({.open = 1, .round = round_.value()}, lanes_);
}

absl::StatusOr<bool> LaneRounds::End(Progress& progress) {
  TakeBack();
  RoundTables round{.lane_relations = tables_.lane_relations(),
                    .lane_state = tables_.lane_relation_optimizer(),
                    .lanes = lanes_,
                    .relations = tables_.relations(),
                    .state = tables_.relation_optimizer()};
  ASSIGN_OR_RETURN(const bool ended, exchange_.EndRound(round));
  if (!ended) return false;
  for (const LaneRecord& lane : lanes_) {
    progress.epoch_loss += lane.loss;
    progress.epoch_penalty += lane.penalty;
  }
  round_.reset();
  lane_.reset();
  return true;
}

void LaneRounds::KeepNone() {
  std::ranges::fill(lanes_, LaneRecord());
  tables_.SetRound({}, lanes_);
}

}  // namespace octavo
