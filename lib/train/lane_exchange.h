// How the relations of several lanes become one at the end of a round (plan/lane_schedule.h).
//
// In a round each lane trains its own relations r and optimizer state s, which all began as r0 and s0. Then, for
// lanes l in their order,
//
//   adagrad, row-adagrad   s = s0 + sum(s_l - s0)      r = r0 + sum((r_l - r0) * sqrt(s_l / s))
//   sgd                                                r = r0 + sum(r_l - r0)
//
// Adagrad divides an update by the square root of all squares so far. A lane knows only its own, so its updates are too
// long beside those of the others; the factor makes them as long as if it had known all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/manifest.h"
#include "optimize/optimizer.h"
#include "tables/relation_table.h"

namespace octavo {

// What a lane has made of the relations: [rows * columns] each.
struct LaneRelations {
  std::span<const float> rows;
  std::span<const float> state;
};

// What lanes pass to each other at the end of a round.
struct RoundTables {
  // Of all lanes, [lanes * relation rows]; filled by the lanes of this process.
  RelationTable& lane_relations;
  RelationTable& lane_state;
  std::vector<LaneRecord>& lanes;
  // What the round began with, and then what the next one begins with.
  RelationTable& relations;
  RelationTable& state;
};

// An implementation may have lanes in several processes; the result is that of LocalExchange, bit for bit. One owner,
// one thread.
class LaneExchange {
 public:
  virtual ~LaneExchange() = default;

  // Ends a round: afterwards `lanes` has the records of all. Returns false if the training was stopped, after a commit
  // within the round, while it waited for other lanes.
  virtual absl::StatusOr<bool> EndRound(RoundTables& round) = 0;
};

// All lanes are in this process.
class LocalExchange : public LaneExchange {
 public:
  explicit LocalExchange(const OptimizerSpec& optimizer) : optimizer_(optimizer) {}

  absl::StatusOr<bool> EndRound(RoundTables& round) override;

 private:
  const OptimizerSpec optimizer_;
};

// The lane's part of a table of all `lanes` lanes.
std::span<float> RowsOfLane(RelationTable& of_all, std::size_t lanes, std::size_t lane);

// CombineLanes below for the tables of a round.
absl::Status CombineRound(const OptimizerSpec& optimizer, RoundTables& round);

// The sums above. A runtime error names the first relation row that is not finite afterwards.
// REQUIRES: the optimizer is not adam, or there are no columns
absl::Status CombineLanes(const OptimizerSpec& optimizer, std::span<const LaneRelations> lanes,
                          RelationTable& relations, RelationTable& state);

}  // namespace octavo
