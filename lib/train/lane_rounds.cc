#include "train/lane_rounds.h"

#include <algorithm>
#include <filesystem>
#include <span>

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
      state_(Like(tables.relation_optimizer())) {
  for (const LaneRecord& lane : tables.lanes()) batches_.push_back(lane.batches);
  if (tables.round().open == 1) round_ = static_cast<std::uint32_t>(tables.round().round);
}

// The lane's part of a table of all lanes.
std::span<float> LaneRounds::RowsOf(RelationTable& of_all, std::size_t lane) const {
  const std::size_t floats = of_all.values().size() / batches_.size();
  return of_all.values().subspan(lane * floats, floats);
}

absl::Status LaneRounds::Begin(const LaneTurn& turn) {
  TakeBack();
  if (round_ != turn.round) {
    RETURN_IF_ERROR(EndRound());
    OpenRound(turn.round);
  }
  lane_ = turn.lane;
  std::ranges::copy(RowsOf(tables_.lane_relations(), turn.lane), relations_.values().begin());
  std::ranges::copy(RowsOf(tables_.lane_relation_optimizer(), turn.lane), state_.values().begin());
  return absl::OkStatus();
}

// All lanes begin with the same relations.
void LaneRounds::OpenRound(std::uint32_t round) {
  round_ = round;
  std::ranges::fill(batches_, 0);
  for (std::size_t lane = 0; lane < batches_.size(); ++lane) {
    std::ranges::copy(tables_.relations().values(), RowsOf(tables_.lane_relations(), lane).begin());
    std::ranges::copy(tables_.relation_optimizer().values(), RowsOf(tables_.lane_relation_optimizer(), lane).begin());
  }
}

// Puts the relations of the lane that was trained back among those of all lanes.
void LaneRounds::TakeBack() {
  if (!lane_) return;
  std::ranges::copy(relations_.values(), RowsOf(tables_.lane_relations(), *lane_).begin());
  std::ranges::copy(state_.values(), RowsOf(tables_.lane_relation_optimizer(), *lane_).begin());
}

absl::Status LaneRounds::EndRound() {
  if (!round_) return absl::OkStatus();
  std::vector<LaneRelations> lanes;
  for (std::size_t lane = 0; lane < batches_.size(); ++lane) {
    lanes.push_back(
        {.rows = RowsOf(tables_.lane_relations(), lane), .state = RowsOf(tables_.lane_relation_optimizer(), lane)});
  }
  RETURN_IF_ERROR(exchange_.EndRound(lanes, tables_.relations(), tables_.relation_optimizer()));
  round_.reset();
  lane_.reset();
  return absl::OkStatus();
}

void LaneRounds::Keep() {
  TakeBack();
  tables_.SetRound({.open = 1, .round = round_.value()}, batches_);
}

absl::Status LaneRounds::EndEpoch() {
  TakeBack();
  RETURN_IF_ERROR(EndRound());
  std::ranges::fill(batches_, 0);
  tables_.SetRound({}, batches_);
  return absl::OkStatus();
}

}  // namespace octavo
