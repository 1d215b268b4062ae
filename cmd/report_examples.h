// The examples of a report: neighbours of well-connected nodes, and predictions of held-out edges.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "base/edge.h"
#include "report/examples.h"
#include "report/node_survey.h"
#include "run/trained_run.h"

namespace octavo {

// Memory of `count` examples of each kind, in addition to a search.
std::uint64_t ExampleBytes(std::uint64_t count);

// Finds the nearest nodes of the first `count` of `nodes`, and the likeliest tails of `count` edges of `split`, if one
// is given: edges of its first block, far from each other. Each is a pass over the table. `memory_bytes` is for one
// search; `progress` is called with the share that is done.
absl::StatusOr<Examples> MakeExamples(const TrainedRun& run, std::span<const SurveyedNode> nodes,
                                      std::optional<Split> split, std::uint64_t count, std::uint64_t memory_bytes,
                                      const std::function<void(double)>& progress);

}  // namespace octavo
