// The end of a round between several processes: rank 0 gathers what all lanes made, combines it in the order of lanes,
// and tells the result.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "optimize/optimizer.h"
#include "train/lane_exchange.h"
#include "train/team.h"

namespace octavo {

// One owner, one thread.
class TeamExchange : public LaneExchange {
 public:
  // What a process does while it waits for others: it joins in commits.
  struct Waiting {
    std::function<bool()> commit_due;  // counts at rank 0
    std::function<bool()> stopping;    // this process was asked to stop
    // Commits within the round; with kCommitAndStop the training then ends.
    std::function<absl::Status(TeamOrder)> commit;
  };

  // `team` must outlive this.
  TeamExchange(Team& team, const OptimizerSpec& optimizer, Waiting waiting);

  absl::StatusOr<bool> EndRound(RoundTables& round) override;

  // Seconds of waiting since the last call.
  double TakeWaitSeconds();

 private:
  absl::StatusOr<bool> EndAtFirst(RoundTables& round);
  absl::StatusOr<bool> EndAtOther(RoundTables& round);

  Team& team_;
  const OptimizerSpec optimizer_;
  const Waiting waiting_;
  double wait_seconds_ = 0;
};

}  // namespace octavo
