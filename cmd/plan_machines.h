// What octavo plan says about several machines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "nlohmann/json_fwd.hpp"
#include "run/options.h"
#include "train/machine_plan.h"

namespace octavo {

// A number of machines and their plan, if there is one.
struct MachineRow {
  std::uint64_t machines = 0;
  absl::StatusOr<MachinePlan> plan;
};

struct MachineRows {
  std::vector<MachineRow> rows;              // the given number, and half and double for --what-if
  double network = 0;                        // bytes a second
  std::optional<std::uint32_t> most_useful;  // with rates
};

void PrintMachines(const MachineRows& machines, const TrainOptions& options);
nlohmann::ordered_json MachinesJson(const MachineRows& machines);

}  // namespace octavo
