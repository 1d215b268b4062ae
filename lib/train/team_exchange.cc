#include "train/team_exchange.h"

#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "base/status.h"
#include "base/stopwatch.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

constexpr std::chrono::milliseconds kMoment(20);

std::span<const float> Constant(std::span<float> values) { return values; }

void PutLanes(const RoundTables& round, const LaneRange& lanes, MessageWriter& writer) {
  for (std::uint32_t lane = lanes.first; lane < lanes.end; ++lane) {
    writer.Put(round.lanes[lane]);
    writer.PutAll(Constant(RowsOfLane(round.lane_relations, round.lanes.size(), lane)));
    writer.PutAll(Constant(RowsOfLane(round.lane_state, round.lanes.size(), lane)));
  }
}

absl::Status GetLanes(MessageReader& reader, const LaneRange& lanes, RoundTables& round) {
  for (std::uint32_t lane = lanes.first; lane < lanes.end; ++lane) {
    RETURN_IF_ERROR(reader.Get(round.lanes[lane]));
    RETURN_IF_ERROR(reader.GetAll(RowsOfLane(round.lane_relations, round.lanes.size(), lane)));
    RETURN_IF_ERROR(reader.GetAll(RowsOfLane(round.lane_state, round.lanes.size(), lane)));
  }
  return absl::OkStatus();
}

}  // namespace

TeamExchange::TeamExchange(Team& team, const OptimizerSpec& optimizer, Waiting waiting)
    : team_(team), optimizer_(optimizer), waiting_(std::move(waiting)) {}

double TeamExchange::TakeWaitSeconds() { return std::exchange(wait_seconds_, 0); }

absl::StatusOr<bool> TeamExchange::EndRound(RoundTables& round) {
  RETURN_IF_ERROR(Failpoint("train.lanes"));
  return team_.first() ? EndAtFirst(round) : EndAtOther(round);
}

absl::StatusOr<bool> TeamExchange::EndAtFirst(RoundTables& round) {
  Messenger& messenger = team_.ranks().messenger();
  const auto lanes = static_cast<std::uint32_t>(round.lanes.size());
  const auto ranks = static_cast<std::uint32_t>(team_.ranks().size());
  for (std::uint32_t from = 1; from < ranks; ++from) {
    std::optional<Message> made;
    while (!(made = messenger.TryReceive(static_cast<int>(from), MessageKind::kLaneResults))) {
      const auto begin = std::chrono::steady_clock::now();
      RETURN_IF_ERROR(messenger.WaitFor(static_cast<int>(from), MessageKind::kLaneResults, kMoment));
      wait_seconds_ += SecondsSince(begin);
      ASSIGN_OR_RETURN(const TeamOrder order, team_.NextOrder(waiting_.commit_due(), waiting_.stopping()));
      if (order == TeamOrder::kGoOn) continue;
      RETURN_IF_ERROR(waiting_.commit(order));
      if (order == TeamOrder::kCommitAndStop) return false;
    }
    MessageReader reader(*made);
    RETURN_IF_ERROR(GetLanes(reader, LanesOfRank(lanes, ranks, from), round));
  }
  RETURN_IF_ERROR(CombineRound(optimizer_, round));
  MessageWriter result;
  result.PutAll(std::span<const LaneRecord>(round.lanes));
  result.PutAll(Constant(round.relations.values()));
  result.PutAll(Constant(round.state.values()));
  team_.TellResult(result.Take());
  return true;
}

absl::StatusOr<bool> TeamExchange::EndAtOther(RoundTables& round) {
  MessageWriter made;
  PutLanes(round, team_.lanes(), made);
  team_.ranks().messenger().Send(0, MessageKind::kLaneResults, made.Take());
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(const std::optional<Team::Said> said, team_.WaitForFirst(waiting_.stopping()));
    wait_seconds_ += SecondsSince(begin);
    if (!said) continue;
    if (said->result) {
      MessageReader reader(*said->result);
      RETURN_IF_ERROR(reader.GetAll(round.lanes));
      RETURN_IF_ERROR(reader.GetAll(round.relations.values()));
      RETURN_IF_ERROR(reader.GetAll(round.state.values()));
      return true;
    }
    RETURN_IF_ERROR(waiting_.commit(said->order));
    if (said->order == TeamOrder::kCommitAndStop) return false;
  }
}

}  // namespace octavo
