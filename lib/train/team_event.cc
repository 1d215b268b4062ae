#include "train/team_event.h"

#include <algorithm>
#include <vector>

#include "base/status.h"

namespace octavo {
namespace {

void Add(const EpochEvent& its, EpochEvent& all) {
  all.windows += its.windows;
  all.prefetched_windows += its.prefetched_windows;
  all.partition_loads += its.partition_loads;
  all.planned_partition_loads += its.planned_partition_loads;
  all.planned_read_bytes += its.planned_read_bytes;
  all.read_bytes += its.read_bytes;
  all.planned_written_bytes += its.planned_written_bytes;
  all.written_bytes += its.written_bytes;
  all.edges_per_second += its.edges_per_second;
  all.peak_rss_bytes = std::max(all.peak_rss_bytes, its.peak_rss_bytes);
  all.moved_bytes += its.moved_bytes;
  all.moving_seconds = std::max(all.moving_seconds, its.moving_seconds);
  if (its.waited_seconds > all.waited_seconds) {
    all.waited_seconds = its.waited_seconds;
    all.waiting_rank = its.waiting_rank;
  }
}

}  // namespace

absl::StatusOr<bool> ShareEvent(Team& team, bool asked_to_stop, LaneClock lanes, EpochEvent& event) {
  event.ranks = static_cast<std::uint64_t>(team.ranks().size());
  event.waiting_rank = static_cast<std::uint64_t>(team.rank());
  MessageWriter mine;
  mine.Put(asked_to_stop);
  mine.Put(event);
  mine.PutAll(lanes.turns());
  ASSIGN_OR_RETURN(const std::vector<Message> all, team.ranks().Gather(mine.Take()));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    MessageReader reader(all[rank]);
    bool asked = false;
    EpochEvent its;
    RETURN_IF_ERROR(reader.Get(asked));
    RETURN_IF_ERROR(reader.Get(its));
    std::vector<LaneSeconds> turns;
    RETURN_IF_ERROR(reader.GetAll(turns));
    asked_to_stop = asked_to_stop || asked;
    Add(its, event);
    lanes.Add(turns);
  }
  event.slowest_lane_seconds = lanes.SlowestSeconds();
  event.lane_balance = lanes.Balance(event.lanes);
  MessageWriter shared;
  shared.Put(asked_to_stop);
  shared.Put(event);
  ASSIGN_OR_RETURN(const Message told, team.ranks().Tell(shared.Take()));
  MessageReader reader(told);
  RETURN_IF_ERROR(reader.Get(asked_to_stop));
  RETURN_IF_ERROR(reader.Get(event));
  return asked_to_stop;
}

absl::StatusOr<ValidationScores> ShareScores(Team& team, const absl::StatusOr<ValidationScores>& scores) {
  if (team.first() && !scores.ok()) return scores;
  MessageWriter mine;
  if (team.first()) mine.Put(*scores);
  ASSIGN_OR_RETURN(const Message told, team.ranks().Tell(mine.Take()));
  ValidationScores shared;
  RETURN_IF_ERROR(MessageReader(told).Get(shared));
  return shared;
}

}  // namespace octavo
