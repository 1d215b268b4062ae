// Validation during a training: the ranking that `evaluate` does, of the valid split, within the training's --memory.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "graph/graph.h"
#include "train/trainer.h"

namespace octavo {

// What of --memory is kept for validations, the rest being the training's; 0 where there are none. A usage error where
// they would need more than there is. A function of options, graph and `memory` alone but for that error.
absl::StatusOr<std::uint64_t> ValidationMemory(const TrainOptions& options, const Graph& graph, std::uint64_t memory,
                                               int threads);

// Opens the run as a reader and ranks within `memory` bytes.
Validator MakeValidator(Program& program, std::uint64_t memory);

}  // namespace octavo
