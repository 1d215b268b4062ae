// The flags of the verbs that read a run.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/model_spec.h"
#include "run/trained_run.h"

namespace CLI {
class App;
}

namespace octavo {

struct RunFlags {
  std::string run;
  std::string graph;  // empty: where the run says it is
};

// Adds --run and --graph. `flags` must outlive the parsing.
void AddRunFlags(CLI::App& app, RunFlags& flags);

// Adds --part with the help text `what`.
void AddPartFlag(CLI::App& app, std::string& part, const std::string& what);
// Returns a usage error if `part` is a half and the rows of `table` in the run's model have no halves.
absl::StatusOr<RowPart> ParsePart(std::string_view part, std::string_view table, const TrainedRun& run);

}  // namespace octavo
