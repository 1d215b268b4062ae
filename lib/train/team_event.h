// What the ranks of a team tell each other about an epoch, so that each folder has the same event.
#pragma once

#include "absl/status/statusor.h"
#include "run/telemetry.h"
#include "run/validation.h"
#include "train/lane_clock.h"
#include "train/team.h"

namespace octavo {

// Makes `event` that of all ranks: bytes, windows and loads are sums, waiting is that of the rank that waited most, all
// other seconds are those of rank 0; the slowest lanes and the balance are found among all lanes. `lanes` has the clock
// of this rank's lanes. Returns whether the team stops, which is so if any rank was asked to.
absl::StatusOr<bool> ShareEvent(Team& team, bool asked_to_stop, LaneClock lanes, EpochEvent& event);

// Returns the scores of rank 0 at every rank. An error there ends the job; elsewhere `scores` has no meaning.
absl::StatusOr<ValidationScores> ShareScores(Team& team, const absl::StatusOr<ValidationScores>& scores);

}  // namespace octavo
