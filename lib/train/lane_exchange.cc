#include "train/lane_exchange.h"

#include <cmath>
#include <cstddef>

#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"

namespace octavo {
namespace {

// start + sum over lanes of (value of the lane - start) * factor of the lane, in double, in the order of lanes.
template <typename Of, typename Factor>
float Combined(float start, std::span<const LaneRelations> lanes, const Of& of, const Factor& factor) {
  double sum = start;
  for (const LaneRelations& lane : lanes) sum += (double{of(lane)} - double{start}) * factor(lane);
  return static_cast<float>(sum);
}

}  // namespace

absl::Status CombineLanes(const OptimizerSpec& optimizer, std::span<const LaneRelations> lanes,
                          RelationTable& relations, RelationTable& state) {
  const std::size_t columns = relations.columns();
  const std::size_t state_columns = state.columns();
  const auto plain = [](const LaneRelations&) { return 1.0; };
  // Each row on its own: threads do not change the sums.
  ParallelEach(0, columns == 0 ? 0 : relations.rows(), [&](std::size_t row) {
    const std::span<float> sums = state.Row(row);
    for (std::size_t i = 0; i < state_columns; ++i) {
      const std::size_t at = row * state_columns + i;
      sums[i] = Combined(
          sums[i], lanes, [at](const LaneRelations& lane) { return lane.state[at]; }, plain);
    }
    const std::span<float> values = relations.Row(row);
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t at = row * columns + i;
      const auto of = [at](const LaneRelations& lane) { return lane.rows[at]; };
      if (state_columns == 0) {
        values[i] = Combined(values[i], lanes, of, plain);
        continue;
      }
      // row-adagrad has one sum of squares for the row.
      const std::size_t of_sum = optimizer.kind == OptimizerKind::kRowAdagrad ? 0 : i;
      const double all = sums[of_sum];
      const std::size_t sum_at = row * state_columns + of_sum;
      values[i] = Combined(values[i], lanes, of, [&](const LaneRelations& lane) {
        return all > 0 ? std::sqrt(double{lane.state[sum_at]} / all) : 1.0;
      });
    }
  });
  for (std::size_t row = 0; row < relations.rows(); ++row) {
    for (const float value : relations.Row(row)) {
      if (std::isfinite(value)) continue;
      return RuntimeError(
          fmt::format("the relations diverge: row {} is infinite or NaN after the lanes were combined; "
                      "expected a lower learning-rate or relation-rate-factor",
                      row));
    }
  }
  return absl::OkStatus();
}

std::span<float> RowsOfLane(RelationTable& of_all, std::size_t lanes, std::size_t lane) {
  const std::size_t floats = of_all.values().size() / lanes;
  return of_all.values().subspan(lane * floats, floats);
}

absl::Status CombineRound(const OptimizerSpec& optimizer, RoundTables& round) {
  const std::size_t count = round.lanes.size();
  std::vector<LaneRelations> lanes;
  for (std::size_t lane = 0; lane < count; ++lane) {
    lanes.push_back(
        {.rows = RowsOfLane(round.lane_relations, count, lane), .state = RowsOfLane(round.lane_state, count, lane)});
  }
  return CombineLanes(optimizer, lanes, round.relations, round.state);
}

absl::StatusOr<bool> LocalExchange::EndRound(RoundTables& round) {
  RETURN_IF_ERROR(Failpoint("train.lanes"));
  RETURN_IF_ERROR(CombineRound(optimizer_, round));
  return true;
}

}  // namespace octavo
